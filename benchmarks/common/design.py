"""Designs of kinds of test that have data and questions of their own, which the loop of `validity` runs."""

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.common.cells import ALPHA, SEED


@dataclass(frozen=True)
class Design:
    """Data, the question about them, and what is promised of the answers.

    Parameters
    ----------
    name : str
        The kind, "/", and what the data are like; seeds depend on it alone.
    ask : callable
        Of a generator and a number of data sets: {method: {figure: its values}}. Values are one for each data set, of
        which the mean is stored, or one number. "size" and "coverage" are shares of data sets; so is "power".
    data_sets : int
        How many, and in a quick run (`quick`, 0 if it is not part of it).
    promised : tuple of str
        Methods whose size is at most .05 and whose coverage at least .95, each up to three Monte-Carlo errors.
    power : float
        Smallest power of the first of them.
    weaker : tuple of str
        Methods that have no more power than the first.
    also : callable
        Of the figures by method: what else breaks a promise.
    """

    name: str
    ask: Callable
    data_sets: int
    promised: tuple = ()
    quick: int = 0
    power: float = 0.0
    weaker: tuple = ()
    also: Callable = lambda methods: ()

    @property
    def section(self):
        return self.name.split("/")[0]

    @property
    def parameters(self):
        return {"name": self.name, "data_sets": self.data_sets}

    def methods(self):
        """Compute the figures by method; of methods that are tried on fewer data sets with their number."""
        out = {}
        rng = np.random.default_rng([SEED, zlib.crc32(self.name.encode())])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of single data sets
            asked = self.ask(rng, self.data_sets)
        for method, figures in asked.items():
            n = max(map(np.size, figures.values()))
            out[method] = {figure: round(float(np.mean(values)), 5) for figure, values in figures.items()}
            if 1 < n < self.data_sets:
                out[method]["data_sets"] = n
        return out

    def broken(self, methods):
        """Say which figures break a promise."""
        for method in self.promised:
            error = 3 * np.sqrt(ALPHA * (1 - ALPHA) / methods[method].get("data_sets", self.data_sets)) + 1e-9
            for figure, share in methods[method].items():
                too_large = figure == "size" and share > ALPHA + error
                if too_large or (figure.startswith("coverage") and share < 1 - ALPHA - error):
                    yield f"{self.name}, {method}: {figure} {share}"
        for least in (self.power, *(methods[method]["power"] for method in self.weaker)):
            if (power := methods[self.promised[0]]["power"] if least else 0.0) < least:
                yield f"{self.name}: power {power}, less than {least}"
        yield from (f"{self.name}: {words}" for words in self.also(methods))


def one_by_one(draw):
    """Ask `draw` for the figures of one data set after the other, each {method: {figure: value}}."""

    def ask(rng, n):
        found = [draw(rng) for _ in range(n)]
        return {
            method: {figure: [one[method][figure] for one in found] for figure in figures}
            for method, figures in found[0].items()
        }

    return ask
