"""Scans of subgroups: which of many differ from everybody else."""
