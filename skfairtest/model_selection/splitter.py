"""Folds stratified on label and group together.

People are sorted by label and group and dealt to the folds in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRequest

from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.text import pluralize
from skfairtest._utils.typing import Positions
from skfairtest.readers import Column, check_same_people, distinct, is_fraction, one_column, read_column, read_columns
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

    No hypothesis is tested here. ``StratifiedKFold`` keeps only the shares of the labels, so a small group may be
    missing from a fold, where its disparity is undefined. Here the numbers of people in any two folds differ by at most
    one in total, for every label and for every group with a label. Groups are passed as ``sensitive_features`` of
    `split` (in scikit-learn's tools by metadata routing; the request is already set), or named as columns of `X`, which
    needs no routing.

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
    Renaming groups or labels, or using another container, does not change the folds.

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

    If the groups are a column of `X`, its name is enough:

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
        group, n = crossing(columns), len(columns[0])
        labels = crossing([label]) if label is not None else np.zeros_like(group)
        self._warn_of_small_cells(columns, label)
        people = check_random_state(self.random_state).permutation(n) if self.shuffle else np.arange(n)
        people = people[np.lexsort((group[people], labels[people]))]
        dealt = np.arange(n) % self.n_splits
        # Within a label of a group, the first people are those of the first fold.
        folds = np.empty(n, dtype=np.intp)
        folds[people] = dealt[np.lexsort((dealt, group[people], labels[people]))]
        return ((np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(self.n_splits))

    def _read(self, X: Any, y: Any, sensitive_features: Any) -> tuple[tuple[Column, ...], Column | None]:
        names = check_names_of_columns(self.sensitive_features, "sensitive_features")
        if names is None and sensitive_features is None:
            raise ParameterError(_NO_GROUPS)
        if names is not None:
            if sensitive_features is not None:
                raise ParameterError(
                    f"sensitive_features are already named as columns of X ({brief(self.sensitive_features)}): leave "
                    "them out of split, or out of SensitiveStratifiedKFold(...)."
                )
            sensitive_features = named_columns(X, names, "sensitive_features")
        columns = read_columns(sensitive_features, "sensitive_features", default_name="sensitive_feature", few=True)
        label = None if y is None else read_column(one_column(y), "y", name="y")
        if continuous := [] if label is None else list(filter(is_fraction, label.levels)):
            raise ParameterError(
                f"y is continuous (it holds {continuous[0]!r}), and folds are stratified on labels. Stratify on the "
                "groups alone with cv=list(folds.split(X, None, sensitive_features=...)), or on bins of y with "
                "cv=list(folds.split(X, pandas.qcut(y, 5), sensitive_features=...)), or use KFold."
            )
        check_same_people({"X": X, "y": label, "sensitive_features": columns})
        if len(columns[0]) < self.n_splits:
            raise ParameterError(
                f"n_splits={self.n_splits} is more than the number of people, n_samples={len(columns[0])}: every fold "
                "needs at least one."
            )
        return columns, label

    def _warn_of_small_cells(self, columns: tuple[Column, ...], label: Column | None) -> None:
        what, columns = ("groups", columns) if label is None else ("combinations of group and label", (*columns, label))
        cells, sizes = np.unique(np.stack([column.codes for column in columns]), axis=1, return_counts=True)
        small = np.flatnonzero(sizes < self.n_splits)
        if not small.size:
            return
        named = [
            " and ".join(f"{column.name}={column.levels[code]!r}" for column, code in zip(columns, cell, strict=True))
            + f" ({pluralize(size, 'person', 'people')})"
            for cell, size in zip(cells.T, sizes, strict=True)
        ]
        smallest = [named[cell] for cell in small[np.argsort(sizes[small], kind="stable")]]
        more = f", and {len(smallest) - _SHOWN:,} more" if len(smallest) > _SHOWN else ""
        warn(
            f"{small.size:,} of {sizes.size:,} {what} have fewer people than "
            f"n_splits={self.n_splits}, so some folds test none of them: {'; '.join(smallest[:_SHOWN])}{more}. Rates "
            "of these people are undefined in such folds; use fewer folds, or merge small groups.",
        )


def crossing(columns: Sequence[Column]) -> Positions:
    """Codes of the crossing of columns in order of appearance: they do not depend on the names of values."""
    crossed, _ = distinct([column.codes for column in columns], [len(column.levels) for column in columns])
    return pd.factorize(crossed)[0]
