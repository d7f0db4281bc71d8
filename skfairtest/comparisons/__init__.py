"""The engine behind every test of groups: from people to estimates, evidence, findings and a result."""
