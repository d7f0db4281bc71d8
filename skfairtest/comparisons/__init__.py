"""The engine under every test of groups: from people to estimates, evidence, findings and a result."""
