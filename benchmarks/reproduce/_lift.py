"""LiFT's permutation test as its unit tests run it: the same random numbers, so that every digit can be compared.

LiFT is LinkedIn's Fairness Toolkit (https://github.com/linkedin/LiFT). Its test divides the observed difference by its
bootstrap standard deviation over everybody, each permuted difference by the standard deviation of all permuted ones,
and counts strictly larger ones. It draws from java.util.Random; a permutation is Scala's Random.shuffle.
"""

import numpy as np

#: Multiplier, increment and bits of the generator that the documentation of java.util.Random specifies.
MULTIPLIER, INCREMENT, BITS = 0x5DEECE66D, 0xB, 48


class JavaRandom:
    """Whole numbers as java.util.Random documents them."""

    def __init__(self, seed):
        self._mask = (1 << BITS) - 1
        self._state = (seed ^ MULTIPLIER) & self._mask

    def _bits(self):
        self._state = (self._state * MULTIPLIER + INCREMENT) & self._mask
        return self._state >> (BITS - 31)

    def below(self, n):
        """Return a whole number of 0 to n - 1, each equally likely."""
        if n & (n - 1) == 0:
            return (n * self._bits()) >> 31
        while True:
            drawn = self._bits()
            if drawn - drawn % n + n - 1 < 1 << 31:  # not of the last, incomplete round
                return drawn % n

    def with_replacement(self, n):
        return [self.below(n) for _ in range(n)]

    def permutation(self, n):
        """Exchange each place, from the last, with one at or before it."""
        order = list(range(n))
        for last in range(n - 1, 0, -1):
            chosen = self.below(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        return order


def precision(rows):
    """Share of true positives among the positive; 0 where nobody is, as LiFT has it."""
    labels = [row["label"] for row in rows if row["prediction"]]
    return sum(labels) / len(labels) if any(labels) else 0.0


def precision_at_5(rows):
    """Mean over queries of the share of relevant rows up to rank 5: 0 for a query without any, NaN without queries."""
    queries = {}
    for row in rows:
        queries.setdefault(row["query"], []).extend([row["label"]] if row["rank"] <= 5 else [])
    shares = [np.mean(labels) if labels else 0.0 for labels in queries.values()]
    return float(np.mean(shares)) if shares else float("nan")


def permutation_test(rows, first, second, metric, trials, seed):
    """Return what LiFT does: the difference, its bootstrap and its permutation deviation, and the p-value."""
    random, n = JavaRandom(seed), len(rows)
    size = sum(row["group"] == first for row in rows)

    def difference(sample):
        sides = ([row for row in sample if row["group"] == name] for name in (first, second))
        return np.subtract(*map(metric, sides))

    observed = difference(rows)
    bootstrapped = [difference([rows[i] for i in random.with_replacement(n)]) for _ in range(trials)]
    permuted = []
    for _ in range(trials):
        order = [rows[i] for i in random.permutation(n)]
        permuted.append(metric(order[:size]) - metric(order[size:]))
    deviation, spread = np.nanstd(bootstrapped, ddof=1), np.nanstd(permuted, ddof=1)
    larger = np.abs(permuted) / spread > abs(observed) / deviation
    return {
        "difference": float(observed), "bootstrap deviation": float(deviation),
        "permutation deviation": float(spread), "p-value": float(larger.sum() / trials),
    }  # fmt: skip


def _people(*parts):
    """Rows from (group, label and prediction, how many), in LiFT's order."""
    return [
        {"label": int(cell[0]), "prediction": int(cell[1]), "group": group}
        for group, cell, times in parts
        for _ in range(times)
    ]


TRIALS, SEED = 2000, 1
#: The four cases of LiFT's PermutationTestUtilsTest: rows, groups, metric, and the values that it expects.
CASES = {
    "precision, 18 people": (
        _people(("m", "11", 1), ("m", "10", 1), ("m", "00", 1), ("f", "00", 1), ("f", "01", 5), ("f", "10", 2),
                ("m", "01", 7)),
        ("m", "f"), precision, (0.125, 0.12188672941783991, 0.1574454263804954, 0.438),
    ),
    "precision, 10 people": (
        _people(("m", "11", 1), ("m", "10", 1), ("m", "00", 1), ("f", "00", 1), ("f", "01", 1), ("f", "11", 1),
                ("f", "10", 1), ("m", "01", 3)),
        ("f", "m"), precision, (0.25, 0.4590352058557182, 0.44861306534335205, 0.753),
    ),
    "precision, 10 people, no difference": (
        _people(("m", "11", 1), ("m", "10", 1), ("m", "00", 1), ("f", "01", 2), ("f", "11", 1), ("f", "01", 1),
                ("m", "01", 3)),
        ("m", "f"), precision, (0.0, 0.32798838458036056, 0.3334284273228113, 0.788),
    ),
    "precision at 5, 3 queries": (
        [dict(zip(("group", "query", "rank", "label"), row, strict=True)) for row in (
            ("m", 1, 1, 0), ("m", 1, 2, 1), ("f", 1, 3, 0), ("m", 2, 1, 1), ("f", 2, 2, 1), ("m", 2, 4, 0),
            ("m", 2, 7, 0), ("f", 3, 1, 0), ("f", 3, 2, 0), ("m", 3, 3, 1),
        )],
        ("m", "f"), precision_at_5, (1 / 3, 0.3387960612857448, 0.40255115701974276, 0.317),
    ),
}  # fmt: skip
