"""The ``skfairtest`` command."""
