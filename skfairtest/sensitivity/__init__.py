"""How verdicts of tests depend on what the data cannot show: wrong labels, missing labels and groups, confounders."""
