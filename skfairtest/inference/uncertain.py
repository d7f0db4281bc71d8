"""A rate in groups that are known by their probabilities: three estimates, and bootstrap samples of each.

Person i is in group g with probability p_ig, and in one of three roles: shows the event (0), meets the condition
without it (1), or does not meet it (2). Each estimate is a table N of expected people, groups by roles, and the rate of
a group is N_g0 / (N_g0 + N_g1):

- weighted: N_gr is the sum of p_ig over the people in role r. Right if, among people with the same probabilities, role
  and group are independent (Chen et al. 2019, who call what is left the bias of the weighted estimator).
- thresholded: everyone counts in the group with the largest probability. Right if that is everyone's group.
- likelihood: N_gr is the sum of the probabilities of g given person and role, p_ig t_gr / sum_h p_ih t_hr, where t_gr,
  the probability of role r in group g, maximises the likelihood, the product over people of sum_g p_ig t_gr with r the
  role of person i. Right if, within each group, role and probabilities are independent: what the probabilities were
  made from (surname, address) says nothing more about the role (McCartan et al. 2024, the model without covariates).

All of them need probabilities that are right on average: of the people with a probability of .3, 30 % are in the group.

References
----------
J. Chen, N. Kallus, X. Mao, G. Svacha and M. Udell (2019), Fairness under unawareness, FAT*. C. McCartan, R. Fisher,
J. Goldin, D. E. Ho and K. Imai (2024), Estimating racial disparities when race is not observed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfairtest._utils.batches import batches
from skfairtest._utils.typing import Floats, Integers, Positions

#: How the table of a group is estimated.
ESTIMATES = ("weighted", "thresholded", "likelihood")
#: Steps of the likelihood at the most, and the change of a probability at which they end.
_STEPS, _ENOUGH = 20_000, 1e-10
#: The same in bootstrap samples, after steps of Newton's method.
_NEWTON, _STEPS_OF_SAMPLES, _ENOUGH_OF_SAMPLES = 4, 2_000, 1e-6
#: Numbers held in memory at the same time.
_NUMBERS = 4_000_000
_ROLES = 3


@dataclass(frozen=True)
class Kinds:
    """People who have the same role and the same probabilities: `counts` of each, (M,), role (M,) and p (M, G).

    `row` says which of the different rows of probabilities each kind has.
    """

    counts: Integers
    role: Positions
    p: Floats
    row: Positions


def kinds_of(role: Positions, p: Floats) -> Kinds:
    """Put people together who have the same role and probabilities."""
    rows, row = np.unique(p, axis=0, return_inverse=True)
    found, counts = np.unique(row.reshape(-1) * _ROLES + role, return_counts=True)
    return Kinds(counts, found % _ROLES, rows[found // _ROLES], found // _ROLES)


def expected_table(kinds: Kinds, estimate: str) -> Floats:
    """Return expected people by group and role, (G, 3)."""
    return np.asarray(_tables(kinds, kinds.counts[None].astype(float), kinds.p[None], estimate, None)[0])


def bootstrap_tables(
    kinds: Kinds, estimate: str, n_resamples: int, n_reference: float | None, rng: np.random.Generator
) -> Floats:
    """Return the tables of bootstrap samples of people, (B, G, 3).

    People are drawn with their role and probabilities. With `n_reference` the probabilities are drawn as well: each
    different row from the Dirichlet distribution of shares that were estimated from so many people.
    """
    n = int(kinds.counts.sum())
    start = expected_table(kinds, estimate) if estimate == "likelihood" else None
    shares, out = kinds.counts / n, []
    at_once = _NUMBERS // (len(shares) * kinds.p.shape[1])
    for part in batches(n_resamples, at_once):
        size = part.stop - part.start
        weights = rng.multinomial(n, shares, size=size).astype(float)
        p = kinds.p[None] if n_reference is None else _drawn(kinds, size, n_reference, rng)
        out.append(_tables(kinds, weights, p, estimate, start))
    return np.concatenate(out)


def _drawn(kinds: Kinds, size: int, n_reference: float, rng: np.random.Generator) -> Floats:
    """Draw the rows of probabilities, (size, M, G): people who share a row share what is drawn."""
    _, first, own = np.unique(kinds.row, return_index=True, return_inverse=True)
    drawn = rng.standard_gamma(np.broadcast_to(n_reference * kinds.p[first], (size, len(first), kinds.p.shape[1])))
    total = drawn.sum(axis=2, keepdims=True)
    # Shapes near 0 can all be drawn as 0: such a row stays as it is.
    rows = np.where(total > 0, drawn / np.where(total > 0, total, 1.0), kinds.p[first])
    return np.asarray(rows[:, own.reshape(-1)])


def _tables(kinds: Kinds, weights: Floats, p: Floats, estimate: str, start: Floats | None) -> Floats:
    if estimate == "thresholded":
        p = thresholded(p)
    if estimate != "likelihood":
        return _summed(kinds, weights, p)
    shares = _roles(
        _summed(kinds, weights, p) if start is None else np.broadcast_to(start, (len(weights), *start.shape))
    )
    steps, enough = (_STEPS, _ENOUGH) if start is None else (_STEPS_OF_SAMPLES, _ENOUGH_OF_SAMPLES)
    for _ in range(0 if start is None else _NEWTON):
        shares = _newton(kinds, weights, p, shares)
    left = np.arange(len(weights))
    tables = np.empty_like(shares)
    for _ in range(steps):
        of_left = p if len(p) == 1 else p[left]
        found = _summed(kinds, weights[left], _posterior(kinds, of_left, shares[left]))
        new = _roles(found)
        moved = np.abs(new - shares[left]).max(axis=(1, 2))
        shares[left], tables[left] = new, found
        left = left[moved > enough]
        if not len(left):
            break
    return tables


def thresholded(p: Floats) -> Floats:
    """Return 1 for the largest probability of each row (..., G), for the first of equal ones, and 0 for the others."""
    return np.asarray(np.eye(p.shape[-1])[p.argmax(axis=-1)])


def _summed(kinds: Kinds, weights: Floats, p: Floats) -> Floats:
    """Return the sums of weighted probabilities by group and role, (B, G, 3)."""
    roles = [np.flatnonzero(kinds.role == role) for role in range(_ROLES)]
    if len(p) == 1:
        return np.stack([weights[:, of] @ p[0, of] for of in roles], axis=2)
    return np.stack([np.einsum("bm,bmg->bg", weights[:, of], p[:, of]) for of in roles], axis=2)


def _roles(tables: Floats) -> Floats:
    """Return the shares of roles in each group; equal ones where nobody is."""
    total = tables.sum(axis=2, keepdims=True)
    return np.where(total > 0, tables / np.where(total > 0, total, 1.0), 1.0 / _ROLES)


def _posterior(kinds: Kinds, p: Floats, shares: Floats) -> Floats:
    """Return the probabilities of groups given role and probabilities, (B, M, G)."""
    joint = p * np.moveaxis(shares[:, :, kinds.role], 1, 2)
    total = joint.sum(axis=2, keepdims=True)
    return joint / np.where(total > 0, total, 1.0)


def _newton(kinds: Kinds, weights: Floats, p: Floats, shares: Floats) -> Floats:
    """Take a step of Newton's method towards the maximum of the likelihood, short of shares below 0.

    The logarithm of a linear function has minus the product of its gradient with itself as second derivative, so that
    the observed information is the sum of the products of the scores.
    """
    *free, rest = np.unique(kinds.role).tolist()  # the share of the last role is what the others leave
    if not free:
        return shares
    size = shares.shape[1] * len(free)
    likelihood = (p * np.moveaxis(shares[:, :, kinds.role], 1, 2)).sum(axis=2)
    of_group = p / np.where(likelihood > 0, likelihood, 1.0)[:, :, None]
    signs = np.stack([(kinds.role == role).astype(float) - (kinds.role == rest) for role in free], axis=1)
    scores = (of_group[:, :, :, None] * signs[None, :, None, :]).reshape(len(weights), -1, size)
    gradient = np.einsum("bm,bmj->bj", weights, scores)
    information = np.einsum("bmj,bmk->bjk", scores * weights[:, :, None], scores)
    # Where the data say nothing of a share, it stays.
    ridge = 1e-9 * np.trace(information, axis1=1, axis2=2) + 1e-12
    step = np.linalg.solve(information + ridge[:, None, None] * np.eye(size), gradient[:, :, None])
    both = step.reshape(len(weights), -1, len(free))
    full = np.zeros(shares.shape)
    full[:, :, free], full[:, :, rest] = both, -both.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(full < 0, -shares / full, np.inf).min(axis=(1, 2))
    return np.asarray(shares + np.minimum(1.0, 0.9 * room)[:, None, None] * full)


def events_and_denominators(tables: Floats) -> tuple[Floats, Floats]:
    """Return what a rate is made of, (..., 1, G) each, of tables (..., G, 3) of a single stratum."""
    events = tables[..., None, :, 0]
    return events, events + tables[..., None, :, 1]
