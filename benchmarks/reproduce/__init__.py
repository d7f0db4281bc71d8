"""The sources, reproduced: each result that they publish, recomputed by this package.

A source is a module that computes rows: what was published, what is found here, how close the two must be, and why
they differ where they do. One writer stores them, one renderer puts them side by side on a page of the documentation,
so no figure there is typed by hand.
"""
