"""A rate in groups that are known by their probabilities: two estimates, and score tests and intervals for both.

Person i is in group g with probability p_ig, and in one of three roles: shows the event (0), meets the condition
without it (1), or does not meet it (2). Each estimate is a table N of expected people, groups by roles, and the rate of
a group is N_g0 / (N_g0 + N_g1):

- weighted: N_gr is the sum of p_ig over the people in role r. Right if, among people with the same probabilities, role
  and group are independent (Chen et al. 2019, who call what is left the bias of the weighted estimator).
- likelihood: N_gr is the sum of the probabilities of g given person and role, p_ig t_gr / sum_h p_ih t_hr, where t_gr,
  the probability of role r in group g, maximises the likelihood, the product over people of sum_g p_ig t_gr with r the
  role of person i. Right if, within each group, role and probabilities are independent: what the probabilities were
  made from (surname, address) says nothing more about the role (McCartan et al. 2024, the model without covariates).

Rates are compared among the people who meet the condition, by linear forms sum d_i y_i of their outcomes y: with d_i =
p_ig / sum p_g - p_ih / sum p_h for the weighted estimate; for the likelihood with the coefficients of least squares, of
y on the probabilities given that the condition is met. With two groups both are proportional, and equality is tested by
the score statistic at the pooled rate r, whose variance is r (1 - r) sum d_i^2. At any disparity the variance is that
of the most likely rates (Miettinen and Nurminen 1985). For the weighted estimate, which allows rates that depend on a
person's probabilities, the linearized variance is used if it is larger.

Statistics are compared with those of outcomes drawn with the most likely rates of the null hypothesis, at the disparity
tested and, for intervals, at their ends.

References
----------
J. Chen, N. Kallus, X. Mao, G. Svacha and M. Udell (2019), FAT*. C. McCartan, R. Fisher, J. Goldin, D. E. Ho and K. Imai
(2024), Estimating racial disparities when race is not observed. O. Miettinen and M. Nurminen (1985), Statistics in
Medicine 4, 213-226. B. E. Storer and C. Kim (1990), JASA 85, 146-155 (p-values at the most likely common rate).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Booleans, Floats, Moments, Positions
from skfairtest.inference.intervals import crossings
from skfairtest.inference.linear_form import NEAREST, Scale, linear_form
from skfairtest.inference.score import restricted_rates, studentize

#: Steps towards the largest likelihood at the most, and the change of a probability at which they end.
_STEPS, _ENOUGH = 20_000, 1e-10
#: Numbers held in memory at the same time.
_NUMBERS = 4_000_000
_ROLES = 3
#: Shares of a variance or of an eigenvalue that count as nothing, and how well a contrast is solved for.
_NOTHING, _IDENTIFIED = 1e-9, 1e-6


@dataclass(frozen=True)
class Rows:
    """Distinct rows of group probabilities `p` (M, G), and the people in each role with that row, `counts` (M, 3)."""

    p: Floats
    counts: Floats


def rows_of(role: Positions, p: Floats) -> Rows:
    """Put people together who have the same probabilities."""
    rows, row = np.unique(p, axis=0, return_inverse=True)
    counts = np.bincount(row.reshape(-1) * _ROLES + role, minlength=_ROLES * len(rows))
    return Rows(rows, counts.reshape(-1, _ROLES).astype(float))


def expected_table(rows: Rows, estimate: str) -> Floats:
    """Return expected people by group and role, (G, 3)."""
    weighted = rows.p.T @ rows.counts
    if estimate == "weighted":
        return np.asarray(weighted)
    shares = _roles(weighted)
    for _ in range(_STEPS):
        new = _newton(rows, shares)
        start = new if _log_likelihood(rows, new) > _log_likelihood(rows, shares) else shares
        table = start * (rows.p.T @ _over(rows.counts, rows.p @ start))  # a step of the EM algorithm
        moved = np.abs(_roles(table) - shares).max()
        shares = _roles(table)
        if moved <= _ENOUGH:
            break
    return table


def _log_likelihood(rows: Rows, shares: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(rows.counts > 0, rows.counts * np.log(rows.p @ shares), 0.0).sum())


def _over(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; 0 over 0 is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def _roles(table: Floats) -> Floats:
    """Return the shares of roles in each group; equal ones for an empty group."""
    total = table.sum(axis=1, keepdims=True)
    return np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / _ROLES)


def _newton(rows: Rows, shares: Floats) -> Floats:
    """Take a step of Newton's method towards the largest likelihood, with shares that add up to 1 and stay above 0."""
    roles = np.flatnonzero(rows.counts.any(axis=0))
    likelihood = (rows.p @ shares)[:, roles]
    first = _over(rows.counts[:, roles], likelihood)
    second = _over(first, likelihood)
    gradients = (rows.p.T @ first).T[:, :, None]
    information = np.stack([(rows.p * column[:, None]).T @ rows.p for column in second.T])
    # Where the data say nothing of a share, it stays.
    ridge = _NOTHING * np.trace(information, axis1=1, axis2=2) + 1e-12
    inverse = np.linalg.inv(information + ridge[:, None, None] * np.eye(rows.p.shape[1]))
    multipliers = np.linalg.solve(inverse.sum(axis=0), (inverse @ gradients).sum(axis=0))
    step = np.zeros_like(shares)
    step[:, roles] = (inverse @ (gradients - multipliers))[:, :, 0].T
    return _roles(np.maximum(shares + step, 0.1 * shares))


@dataclass(frozen=True)
class UncertainRates:
    """Two values that are linear in the outcomes of people who meet a condition, with the disparity as edge.

    Rows of probabilities have `people` and `events` (M,); sums of outcomes times `coefficients` (2, M) are both sides'
    rates a and b, at which a row's rate is `chances` (M, 3) @ (a, b, 1). `robust`: rates may depend on the
    probabilities within a group.
    """

    people: Floats
    events: Floats
    coefficients: Floats
    chances: Floats
    robust: bool
    reference: Floats
    scale: Scale
    disparity: str

    @cached_property
    def values(self) -> Floats:
        """Both values, by the linear form."""
        return self._value(self._sums[:2])

    @cached_property
    def _products(self) -> Floats:
        """Coefficients of both sides, their squares, and between these their product; shape (5, M)."""
        first, second = self.coefficients
        return np.stack([first, second, first**2, first * second, second**2])

    @cached_property
    def _sums(self) -> Floats:
        return self._products @ self.events

    @cached_property
    def _quadratic(self) -> tuple[Floats, Floats, Floats]:
        """Sums over people of squares and product times 1, chances (3, 3), and products of chances (3, 3, 3)."""
        weights = self._products[2:] * self.people
        return (
            weights.sum(axis=1), weights @ self.chances,
            np.einsum("km,ma,mb->kab", weights, self.chances, self.chances),
        )  # fmt: skip

    @cached_property
    def _worth(self) -> Floats:
        """The effective number of people behind both values."""
        n = 1 / self._quadratic[0][[0, 2]]
        if self.scale.is_identity:
            return np.asarray(n)
        pooled = np.asarray((n @ np.clip(self._sums[:2], 0.0, 1.0) + 0.5) / (n.sum() + 1))
        value, slope = self.scale.value(pooled), self.scale.slope(pooled)
        return np.asarray(n * value * (1 - value) / (slope**2 * pooled * (1 - pooled)))

    def _value(self, rates: Floats) -> Floats:
        return rates if self.scale.is_identity else self.scale.value(np.clip(rates, 0.0, 1.0))

    def _most_likely(self, values: Floats, edge: float | Floats) -> Floats:
        """Return the rates of both sides that are most likely where the disparity is an edge, and 1; shape (..., 3)."""
        n = self._worth
        x = np.clip(values, 0.0, 1.0) * n
        rates = np.stack(restricted_rates(x[..., 0], n[0], x[..., 1], n[1], edge, self.disparity), axis=-1)
        if not self.scale.is_identity:
            grid = np.linspace(0.0, 1.0, 10_001)
            rates = np.interp(rates, self.scale.value(grid), grid)
        return np.concatenate([rates, np.ones((*rates.shape[:-1], 1))], axis=-1)

    def _variance(self, values: Floats, rates: Floats, covariances: Floats, edge: float | Floats) -> Floats:
        """Return the variance of the distance, of covariances (..., 3) of rates."""
        s1, s2 = np.moveaxis(self.scale.slope(rates), -1, 0)
        v1, c, v2 = np.moveaxis(covariances, -1, 0)
        moments = Moments(values[..., 0], s1**2 * v1, values[..., 1], s2**2 * v2, s1 * s2 * c)
        return linear_form(moments, self.disparity, edge)[1]

    def at(self, edge: float | Floats, sums: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the distance of the values from an edge, and its standard error if the edge is the truth."""
        sums = self._sums if sums is None else sums
        found = sums[..., :2]
        values, inside = self._value(found), np.clip(found, 0.0, 1.0)
        rates = self._most_likely(values, edge)
        squares, once, twice = self._quadratic
        likely = rates @ once.T - np.einsum("...a,kab,...b->...k", rates, twice, rates)
        none = np.zeros(())
        distance = linear_form(Moments(values[..., 0], none, values[..., 1], none, none), self.disparity, edge)[0]
        variance = self._variance(values, rates[..., :2], likely, edge)
        if self.robust:
            a, b = inside[..., [0, 0, 1]], inside[..., [0, 1, 1]]
            own = sums[..., 2:] * (1 - a - b) + squares * a * b
            variance = np.maximum(variance, self._variance(values, inside, own, edge))
        return distance, np.sqrt(np.maximum(variance, 0.0) + self._of_reference(edge))

    def _of_reference(self, edge: float | Floats) -> Floats:
        own = self.reference[[0, 0, 1], [0, 1, 1]]
        return self._variance(self.values, np.clip(self._sums[:2], 0.0, 1.0), own, edge)

    def statistic(self, edge: float) -> float:
        """Return the distance over its standard error."""
        return float(studentize(*self.at(edge)))

    def draws(self, edge: float, n_resamples: int, rng: np.random.Generator) -> Floats:
        """Return statistics of outcomes that are drawn with the rates that are most likely at an edge."""
        chance = np.clip(self.chances @ self._most_likely(self.values, edge), 0.0, 1.0)
        people, noise = self.people.astype(np.int64), np.sqrt(float(self._of_reference(edge)))
        out = np.empty(n_resamples)
        for part in batches(n_resamples, _NUMBERS // len(people)):
            size = part.stop - part.start
            shape = (size, len(people))
            events = rng.random(shape) < chance if people.max() == 1 else rng.binomial(people, chance, shape)
            sums = events.astype(float) @ self._products.T
            distance, error = self.at(edge, sums)
            out[part] = studentize(distance + noise * rng.standard_normal(size), error)
        return out

    def limit(self, critical: Callable[[float | Floats], Floats] | float, start: float, stop: float) -> float:
        """The last disparity that is not rejected between `start`, which is not rejected, and `stop`."""
        ratio, sign = self.disparity == "ratio", 1 if stop < start else -1

        def excess(places: Floats) -> Floats:
            edges = np.tan(np.clip(places, NEAREST, np.pi / 2 - NEAREST)) if ratio else places
            distance, error = self.at(edges)
            most = critical(edges) if callable(critical) else critical
            return np.asarray(sign * distance - most * np.maximum(error, np.finfo(float).tiny))

        inside, outside = (np.array([np.arctan(end) if ratio else end]) for end in (start, stop))
        place = float(crossings(excess, inside, outside)[0][0])
        if not ratio:
            return place
        return 0.0 if place <= NEAREST else np.inf if place >= np.pi / 2 - NEAREST else float(np.tan(place))


def uncertain_rates(
    rows: Rows,
    table: Floats,
    sides: Booleans,
    *,
    estimate: str,
    scale: Scale,
    disparity: str,
    n_reference: float | None = None,
) -> UncertainRates | None:
    """Compare the rates of two sides, (2, G), each defined; None if probabilities do not tell them apart.

    With `n_reference` each row of probabilities varies as shares of a Dirichlet distribution.
    """
    people, events, p, inverse = _who_meets(rows, table, estimate)
    met = table[:, :2].sum(axis=1)
    rates, expected = _over(table[:, 0], met), sides @ met
    mixed = (sides * met / expected[:, None]) @ inverse
    coefficients = mixed @ p.T
    contrast = (sides[0] * met / expected[0] - sides[1] * met / expected[1])[None]
    fits = np.abs((contrast @ inverse @ p.T * people) @ p - contrast).max() <= _IDENTIFIED
    squares = (coefficients**2 @ people).sum()
    if (estimate == "likelihood" and not fits) or (np.diff(coefficients, axis=0) ** 2 @ people) <= _NOTHING * squares:
        return None
    first, others = sides[0], sides[1] & ~sides[0]
    # With the group in both sides, the rate of the others follows from that of everyone.
    shared = expected[0] / expected[1] if (sides[0] & sides[1]).any() else 0.0
    targets = np.stack(
        [first - others * shared / (1 - shared), others / (1 - shared), np.where(first | others, 0.0, rates)], axis=1
    )
    if estimate == "weighted":  # rows have rates, linear in their probabilities, whose weighted averages are those
        targets = np.linalg.pinv((p * people[:, None]).T @ p, rcond=_NOTHING, hermitian=True) @ (met[:, None] * targets)
    chances = p @ targets
    reference = np.zeros((2, 2))
    if n_reference is not None:
        # By how much values move with the probabilities of each row, which together vary as its shares of groups.
        if estimate == "weighted":
            fitted, others = (coefficients @ events)[:, None], 0.0
        else:
            fitted = np.clip(p @ rates, 0.0, 1.0)
            others = (people * coefficients)[:, :, None] * rates
        moved = mixed[:, None] * (events - people * fitted)[..., None] - others
        mean = (moved * p).sum(axis=2)
        reference = (np.einsum("amg,bmg,mg->ab", moved, moved, p) - mean @ mean.T) / (n_reference + 1)
    robust = estimate == "weighted"
    return UncertainRates(people, events, coefficients, chances, robust, reference, scale, disparity)


def _who_meets(rows: Rows, table: Floats, estimate: str) -> tuple[Floats, Floats, Floats, Floats]:
    """Return people and events of each row that meets the condition, probabilities, and the solver of groups' rates."""
    inside = rows.counts[:, :2].any(axis=1)
    p, events, people = rows.p[inside], rows.counts[inside, 0], rows.counts[inside, :2].sum(axis=1)
    if estimate == "weighted":
        met = table[:, :2].sum(axis=1)
        return people, events, p, np.diag(_over(np.ones_like(met), met))
    p = p * _roles(table)[:, :2].sum(axis=1)
    p = p / p.sum(axis=1, keepdims=True)
    return people, events, p, np.linalg.pinv((p * people[:, None]).T @ p, rcond=_NOTHING, hermitian=True)


def effective_people(rows: Rows, table: Floats, estimate: str) -> Floats:
    """The number of people of known group that the rate of each group is worth, (G,): Kish's number if weighted."""
    people, _, p, inverse = _who_meets(rows, table, estimate)
    return _over(np.ones(len(inverse)), (inverse @ p.T) ** 2 @ people)
