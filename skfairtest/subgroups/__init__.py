"""Scans of many subgroups for differences from everyone else."""
