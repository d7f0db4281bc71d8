"""Rates of which only some people's true labels are known, beside a judge's guesses for everybody."""
