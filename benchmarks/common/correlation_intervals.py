"""Size, coverage and contradictions of `CorrelationFairnessTest` where tails are heavy or spread follows the feature.

Each design draws a feature and an outcome whose correlation is known. Recorded are the share of data sets in which the
test rejects, the share whose interval contains the true correlation, and two shares of contradictions: 0 is outside the
interval although the test does not reject, and 0 is inside although it does.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from skfairtest import CorrelationFairnessTest, SmallGroupWarning

ALPHA = 0.05
#: Smallest coverage of 95% intervals.
COVERED = 0.93
#: What is recorded of each design.
SHARES = ("rejected", "coverage", "zero_outside_although_not_rejected", "zero_inside_although_rejected")


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
class Design:
    """One cell: `bound` says whether its size and its coverage are among the promises."""

    name: str
    pair: object
    people: int
    truth: float = 0.0
    correlation: str = "pearson"
    alternative: str = "two-sided"
    features: int = 1
    adjust: str = "holm"
    bound: bool = True

    def data(self, rng):
        """Features and outcome; further features repeat the design with outcomes of their own, which are added."""
        x, e = zip(*(self.pair(rng, self.people) for _ in range(self.features)), strict=True)
        return {f"x{i}": values for i, values in enumerate(x)}, np.sum(e, axis=0)


def designs():
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
        yield from (Design(name, pair, n) for name, pair in uncorrelated.items())
        for r in (0.3, 0.6) if n == 40 else (0.6,):
            yield from (Design(name, of(r), n, r) for name, of in correlated.items())
        yield Design("sum of t_3", linear(student, 0.3), n, 0.3, alternative="greater")
        for adjust in ("holm", "max_t") if n == 40 else ("holm",):
            yield Design("t_3", independent(student), n, features=3, adjust=adjust)
            yield Design("eps x^2", scaled(normal, 2), n, features=3, adjust=adjust)
            yield Design("sum of t_3", linear(student, 0.6), n, 0.6 / np.sqrt(3), features=3, adjust=adjust)
        yield from (Design("b x + eps x^2", growing(r), n, r, bound=False) for r in (0.3, 0.6))
        for name in ("normal", "eps x^2"):
            yield Design(name, uncorrelated[name], n, correlation="spearman")
        for r in (0.3, 0.6):
            # Of normal variables: 6 / pi arcsin(r / 2).
            rank = float(6 / np.pi * np.arcsin(r / 2))
            yield Design("normal", linear(normal, r), n, rank, correlation="spearman")
    for name in ("eps x^2", "eps x^2, x of t_3"):
        yield Design(name, uncorrelated[name], 1000)
    yield Design("bivariate lognormal", multiplicative(0.6), 1000, 0.6)
    yield Design("b x + eps x^2", growing(0.6), 1000, 0.6, bound=False)


def one(design, n_resamples, sequence):
    """Whether one data set is rejected, covered, has 0 left out and has 0 kept in against its p-value."""
    rng = np.random.default_rng(sequence)
    features, outcome = design.data(rng)
    with warnings.catch_warnings():  # cautions do not count here: skewed values are the question
        warnings.simplefilter("ignore", SmallGroupWarning)
        test = CorrelationFairnessTest.from_predictions(
            None, outcome, sensitive_features=features, of="prediction", correlation=design.correlation,
            alternative=design.alternative, adjust=design.adjust, n_resamples=n_resamples,
            random_state=int(rng.integers(2**31)),
        )  # fmt: skip
    rows = test.comparisons_
    low, high = rows["ci_low"].to_numpy(), rows["ci_high"].to_numpy()
    # At the level of the interval: Holm's is Bonferroni's there.
    own = rows["p_value_adjusted" if design.adjust == "max_t" else "p_value"].to_numpy()
    rejected = own <= ALPHA / (1 if design.adjust == "max_t" else design.features)
    inside = (low <= 0) & (high >= 0)
    covered = ((low <= design.truth) & (design.truth <= high)).all()
    return test.rejected_, covered, (~rejected & ~inside).any(), (rejected & inside).any()


def share(found):
    """A share of data sets and its Monte-Carlo error."""
    mean = float(np.mean(found))
    error = np.sqrt(mean * (1 - mean) / len(found))
    return {"share": round(mean, 5), "error": round(float(error), 5), "data_sets": len(found)}


def simulate(design, n_data_sets, n_resamples, sequence):
    """One entry of the results."""
    found = [one(design, n_resamples, seed) for seed in sequence.spawn(n_data_sets)]
    return {
        "design": design.name,
        "true_correlation": round(design.truth, 4),
        "people": design.people,
        "correlation": design.correlation,
        "alternative": design.alternative,
        "features": design.features,
        "adjust": design.adjust,
        "bound": design.bound,
        **{key: share(values) for key, values in zip(SHARES, zip(*found, strict=True), strict=True)},
    }


def broken(cell, *, slack=0.0):
    """What a cell breaks of the promises; `slack` is how many Monte-Carlo errors more a coverage may be short of."""
    out = []
    n, covered = cell["rejected"]["data_sets"], cell["coverage"]
    error = np.sqrt(COVERED * (1 - COVERED) / n)
    allowed = ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / n)
    if cell["bound"] and cell["true_correlation"] == 0 and cell["rejected"]["share"] > allowed:
        out.append(f"rejected {cell['rejected']['share']}, more than {allowed:.4f}")
    if cell["bound"] and covered["share"] < COVERED - slack * error:
        out.append(f"covers {covered['share']}, less than {COVERED}")
    if cell["zero_outside_although_not_rejected"]["share"] > 0:
        out.append("0 is outside the interval of a comparison that is not rejected")
    return out
