"""fairlearn's frame of metrics by group, with tests of the disparities it shows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame

from skfairtest._utils.base import check_seed
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, answering_guesses, held_back
from skfairtest._utils.text import label
from skfairtest.comparisons.frames import COMPARISON_COLUMNS
from skfairtest.metrics.names import function_of
from skfairtest.model_selection import _frame_cells as frame_cells
from skfairtest.readers import check_rows
from skfairtest.report.sentences import p_text

#: The test whose p-values are shown.
DEFAULT = (frame_cells.METHODS[0], frame_cells.DISPARITIES[0])
#: What MetricFrame cannot do.
TUPLES = (
    "sensitive_features or control_features holds tuples, which MetricFrame treats as several features: pass a "
    "DataFrame with a column for each part, or write the tuples as text"
)


class SignificanceFrame(MetricFrame):
    """Metrics by group, as ``fairlearn.metrics.MetricFrame`` shows them, with a test of every disparity.

    Everything in MetricFrame works unchanged: swap the import. `p_values` shows which differences are larger than
    chance explains; `difference_test` and `ratio_test` show between which groups, with the interval, or the reason if
    there is no test. `difference_interval` and `ratio_interval` are intervals for the numbers that ``difference()`` and
    ``ratio()`` show; unlike most bootstrap intervals of the largest difference, they contain 0 (or 1) if no significant
    disparity was detected. A test runs when its result is first needed.

    Null hypothesis of each p-value: among the people with one combination of control features, the metric has the same
    value in all groups (with ``method="to_overall"``: in every group the value of everyone else). The p-value is
    adjusted (by Holm's method, unless `test_params` says otherwise) for the comparisons of groups behind it, but not
    for the number of metrics and control levels in the frame; for that, `comparisons` has all rows.

    Parameters
    ----------
    metrics : callable, str or dict of these
        As in MetricFrame, or the name of a function of fairlearn or scikit-learn, such as "selection_rate". The values
        tested are exactly the values shown. Functions of both packages that `FairnessTest` knows (also as
        ``functools.partial(function, pos_label=...)``, and with weights in `sample_params`) have its tests, which are
        exact for rates; any other function of any `sample_params` is tested by permuting labels, with jackknife or
        bootstrap standard errors.
    y_true, y_pred : list, Series, ndarray or DataFrame
        As in MetricFrame: paired by position. pandas indexes that share no label, none of them 0 to n - 1, are an
        error.
    sensitive_features, control_features : list, Series, dict of 1d arrays, ndarray or DataFrame
        As in MetricFrame. Groups are compared within each combination of control features.
    sample_params : dict, optional
        As in MetricFrame.
    n_boot : int, optional
        As in MetricFrame: samples for ``difference_ci()`` and similar methods, not for the tests.
    ci_quantiles : list of float, optional
        As in MetricFrame.
    random_state : int, RandomState or None
        Seed of the bootstrap, as in MetricFrame, and of every test: results are those of a `FairnessTest` with this
        seed.
    test_params : dict, optional
        Parameters of `FairnessTest`, such as ``{"confidence_level": 0.9, "n_jobs": 2}``. Unless ``n_resamples`` is set,
        the test of a function that `FairnessTest` does not know has 199 resamples, or as many as are needed for the
        smallest possible adjusted p-value to be half the level. A ``margin`` is a margin of differences in
        `difference_test`, and of ratios in `ratio_test`.

    Raises
    ------
    ValueError
        As MetricFrame; also if `test_params` holds an unknown name, one that the frame itself sets, or a value that is
        not allowed, or if `random_state` is not a valid seed.

    See Also
    --------
    FairnessTest : The test behind every cell; it takes models, clusters and criteria of several rates.

    Notes
    -----
    There is no test for arrays (a confusion matrix), sizes of groups (``fairlearn.metrics.count``), a single group,
    groups of one person each, or a function that is NaN in a group; their p-values are NaN, and ``reason`` of
    `difference_test` says why. A rate is undefined in a group without anyone who meets its condition: MetricFrame shows
    0 there, and the test leaves the group out, like a group of one person, with a warning and a ``reason``. ``value``,
    the number that MetricFrame shows, can then lie outside ``ci_low`` and ``ci_high``.

    The frame keeps its data until they are tested, also in a pickled copy, which needs functions that can be pickled.

    References
    ----------
    fairlearn's user guide, section "Performing a fairness assessment". S. Holm (1979), Scandinavian Journal of
    Statistics 6, 65-70.

    Examples
    --------
    >>> from fairlearn.metrics import selection_rate
    >>> from sklearn.metrics import accuracy_score
    >>> from skfairtest import SignificanceFrame
    >>> y_true = [1, 1, 1, 1, 1, 0, 0, 1, 1, 0]
    >>> y_pred = [0, 1, 1, 1, 1, 0, 0, 0, 1, 1]
    >>> sex = ["Female"] * 5 + ["Male"] * 5
    >>> frame = SignificanceFrame(
    ...     metrics={"accuracy": accuracy_score, "selection_rate": selection_rate},
    ...     y_true=y_true,
    ...     y_pred=y_pred,
    ...     sensitive_features=sex,
    ... )
    >>> frame
    SignificanceFrame: values by group, and p-values of the differences between groups (* concern).
    <BLANKLINE>
                         accuracy  selection_rate
    sensitive_feature_0
    Female                    0.8             0.8
    Male                      0.6             0.4
    <BLANKLINE>
            accuracy selection_rate
    p-value    1.000          0.344
    >>> frame.difference()
    accuracy          0.2
    selection_rate    0.4
    dtype: float64
    >>> frame.p_values().round(3)
    accuracy          1.000
    selection_rate    0.344
    dtype: float64
    >>> low, high = frame.difference_interval()
    >>> float(low["selection_rate"]), round(float(high["selection_rate"]), 2)
    (0.0, 0.79)
    """

    @partial(answering_guesses, owner="SignificanceFrame")
    def __init__(
        self,
        *,
        metrics: Callable[..., Any] | str | dict[str, Callable[..., Any] | str],
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        control_features: Any = None,
        sample_params: dict[str, Any] | dict[str, dict[str, Any]] | None = None,
        n_boot: int | None = None,
        ci_quantiles: list[float] | None = None,
        random_state: Any = None,
        test_params: dict[str, Any] | None = None,
    ) -> None:
        params = {} if test_params is None else test_params
        self._not_tested = frame_cells.check_params(params)
        # The bootstrap draws from the user's generator, the tests from one that is as that was.
        seed = copy.deepcopy(random_state)
        features = {"sensitive_features": sensitive_features, "control_features": control_features}
        for name, given in {"y_true": y_true, "y_pred": y_pred, **features}.items():
            for column in given.values() if isinstance(given, dict) else [given]:
                if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):  # MetricFrame would count these
                    raise ParameterError(f"{name} has masked values: leave these people out, or give them a value")
        functions: Any = function_of(metrics)
        if several := isinstance(metrics, dict):
            functions = {name: function_of(metric) for name, metric in metrics.items()}
        labels = {
            name: frame_cells.as_evaluated(name, values) for name, values in (("y_true", y_true), ("y_pred", y_pred))
        }
        if not len(labels["y_true"]):
            raise ParameterError("y_true is empty: at least one person is needed")
        frame_cells.check_labels_of(functions.values() if several else [functions], **labels)
        try:
            super().__init__(
                metrics=functions,
                y_true=y_true,
                y_pred=y_pred,
                **features,
                sample_params=sample_params,
                n_boot=n_boot,
                ci_quantiles=ci_quantiles,
                random_state=random_state,
            )
        except TypeError as error:  # text and tuples are not sorted among combinations of features
            if "not supported between" not in str(error) or "'tuple'" not in str(error):
                raise
            raise ParameterError(TUPLES) from error
        check_seed(random_state)
        by_group = self.by_group if several else self.by_group.to_frame()
        params_of: dict[Any, Any] = (sample_params or {}) if several else {self.by_group.name: sample_params}
        check_rows(
            None,
            True,
            y_true=y_true,
            y_pred=y_pred,
            **features,
            **{f"sample_params[{metric!r}]": own or {} for metric, own in params_of.items()},
        )
        n_control = len(self.control_levels or ())
        levels = frame_cells.keys_of(self.overall.index) if n_control else [()]
        control_tuples = any(isinstance(part, tuple) for level in levels for part in level)
        if control_tuples or by_group.index.nlevels != n_control + len(self.sensitive_levels):
            raise ParameterError(TUPLES)
        tested = {
            name: (
                functions[name] if several else functions,
                {
                    key: frame_cells.as_evaluated(key, values)
                    for key, values in (params_of.get(name) or {}).items()
                    if values is not None
                },
            )
            for name in by_group.columns
        }
        people, groups = frame_cells.people_of(len(labels["y_true"]), **features)
        self._cells = frame_cells.Cells(tested, labels, people, groups, levels, by_group, params, seed)

    def p_values(self, method: str = "between_groups", disparity: str = "difference") -> Any:
        """Return a p-value for each number that ``difference()`` or ``ratio()`` shows.

        Null hypothesis: the metric has the same value in all groups or, with ``method="to_overall"``, in each group the
        same value as among everyone else. Each p-value is adjusted for the comparisons behind it (the smallest of
        Holm's, unless ``adjust`` of `test_params` says otherwise), not for other metrics and levels.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.
        disparity : {"difference", "ratio"}, default="difference"
            How values are compared; tests of rates that have an exact distribution give the same p-value for both.

        Returns
        -------
        float, Series or DataFrame
            The same type, index and columns as ``difference()``. NaN where there is no test; `difference_test` gives
            the reason.

        Raises
        ------
        ValueError
            If `method` or `disparity` is none of these.

        Examples
        --------
        >>> from fairlearn.metrics import selection_rate
        >>> from skfairtest import SignificanceFrame
        >>> frame = SignificanceFrame(
        ...     metrics=selection_rate,
        ...     y_true=[1, 1, 1, 1, 0, 0, 0, 0],
        ...     y_pred=[1, 1, 1, 1, 0, 0, 0, 0],
        ...     sensitive_features=list("aaaabbbb"),
        ... )
        >>> round(frame.p_values(), 4)
        0.0078
        """
        return self._like_difference(method, disparity, "p_value")

    def difference_test(self, method: str = "between_groups") -> pd.DataFrame:
        """Return the tests of differences, a row for each metric and combination of control features.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.

        Returns
        -------
        DataFrame
            Indexed by ``metric``, after the control features if there are any: ``value`` (the number that
            ``difference()`` shows), ``ci_low`` and ``ci_high`` (its limits, see `difference_interval`), ``group`` and
            ``other`` (the comparison that sets the p-value), ``disparity`` and ``statistic`` (of that comparison,
            signed: the value of ``group`` minus that of ``other``), ``p_value``, ``concern`` (whether the disparity is
            significant; missing where there is no test), ``method`` (the p-value's null distribution) and ``reason``
            (why there is no test, or which groups were left out of it; empty otherwise).

        Raises
        ------
        ValueError
            If `method` is none of these.

        Examples
        --------
        >>> from fairlearn.metrics import count, selection_rate
        >>> from skfairtest import SignificanceFrame
        >>> frame = SignificanceFrame(
        ...     metrics={"selection_rate": selection_rate, "count": count},
        ...     y_true=[1, 1, 1, 1, 0, 0, 0, 0],
        ...     y_pred=[1, 1, 1, 1, 0, 0, 0, 0],
        ...     sensitive_features=list("aaaabbbb"),
        ... )
        >>> frame.difference_test()["p_value"].round(4)
        metric
        selection_rate    0.0078
        count                NaN
        Name: p_value, dtype: float64
        >>> frame.difference_test().loc["count", "reason"]
        'the size of a group is not an average over its people: there is nothing to test'
        """
        return self._test_frame(method, "difference")

    def ratio_test(self, method: str = "between_groups") -> pd.DataFrame:
        """Return the tests of ratios, a row for each metric and combination of control features.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.

        Returns
        -------
        DataFrame
            As in `difference_test`, with the number that ``ratio()`` shows as ``value``; ``disparity`` is the value of
            ``group`` divided by that of ``other``, which may exceed 1.

        Raises
        ------
        ValueError
            If `method` is none of these.
        """
        return self._test_frame(method, "ratio")

    def comparisons(self, method: str = "between_groups", disparity: str = "difference") -> pd.DataFrame:
        """Return all comparisons of groups behind the tests, one row each.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.
        disparity : {"difference", "ratio"}, default="difference"
            How values are compared.

        Returns
        -------
        DataFrame
            A column for each control feature, then those of ``FairnessTest.comparisons_``. ``p_value`` is not adjusted,
            so that you can adjust it over the whole frame; ``p_value_adjusted`` is adjusted within one metric and one
            combination of control features. Metrics without a test have no rows.

        Raises
        ------
        ValueError
            If `method` or `disparity` is none of these.
        """
        parts = []
        for (*level, metric), cell in self._tested(method, disparity).items():
            if cell.comparisons is not None:
                part = cell.comparisons.assign(metric=pd.Series([metric] * len(cell.comparisons), dtype=object))
                for place, (name, value) in enumerate(zip(self.control_levels or (), level, strict=True)):
                    part.insert(place, name, value, allow_duplicates=True)
                parts.append(part)
        if parts:
            return pd.concat(parts, ignore_index=True)
        columns = [name for name in COMPARISON_COLUMNS if name != "stratum"]  # strata are the control features
        return pd.DataFrame(columns=[*(self.control_levels or ()), *columns])

    def difference_interval(self, method: str = "between_groups") -> list[Any]:
        """Return confidence limits for the numbers that ``difference()`` shows.

        A bootstrap interval of the largest difference does not contain 0 unless there are few people. These limits
        follow from simultaneous intervals of all comparisons: the largest absolute difference lies between the largest
        of their smallest and the largest of their greatest absolute values. The lower limit is 0 if no comparison's
        interval excludes 0. With ``adjust=None`` or a false-discovery rule they are those of Holm's method. Groups left
        out of the comparisons, listed in the ``reason`` of `difference_test`, do not enter these limits.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.

        Returns
        -------
        list of two floats, Series or DataFrames
            The lower and the upper limit, each shaped as ``difference()``; MetricFrame's ``difference_ci()`` returns
            such a list for two quantiles. The level is ``confidence_level`` of `test_params`.

        Raises
        ------
        ValueError
            If `method` is none of these.
        """
        return [self._like_difference(method, "difference", limit) for limit in ("ci_low", "ci_high")]

    def ratio_interval(self, method: str = "between_groups") -> list[Any]:
        """Return confidence limits for the numbers that ``ratio()`` shows.

        They follow from the intervals of all comparisons in the same way as those of `difference_interval`.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default="between_groups"
            Compare each pair of groups, or each group with everyone.

        Returns
        -------
        list of two floats, Series or DataFrames
            The lower limit, which is the worst ratio compatible with the data, and the upper limit, which is 1 if no
            significant disparity was detected; each shaped as ``ratio()``.

        Raises
        ------
        ValueError
            If `method` is none of these.
        """
        return [self._like_difference(method, "ratio", limit) for limit in ("ci_low", "ci_high")]

    # ------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Return the values by group, and the p-values that are known or quick to compute."""
        lead, values, p_values, notes = self._shown()
        return "\n".join([lead, "", values.to_string(), "", p_values.to_string(), *notes])

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        lead, values, p_values, notes = self._shown()
        return "".join(
            [f"<p>{lead}</p>", values.to_html(), p_values.to_html(), *(f"<p>{escape(n)}</p>" for n in notes)]
        )

    def _shown(self) -> tuple[str, pd.DataFrame, pd.DataFrame, list[str]]:
        """Return a title, the values by group, the p-values, and why groups were left out."""
        cells = self._cells
        with held_back():  # the notes say who is left out
            rows = {
                (*level, name): cells.cell(name, level).row if cells.quick(name) or key in cells.made else {}
                for level in cells.levels
                for name in cells.metrics
                for key in [(name, level, *DEFAULT)]
            }
        texts = [_p_value(row) for row in rows.values()]
        p_values = pd.DataFrame(
            np.array(texts, dtype=object).reshape(len(cells.levels), -1), columns=cells.by_group.columns,
            index=self.overall.index if self.control_levels else ["p-value"],
        )  # fmt: skip
        notes = [f"{', '.join(map(label, key))}: {row['reason']}" for key, row in rows.items() if row.get("reason")]
        lead = f"{type(self).__name__}: values by group, and p-values of the differences between groups (* concern)."
        return lead, cells.by_group, p_values, notes

    def _tested(self, method: str, disparity: str) -> dict[tuple[Any, ...], frame_cells.Cell]:
        """Return all tests, by combination of control features and metric."""
        check_choice("method", method, frame_cells.METHODS)
        check_choice("disparity", disparity, frame_cells.DISPARITIES)
        if disparity in self._not_tested:
            raise ParameterError(self._not_tested[disparity])
        cells = self._cells
        return {
            (*level, name): cells.cell(name, level, method, disparity)
            for level in cells.levels
            for name in cells.metrics
        }

    def _test_frame(self, method: str, disparity: str) -> pd.DataFrame:
        tested = self._tested(method, disparity)
        frame = pd.DataFrame([cell.row for cell in tested.values()], columns=list(frame_cells.UNTESTED), dtype=object)
        try:
            shown = getattr(self, disparity)(method=method)
        except Exception:  # whatever MetricFrame has met, of any of the metrics
            pass
        else:
            if isinstance(shown, pd.DataFrame):
                shown = shown.reindex(index=self.overall.index, columns=self._cells.by_group.columns)
            frame["value"] = np.ravel(np.asarray(shown, dtype=float))
        names = [*(self.control_levels or ()), "metric"]
        if self.control_levels:
            frame.index = pd.MultiIndex.from_tuples(list(tested), names=names)
        else:
            frame.index = pd.Index([name for (name,) in tested], name="metric", tupleize_cols=False)
        floats = [name for name, untested in frame_cells.UNTESTED.items() if isinstance(untested, float)]
        return frame.astype({**dict.fromkeys(floats, float), "concern": "boolean"})

    def _like_difference(self, method: str, disparity: str, column: str) -> Any:
        """Return a column of the tests, in the type that MetricFrame's methods return."""
        values = [cell.row[column] for cell in self._tested(method, disparity).values()]
        several = isinstance(self.by_group, pd.DataFrame)
        if several and self.control_levels:
            table = np.array(values, dtype=float).reshape(len(self._cells.levels), -1)
            return pd.DataFrame(table, index=self.overall.index, columns=self.by_group.columns)
        if several or self.control_levels:
            return pd.Series(
                values, index=self.overall.index, name=None if several else self.by_group.name, dtype=float
            )
        return float(values[0])


def _p_value(row: dict[str, Any]) -> str:
    if not row:
        return "p_values()"
    return "" if np.isnan(row["p_value"]) else f"{p_text(row['p_value'])}{' *' if row['concern'] else ''}"
