"""How many people a test needs, what it finds with the people there are, and how probably."""
