"""Correlations: uncorrelated but dependent data, and intervals with heavy tails or spread that follows the feature.

First the simulation of DiCiccio et al. (2020, section 4.1; n = 2,000, about 1,000 permutations), in which the outcome
varies more where the feature is small, by three tests: the package's, the ordinary permutation of the outcome, and
FairTest's, which shuffles feature and outcome into each other; and Spearman's rank correlation at n = 500. Then
designs whose correlation is known, by `CorrelationFairnessTest`.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from benchmarks.common.design import Design, one_by_one
from benchmarks.common.storage import RESULTS, load
from skfairtest import CorrelationFairnessTest
from skfairtest.correlation.statistics import arrange, estimate, permuted
from skfairtest.inference.resampling import monte_carlo_p

ALPHA = 0.05
N_RESAMPLES = 999
#: FairTest counts 1,000 shuffles without the data themselves.
FAIRTEST_RESAMPLES = 1000
#: Data sets that the slower tests are tried on.
COMPARED = 600
PACKAGE, ORDINARY, FAIRTEST = "permutation", "raw", "FairTest"

FEATURES = {
    "U(0.00001, 1)": lambda rng, n: rng.uniform(1e-5, 1, n),
    "Exp(1) + 1": lambda rng, n: rng.exponential(size=n) + 1,
}
NOISES = {
    "z / x^2": lambda rng, x: rng.normal(size=len(x)) / x**2,
    "z / |x|": lambda rng, x: rng.normal(size=len(x)) / x,
}
RANKED = {
    "z x^2": lambda rng, x: rng.normal(size=len(x)) * x**2,
    "x^2 + z": lambda rng, x: x**2 + rng.normal(size=len(x)),
}


def rejects(x, e, correlation, n_resamples, seed):
    """Whether the package's test rejects at the level."""
    pairs = arrange(x, e)
    observed = float(estimate(pairs, correlation).statistic[0, 0])
    drawn = permuted(pairs, correlation, n_resamples, seed)[:, 0, 0]
    return monte_carlo_p(drawn, observed, "two-sided")[0] <= ALPHA


def ordinary_rejects(x, e, n_resamples, rng):
    """Whether an ordinary permutation test of r rejects."""
    centred = x - x.mean()
    drawn = rng.permuted(np.tile(e - e.mean(), (n_resamples, 1)), axis=1) @ centred
    return monte_carlo_p(drawn, float((e - e.mean()) @ centred), "two-sided")[0] <= ALPHA


def fairtest_rejects(x, e, rng):
    """Whether FairTest's test rejects: values of both are shuffled together and split anew; its own p-value."""
    n = len(x)
    drawn = rng.permuted(np.tile(np.concatenate([x, e]), (FAIRTEST_RESAMPLES, 1)), axis=1)
    left, right = (part - part.mean(axis=1, keepdims=True) for part in (drawn[:, :n], drawn[:, n:]))
    top = np.einsum("ij,ij->i", left, right)
    r = top / np.sqrt(np.einsum("ij,ij->i", left, left) * np.einsum("ij,ij->i", right, right))
    beyond = int((np.abs(r) > abs(np.corrcoef(x, e)[0, 1])).sum())
    return max(beyond, 1) / FAIRTEST_RESAMPLES < ALPHA


def uncorrelated(draw, spoil, n, correlation, rng, n_data_sets, n_resamples=N_RESAMPLES):
    """Which uncorrelated data sets are rejected by each test."""
    out = {PACKAGE: {"size": []}}
    if correlation == "pearson":
        out |= {ORDINARY: {"size": []}, FAIRTEST: {"size": []}}
    for data_set in range(n_data_sets):
        x = draw(rng, n)
        e = spoil(rng, x)
        out[PACKAGE]["size"].append(rejects(x, e, correlation, n_resamples, rng.bit_generator.seed_seq.spawn(1)[0]))
        if correlation == "pearson" and data_set < COMPARED:
            out[ORDINARY]["size"].append(ordinary_rejects(x, e, n_resamples, rng))
            out[FAIRTEST]["size"].append(fairtest_rejects(x, e, rng))
    return out


def normal(rng, n):
    return rng.normal(size=n)


def student(rng, n):
    return rng.standard_t(3, size=n)


def lognormal(rng, n):
    return rng.lognormal(size=n)


def cauchy(rng, n):
    """Cauchy variables between -50 and 50."""
    return np.tan(rng.uniform(-1, 1, n) * np.arctan(50))


def independent(draw):
    return lambda rng, n: (draw(rng, n), draw(rng, n))


def scaled(draw, power):
    """An outcome whose standard deviation is a power of the feature's size."""

    def pair(rng, n):
        x = draw(rng, n)
        return x, rng.normal(size=n) * np.abs(x) ** power

    return pair


def linear(draw, r):
    """Two variables of one distribution, a weighted sum of which is the outcome."""

    def pair(rng, n):
        x = draw(rng, n)
        return x, r * x + np.sqrt(1 - r * r) * draw(rng, n)

    return pair


def elliptical(r):
    """Bivariate t with 5 degrees of freedom: dependent beyond their correlation."""

    def pair(rng, n):
        x, e = linear(normal, r)(rng, n)
        spread = np.sqrt(rng.chisquare(5, n) / 5)
        return x / spread, e / spread

    return pair


def multiplicative(r):
    """Bivariate lognormal: r = (exp(s) - 1) / (exp(1) - 1) if the logarithms' correlation is s."""

    def pair(rng, n):
        x, e = linear(normal, float(np.log1p(r * np.expm1(1))))(rng, n)
        return np.exp(x), np.exp(e)

    return pair


def growing(r):
    """Mean and spread of the outcome grow with the feature: e = b x + eps x^2, whose second part has variance 3."""

    def pair(rng, n):
        x = rng.normal(size=n)
        return x, np.sqrt(3 / (1 / r**2 - 1)) * x + rng.normal(size=n) * x**2

    return pair


@dataclass(frozen=True)
class Known:
    """A pair of variables with a known correlation; `promised` says whether its size and coverage are."""

    name: str
    pair: object
    people: int
    truth: float = 0.0
    correlation: str = "pearson"
    alternative: str = "two-sided"
    features: int = 1
    promised: bool = True

    def data(self, rng):
        """Features and outcome; further features repeat the design with outcomes of their own, which are added."""
        x, e = zip(*(self.pair(rng, self.people) for _ in range(self.features)), strict=True)
        return {f"x{i}": values for i, values in enumerate(x)}, np.sum(e, axis=0)

    def tested(self, rng):
        """Whether a data set is rejected, and all intervals hold the correlation."""
        features, outcome = self.data(rng)
        test = CorrelationFairnessTest.from_predictions(
            None, outcome, sensitive_features=features, of="prediction", correlation=self.correlation,
            alternative=self.alternative, n_resamples=499, random_state=int(rng.integers(2**31)),
        )  # fmt: skip
        rows, figure = test.comparisons_, "size" if self.truth == 0 else "power"
        covered = ((rows["ci_low"] <= self.truth) & (self.truth <= rows["ci_high"])).all()
        return {PACKAGE: {figure: test.rejected_, "coverage": covered}}


def known():
    """Every design; three features are uncorrelated with the sum of their outcomes, or each at r / sqrt(3)."""
    uncorrelated = {
        "normal": independent(normal),
        "t_3": independent(student),
        "lognormal": independent(lognormal),
        "Cauchy within 50": independent(cauchy),
        "eps |x|": scaled(normal, 1),
        "eps x^2": scaled(normal, 2),
        "eps x^2, x of t_3": scaled(student, 2),
    }
    correlated = {
        "normal": lambda r: linear(normal, r),
        "sum of t_3": lambda r: linear(student, r),
        "sum of lognormal": lambda r: linear(lognormal, r),
        "bivariate t_5": elliptical,
        "bivariate lognormal": multiplicative,
    }
    for n in (40, 200):
        yield from (Known(name, pair, n) for name, pair in uncorrelated.items())
        for r in (0.3, 0.6) if n == 40 else (0.6,):
            yield from (Known(name, of(r), n, r) for name, of in correlated.items())
        yield Known("sum of t_3", linear(student, 0.3), n, 0.3, alternative="greater")
        yield Known("t_3", independent(student), n, features=3)
        yield Known("eps x^2", scaled(normal, 2), n, features=3)
        yield Known("sum of t_3", linear(student, 0.6), n, 0.6 / np.sqrt(3), features=3)
        yield from (Known("b x + eps x^2", growing(r), n, r, promised=False) for r in (0.3, 0.6))
        for name in ("normal", "eps x^2"):
            yield Known(name, uncorrelated[name], n, correlation="spearman")
        for r in (0.3, 0.6):
            # Of normal variables: 6 / pi arcsin(r / 2).
            rank = float(6 / np.pi * np.arcsin(r / 2))
            yield Known("normal", linear(normal, r), n, rank, correlation="spearman")
    for name in ("eps x^2", "eps x^2, x of t_3"):
        yield Known(name, uncorrelated[name], 1000)
    yield Known("bivariate lognormal", multiplicative(0.6), 1000, 0.6)
    yield Known("b x + eps x^2", growing(0.6), 1000, 0.6, promised=False)


N_PEARSON = 2000
TABLE_1 = [
    (f"{feature}, {noise}", draw, spoil, N_PEARSON, "pearson")
    for (feature, draw), (noise, spoil) in product(FEATURES.items(), NOISES.items())
]
RANKS = [(f"N(0, 1), {noise}", normal, spoil, 500, "spearman") for noise, spoil in RANKED.items()]
DESIGNS = [
    *(
        Design(f"correlations/{name}", partial(uncorrelated, *how), 2000, (PACKAGE,))
        for name, *how in TABLE_1 + RANKS
    ),
    *(
        Design(
            f"correlations/{d.name}, {d.correlation} {d.truth:.4g}, {d.alternative}, {d.people} people x {d.features}",
            one_by_one(d.tested), 2000 if d.people <= 40 else 1000, (PACKAGE,) * d.promised,
            40 * (d.people == 40 and d.name == "normal"),
        )
        for d in known()
    ),
]  # fmt: skip


def table(n_data_sets, n_resamples, sequence):
    """The figures of the paper's Table 1 by fewer data sets and resamples."""
    cells = {}
    for (name, *how), seed in zip(TABLE_1, sequence.spawn(len(TABLE_1)), strict=True):
        found = uncorrelated(*how, np.random.default_rng(seed), n_data_sets, n_resamples)
        cells[name] = {method: {"size": float(np.mean(values["size"]))} for method, values in found.items()}
    return rows_of(cells, n_data_sets)


def stored_table():
    """The stored figures of the paper's Table 1."""
    records = load(RESULTS)
    return rows_of({name: records[f"correlations/{name}"]["methods"] for name, *_ in TABLE_1}, 2000)


def rows_of(cells, n_data_sets):
    """A row for each feature and outcome, with the Monte-Carlo errors."""
    out = []
    for (feature, outcome), methods in zip(product(FEATURES, NOISES), cells.values(), strict=True):
        out.append({"feature": feature, "outcome": outcome, "people": N_PEARSON, "correlation": "pearson"})
        for name, method in (("studentized", PACKAGE), ("ordinary", ORDINARY), ("fairtest", FAIRTEST)):
            size, n = methods[method]["size"], methods[method].get("data_sets", n_data_sets)
            error = round(float(np.sqrt(size * (1 - size) / n)), 5)
            out[-1][name] = {"size": size, "error": error, "data_sets": n}
    return out
