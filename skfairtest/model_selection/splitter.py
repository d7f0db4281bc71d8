"""Folds with equal shares of every group, every label, and every combination of group and label.

A cell is one label in one group. With C people in a cell and k folds, every fold gets floor(C/k) or ceil(C/k) of them;
the same is true of the people of a group, of a label, and of all people. Such folds always exist: what is left of the
cells after division by k are the edges of a bipartite multigraph between groups and labels, folds are colours of the
edges, and every bipartite multigraph has an equitable colouring in any number of colours (de Werra 1971). It is found
by halving the edges of two folds along closed walks, which halves the edges at every node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRequest

from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.typing import Positions
from skfairtest.readers import MAX_GROUPS, Column, check_same_people, one_column, read_column, read_columns
from skfairtest.readers.containers import check_names_of_columns, named_columns

# How many small cells a warning names.
_SHOWN = 5

_NO_GROUPS = (
    "sensitive_features is missing: the groups to stratify on. Directly: split(X, y, sensitive_features=...). In a "
    "search or in cross_validate either name a column of X, SensitiveStratifiedKFold(sensitive_features='sex'), or "
    "enable routing with sklearn.set_config(enable_metadata_routing=True) and pass them: search.fit(X, y, "
    "sensitive_features=...), or cross_validate(..., params={'sensitive_features': ...})."
)


class SensitiveStratifiedKFold(StratifiedKFold):
    """K folds stratified on label and group together, so that small groups do not vanish from folds.

    No hypothesis is tested here: a splitter makes sure that the tests and scorers of every fold have people from every
    group. ``StratifiedKFold`` keeps only the shares of the labels; a small group may then be missing from a fold
    altogether, and its disparity there is undefined. Here the numbers of people in any two folds differ by at most one:
    for all people, for every group, for every label, and for every group with every label. The groups are either passed
    at run time, as ``sensitive_features`` of `split` (in scikit-learn's tools by metadata routing; the request is
    already set), or named as columns of `X`, which needs no routing.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=False
        Whether the people of each group and label are shuffled before they are assigned to folds. If not, they are
        assigned in their original order.
    random_state : int, RandomState instance or None, default=None
        The seed of the shuffling.
    sensitive_features : str, sequence of str or None, default=None
        The columns of `X` that hold the groups; with several, their crossing is stratified. None: the groups come with
        `split`.

    See Also
    --------
    sklearn.model_selection.StratifiedKFold : Stratifies on the label alone.

    Notes
    -----
    Renaming groups or labels, or using another container, does not change the folds. With several sensitive features,
    shares are equal for their crossing; for one of them alone, the numbers in two folds may differ by more than one.

    References
    ----------
    .. [1] D. de Werra (1971), Balanced schedules, INFOR 9(3), 230-237.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import SensitiveStratifiedKFold
    >>> X, y = np.zeros((12, 1)), [0, 1] * 6
    >>> sex = ["f"] * 4 + ["m"] * 8
    >>> folds = SensitiveStratifiedKFold(n_splits=2)
    >>> for train, test in folds.split(X, y, sensitive_features=sex):
    ...     print(test)
    [0 1 4 5 6 7]
    [ 2  3  8  9 10 11]

    Where the groups are a column of `X`, its name is enough, here in a search:

    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> X = pd.DataFrame({"age": np.arange(12), "female": np.repeat([1, 0], [4, 8])})
    >>> folds = SensitiveStratifiedKFold(n_splits=2, sensitive_features="female")
    >>> len(cross_validate(LogisticRegression(), X, y, cv=folds)["test_score"])
    2
    """

    # Not __metadata_request__get_n_splits as well: scikit-learn 1.6 knows no such method.
    __metadata_request__split = {"sensitive_features": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        sensitive_features: str | Sequence[str] | None = None,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        check_names_of_columns(sensitive_features, "sensitive_features")
        self.sensitive_features = sensitive_features

    def get_metadata_routing(self) -> MetadataRequest:
        """The metadata that scikit-learn's tools pass to `split`.

        Returns
        -------
        MetadataRequest
            A request for ``sensitive_features``, unless they are columns of X.
        """
        request = super().get_metadata_routing()
        if self.sensitive_features is not None:
            request.split.add_request(param="sensitive_features", alias=False)
        return request

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, *, sensitive_features: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups, sensitive_features : object
            Not used; scikit-learn's searches pass them.

        Returns
        -------
        int
            ``n_splits``.
        """
        return int(self.n_splits)

    def split(
        self, X: Any, y: Any = None, groups: None = None, *, sensitive_features: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Assign the people to folds.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of n rows, or None
            Only its number of rows is used, and the columns that `sensitive_features` of the splitter names.
        y : array-like of shape (n,) or None
            The labels, of any type. None: the groups alone are stratified.
        groups : None
            Always None. In scikit-learn these are people who must stay together, which this splitter does not support.
        sensitive_features : array-like, frame or mapping of n rows, optional
            The groups: one or several columns. Not needed if the splitter names columns of `X`.

        Returns
        -------
        iterator of (ndarray, ndarray)
            Positions of the people to train on and of the people to test on, one pair per fold.

        Raises
        ------
        ValueError
            If there are no groups, if `y` is continuous, if values are missing or lengths differ, or if there are
            fewer people than folds.

        Warns
        -----
        UserWarning
            If a label of a group has fewer people than there are folds, so that some folds have none of them.
        """
        if groups is not None:
            raise ParameterError(
                "groups are people who must stay together in scikit-learn, but SensitiveStratifiedKFold does not keep "
                "people together: pass the sensitive groups as sensitive_features=..., or use StratifiedGroupKFold."
            )
        columns, label = self._read(X, y, sensitive_features)
        self._warn_of_small_cells(columns, label)
        random_state = check_random_state(self.random_state) if self.shuffle else None
        codes = [column.codes for column in columns]
        folds = stratified_folds(codes, None if label is None else label.codes, self.n_splits, random_state)
        return ((np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(self.n_splits))

    def _read(self, X: Any, y: Any, sensitive_features: Any) -> tuple[tuple[Column, ...], Column | None]:
        names = check_names_of_columns(self.sensitive_features, "sensitive_features")
        if names is None:
            if sensitive_features is None:
                raise ParameterError(_NO_GROUPS)
        elif sensitive_features is not None:
            raise ParameterError(
                f"sensitive_features are already named as columns of X ({brief(self.sensitive_features)}): leave them "
                "out of split, or out of SensitiveStratifiedKFold(...)."
            )
        else:
            sensitive_features = named_columns(X, names, "sensitive_features")
        columns = read_columns(
            sensitive_features, "sensitive_features", default_name="sensitive_feature", max_levels=MAX_GROUPS
        )
        label = None if y is None else read_column(one_column(y), "y", name="y")
        if label is not None:
            _check_labels(label)
        check_same_people({"X": X, "y": label, "sensitive_features": columns})
        if len(columns[0]) < self.n_splits:
            raise ParameterError(
                f"n_splits={self.n_splits} is more than the number of people, {len(columns[0])}: every fold needs at "
                "least one."
            )
        return columns, label

    def _warn_of_small_cells(self, columns: tuple[Column, ...], label: Column | None) -> None:
        described = (*columns, *([] if label is None else [label]))
        cells, sizes = np.unique(np.stack([column.codes for column in described]), axis=1, return_counts=True)
        small = np.flatnonzero(sizes < self.n_splits)
        if not small.size:
            return
        smallest = small[np.argsort(sizes[small], kind="stable")]
        shown = [
            " and ".join(f"{column.name}={column.levels[code]!r}" for column, code in zip(described, cell, strict=True))
            + f" ({size} {'person' if size == 1 else 'people'})"
            for cell, size in zip(cells.T[smallest[:_SHOWN]], sizes[smallest[:_SHOWN]], strict=True)
        ]
        more = f", and {small.size - _SHOWN:,} more" if small.size > _SHOWN else ""
        what = "groups" if label is None else "combinations of group and label"
        warn(
            f"{small.size:,} of {sizes.size:,} {what} have fewer people than n_splits={self.n_splits}, so some folds "
            f"test none of them: {'; '.join(shown)}{more}. Rates of these people are undefined in such folds; use "
            "fewer folds, or merge small groups.",
        )


def _check_labels(label: Column) -> None:
    continuous = [level for level in label.levels if isinstance(level, float) and not level.is_integer()]
    if continuous:
        raise ParameterError(
            f"y is continuous (it holds {continuous[0]!r}), and folds are stratified on labels. Stratify on the groups "
            "alone with cv=list(folds.split(X, None, sensitive_features=...)), or on bins of y with "
            "cv=list(folds.split(X, pandas.qcut(y, 5), sensitive_features=...)), or use KFold."
        )


def stratified_folds(
    groups: Sequence[Positions],
    labels: Positions | None,
    n_folds: int,
    random_state: np.random.RandomState | None = None,
) -> Positions:
    """Assign people to folds, with equal shares of every group, every label and every group with every label.

    Parameters
    ----------
    groups : sequence of ndarray of shape (n,)
        Codes of the groups; of several columns, the crossing counts.
    labels : ndarray of shape (n,) or None
        Codes of the labels; None: all people have the same label.
    n_folds : int
        The number of folds.
    random_state : RandomState, optional
        Shuffles the people of every cell.

    Returns
    -------
    ndarray of shape (n,)
        The fold of every person.

    Examples
    --------
    >>> stratified_folds(
    ...     [np.array([0, 0, 1, 1, 1, 1])], np.array([0, 1, 0, 1, 0, 1]), 2
    ... ).tolist()
    [0, 1, 0, 0, 1, 1]
    """
    group = _in_order_of_appearance(groups)
    label = np.zeros_like(group) if labels is None else _in_order_of_appearance([labels])
    n_labels = int(label.max()) + 1
    cell = group * n_labels + label
    counts = np.bincount(cell, minlength=(int(group.max()) + 1) * n_labels)
    shares = _even_shares(counts.reshape(-1, n_labels), n_folds).reshape(-1, n_folds)
    order = np.argsort(cell, kind="stable")
    folds = np.empty_like(cell)
    for people, share in zip(np.split(order, np.cumsum(counts)[:-1]), shares, strict=True):
        dealt = np.repeat(np.arange(n_folds), share)
        if random_state is not None:
            random_state.shuffle(dealt)
        folds[people] = dealt
    return folds


def _in_order_of_appearance(columns: Sequence[Positions]) -> Positions:
    """Return codes of the crossing that do not depend on the names of its values."""
    _, first, codes = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes.reshape(-1)]


def _even_shares(counts: Positions, n_folds: int) -> Positions:
    """The numbers of people of every group (row) and label (column) in each fold, shape (groups, labels, folds)."""
    whole, rest = np.divmod(counts, n_folds)
    # Dealt out in turn, label by label within groups: even for cells, groups and the whole, perhaps not for labels.
    extra = np.zeros((*counts.shape, n_folds), dtype=np.intp)
    fold = cycle(range(n_folds))
    for row, column in np.argwhere(rest):
        for _ in range(rest[row, column]):
            extra[row, column, next(fold)] = 1
    # Halving makes two folds even at every group and label, and nothing less even than it was; so this comes to an end.
    while np.ptp(labels := extra.sum(axis=0), axis=1).max() > 1:
        uneven = labels[np.argmax(np.ptp(labels, axis=1))]
        pair = [int(uneven.argmax()), int(uneven.argmin())]
        only_one = np.argwhere(extra[..., pair].sum(axis=2) == 1)
        for (row, column), side in zip(only_one, _halve(only_one), strict=True):
            extra[row, column, pair] = [1 - side, side]
    return whole[..., np.newaxis] + extra


def _halve(edges: NDArray[np.intp]) -> list[int]:
    """Give the edges of a bipartite graph to two sides, 0 and 1, evenly at every node and as a whole.

    A further node at each end takes an edge of every node of odd degree, and then of each other; now all degrees are
    even, and a walk over edges not yet walked ends where it began. Such a walk has an even length, so sides that
    alternate along it are even at every node; without the added edges they differ by one at most.
    """
    nodes = [(("row", row), ("column", column)) for row, column in edges.tolist()]
    at: defaultdict[tuple[str, Any], list[int]] = defaultdict(list)
    for edge, ends in enumerate(nodes):
        for node in ends:
            at[node].append(edge)
    odd = [node for node, found in at.items() if len(found) % 2]
    spare = {"row": ("column", "spare"), "column": ("row", "spare")}
    added = [(node, spare[node[0]]) for node in odd]
    if sum(node[0] == "row" for node in odd) % 2:
        added.append((spare["row"], spare["column"]))
    for edge, ends in enumerate(added, start=len(nodes)):
        for node in ends:
            at[node].append(edge)
    nodes += added
    side = [-1] * len(nodes)
    for start in list(at):
        node, turn = start, 0
        while (unused := _next_unused(at[node], side)) is not None:
            side[unused], turn = turn, 1 - turn
            first, second = nodes[unused]
            node = second if node == first else first
    return side[: len(edges)]


def _next_unused(edges: list[int], side: list[int]) -> int | None:
    while edges and side[edges[-1]] >= 0:
        edges.pop()
    return edges[-1] if edges else None
