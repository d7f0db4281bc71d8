"""How results are shown: words and tables, from frames and numbers only."""
