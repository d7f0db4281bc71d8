"""Rates from a few true labels and a judge's guesses for all people."""
