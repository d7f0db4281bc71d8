"""The engine behind every test of groups: from people to comparisons and a result."""
