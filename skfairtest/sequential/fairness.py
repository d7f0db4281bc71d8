"""A test that is fed batch by batch and is valid however often it is looked at."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfairtest import readers
from skfairtest._utils.base import Later, with_parameters
from skfairtest._utils.checks import check_choice, check_number, check_probability, is_integer, is_sequence
from skfairtest._utils.errors import ParameterError, brief, warn
from skfairtest._utils.text import enumerated, label, pluralize
from skfairtest.comparisons.contrasts import Design
from skfairtest.comparisons.engine import words_of
from skfairtest.comparisons.settings import Settings, check_settings
from skfairtest.metrics import Metric, resolve_metrics
from skfairtest.readers.containers import series_name
from skfairtest.report import cells
from skfairtest.report.mixin import ReportMixin
from skfairtest.report.record import plain_value
from skfairtest.report.report import Column, Figure, Report, Table, listed, values_of
from skfairtest.report.sentences import Setup, equals_p, metric_title, number, smallest_p, span, written
from skfairtest.sequential.e_process import METHODS
from skfairtest.sequential.stream import (
    BLOCKS,
    Stream,
    as_e,
    bounds_of,
    check_bounded,
    groups_frame,
    labels_of,
    looks_frame,
    pairs_frame,
    pending_frame,
    plain_time,
    positive_of,
    values_by_group,
    with_labels,
)
from skfairtest.tables import Sample, distinct_levels


@with_parameters
class SequentialFairnessTest(ReportMixin):
    """Test a stream for differences between groups, valid however often you look, if samples come as `blocks` assumes.

    With ``blocks="batches"``, membership of a batch must not depend on the outcomes in it: a batch that ends at the
    first selected person is not valid. Rates may drift from batch to batch. With ``blocks="queues"``, for samples that
    arrive one by one, arrivals may depend on all earlier outcomes but not on a sample's own; each group's samples have
    to be independent draws of one distribution.

    Null hypothesis of each pair of groups: in every block, the metric differs between them by no more than `margin`.
    The probability that a true null hypothesis is ever rejected, at any look, is at most `alpha` for all pairs and
    metrics together.

    Parameters
    ----------
    metric : str, Rate or list, default="selection_rate"
        Rates, criteria, and means of a value of each sample between known bounds, such as "brier_score"; predictions
        of "mean_prediction" and errors have to be between 0 and 1. Several metrics are one family.
    alpha : float, default=0.05
        The probability of ever rejecting a true null hypothesis.
    margin : float, default=0.0
        Differences up to this one are tolerated.
    blocks : {"auto", "queues", "batches"}, default="auto"
        The samples compared. "batches": those of both groups in a batch; a batch with only one of them adds nothing.
        "queues": the next sample of each group's queue (or several, see `groups`), in the order in which they are
        passed; each pair of groups proceeds separately, and samples wait until the other group has some. "auto":
        "queues" if the first batch is a single sample, "batches" otherwise.
    method : {"auto", "blocks", "betting"}, default="auto"
        "blocks": bets on every sample of a block, assumed independent. "betting": bets on the difference of a block's
        means; samples of a batch may be dependent. "auto": "blocks", whose evidence grows at least as fast.
    adjust : {"holm", "bonferroni", None}, default="holm"
        How e-values are adjusted for several pairs and metrics.
    pos_label : label, optional
        The positive label. None: 1 of {0, 1} or {-1, 1}, or True.
    groups : sequence or mapping, optional
        All groups that can come, tuples for several sensitive features; a mapping gives the samples of each in a block
        of queues, such as ``{"f": 1, "m": 9}`` (1 otherwise). None: those of the first batch with two or more, which
        share nine tenths of `alpha`; pairs with later groups share the rest.

    Attributes
    ----------
    e_value_ : float
        The evidence now: the largest adjusted e-value. It can fall. If you stop a stream of queues because of samples
        that wait, only `p_value_` is valid.
    p_value_ : float
        One over the largest adjusted e-value so far, at most 1: valid at any time.
    rejected_ : bool
        ``p_value_ <= alpha``: some look showed a significant disparity. It stays.
    rejected_at_ : int or None
        The look that showed the first one, counted from 1.
    concern_ : bool
        Whether any pair shows a significant disparity; the same as `rejected_`, but with ``adjust=None``.
    disparity_ : float
        Of the pair with the strongest evidence.
    confidence_interval_ : tuple of float
        Its confidence sequence now.
    confidence_sequence_ : DataFrame
        For each pair ``disparity`` (the mean difference within blocks), ``ci_low`` and ``ci_high``: if the disparity
        is constant, they contain it at all looks, for all pairs together, with probability at least ``1 - alpha``.
    comparisons_ : DataFrame
        The same with samples and values of both groups over all batches, ``e_value``, ``p_value`` (running),
        ``e_value_adjusted``, ``p_value_adjusted``, ``rejected_at``, ``n_uncompared`` (samples of both
        that were in no block: in queues they wait for the other group) and ``concern``.
    wealth_ : DataFrame
        Every look at which a pair had a block: ``look``, ``batch``, ``time``, the pair, its samples so far,
        ``disparity``, ``ci_low``, ``ci_high``, ``wealth`` (the e-value of the pair) and ``e_value_adjusted``.
    pending_ : DataFrame
        Batches that wait for their labels: ``batch``, ``time``, ``n``.
    by_group_ : DataFrame
        ``n`` and ``value`` of each group over all batches.
    batches_ : list of str
        The names of the batches added, as far as they have one.
    groups_, pos_label_, negative_labels_, blocks_, method_, adjust_ : object
        Groups, labels and settings in use; negative labels are all but the positive one.
    n_batches_, n_samples_ : int
        Batches and samples added, compared or not.

    See Also
    --------
    FairnessTest : One look at one sample.
    MonitorDisplay : Evidence and confidence sequence over time.

    Notes
    -----
    A block's e-value is a product over its samples of linear functions of their values, one for each of a grid of
    stakes (see `skfairtest.sequential.e_process`), chosen from finished blocks; wealth is the mean over stakes and both
    directions. By Ville's inequality it ever reaches ``1 / alpha`` with probability at most `alpha`. A batch of labels
    must come as a whole: labels that come early may differ from those that come late.

    The disparity tested is the one within blocks, so values over all batches can differ although it is 0. Queues
    compare a group's samples with those of another time if the other group comes more often: rates that drift look like
    a disparity.

    References
    ----------
    R. Turner, A. Ly and P. Grunwald (2024), Journal of Statistical Planning and Inference 230. B. Chugg et al. (2023),
    NeurIPS. I. Waudby-Smith and A. Ramdas (2024), JRSS B 86.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import SequentialFairnessTest
    >>> rng = np.random.default_rng(0)
    >>> test = SequentialFairnessTest()
    >>> for week in range(12):
    ...     sex = rng.choice(["f", "m"], 100)
    ...     hired = rng.random(100) < np.where(sex == "f", 0.2, 0.4)
    ...     test = test.partial_fit(y_pred=hired, sensitive_features=sex, time=week)
    >>> test.rejected_, test.rejected_at_, test.p_value_ < 0.05
    (True, 3, True)
    """

    estimator: ClassVar[None] = None  # type: ignore[misc]
    _display: ClassVar[str] = "MonitorDisplay"
    _not_written: ClassVar[tuple[str, ...]] = ("wealth_",)  # its stream has the same rows
    _reported: ClassVar[tuple[str, ...]] = (
        "e_value", "p_value", "rejected", "rejected_at", "concern", "disparity",
        "confidence_interval", "comparisons", "wealth", "pending", "by_group", "groups", "pos_label", "blocks",
        "method", "adjust", "n_batches", "n_samples",
    )  # fmt: skip

    comparisons_, wealth_, by_group_, pending_ = (Later() for _ in range(4))

    metric: Any = field(default="selection_rate", kw_only=False)
    alpha: float = 0.05
    margin: float = 0.0
    blocks: str = "auto"
    method: str = "auto"
    adjust: str | None = "holm"
    pos_label: Any = None
    groups: Sequence[Any] | Mapping[Any, int] | None = None

    def fit(
        self, *, y_true: Any = None, y_pred: Any, sensitive_features: Any = None, time: Any = None, name: Any = None
    ) -> Self:
        """Forget all batches, and take in a first one.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,), optional
            True labels; None: they come later.
        y_pred : array-like of shape (n_samples,)
            Predictions; scores for metrics of scores.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        time : str, number or date, optional
            When the batch is of.
        name : str or int, optional
            Its name.

        Returns
        -------
        self
            The test after one look.
        """
        self.__dict__.pop("_stream", None)
        return self.partial_fit(
            y_true=y_true, y_pred=y_pred, sensitive_features=sensitive_features, time=time, name=name
        )

    def partial_fit(
        self, *, y_true: Any = None, y_pred: Any, sensitive_features: Any = None, time: Any = None, name: Any = None
    ) -> Self:
        """Take in a batch, of any size; with queues its samples are in the order in which they came.

        Everything is passed by name, because true labels and predictions are easily exchanged.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,), optional
            True labels. None: they come later. The batch, which then needs a name, waits; when it is passed again with
            its labels it is added.
        y_pred : array-like of shape (n_samples,)
            Predictions; scores for metrics of scores.
        sensitive_features : array-like, frame or mapping
            The groups: one or several columns of length n_samples.
        time : str, number or date, optional
            When the batch is of, for displays.
        name : str or int, optional
            The name by which the batch is recognised. The same rows again under this name change nothing, with a
            warning; other rows are an error. Equal rows under another name are added, with a warning.

        Returns
        -------
        self
            The test after this look.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable, parameters were changed after the first batch, columns have other
            names than in earlier batches, or a batch has the name of one with other rows.

        Warns
        -----
        UserWarning
            If the batch was added already, or by another name, a group comes later than others, or a batch of one
            sample has none to compare it with.
        """
        settings, metrics = self._check()
        if sensitive_features is None:
            raise ParameterError("sensitive_features is missing: the groups to compare, one value per sample")
        name = None if name is None else str(name)
        stream: Stream = vars(self).get("_stream") or self._begun(metrics)
        names, waiting = stream.names, stream.waiting
        sample, ready = self._read(metrics, y_pred, y_true, sensitive_features, name, waiting)
        digest = "" if name is None else _digest(sample)
        if name in names:
            if names[name] != digest:
                raise ParameterError(
                    f"name {name!r} is that of a batch with other predictions or groups: give this batch another name"
                )
            if name not in waiting or y_true is None:
                still = " and waits for its labels" if name in waiting else ""
                warn(f"batch {name!r} was added already{still}: nothing was changed")
                return self
        elif digest and digest in names.values():
            other = next(each for each in names if names[each] == digest)
            warn(f"batch {name!r} has the same rows as batch {brief(other)}: both count")
        columns = _same_columns(sample, y_pred, y_true, stream.columns)
        sample = with_labels(sample, stream.labels, stream.n_samples)
        positive = positive_of(sample, ready, self.pos_label) if ready else getattr(self, "pos_label_", None)
        design = Design(sample, settings, (), (), positive, self.pos_label, ())
        found = {metric.name: values_by_group(design, metric) for metric in ready}
        if stream.blocks == "auto":
            stream.blocks = "queues" if sample.n_samples == 1 else "batches"
        late = stream.take(found, sample.group_labels, name, plain_time(time)) if ready else []
        left = [metric.name for metric in metrics if metric not in ready]
        returned = waiting.pop(name, None) is not None
        if left and not returned:
            waiting[name] = {"time": plain_time(time), "left": left, "n": sample.n_samples}
        if name is not None:
            names[name] = digest
        stream.labels |= labels_of(sample, metrics)
        stream.columns, stream.n_samples = columns, stream.n_samples + (0 if returned else sample.n_samples)
        self._stream, self.pos_label_ = stream, positive
        self._refresh()
        if sample.n_samples == 1 and self.blocks == "auto" and stream.blocks == "batches":
            warn(
                "blocks: the first batch had several samples, so batches are compared, and one sample has no other "
                "to be compared with; single samples are compared by a test with blocks='queues'",
            )
        if late:
            warn(
                f"groups: {enumerated([*map(label, late)])} came after the first comparison, and pairs with it share a "
                "small part of the level, which is kept for late groups. Name all groups beforehand, groups=[...], to "
                "give every pair the same",
            )
        return self

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | Any:
        """Write a record, from which `from_json` goes on.

        Parameters
        ----------
        path : str or path, optional
            The file to write, which is replaced as a whole; None: the text is returned.

        Returns
        -------
        str or None
            JSON. Its size does not depend on how many samples were compared; every batch adds its name, and a row of
            `wealth_` for each pair, and queues add the values that wait.

        Raises
        ------
        NotFittedError
            If no batch was added.
        ValueError
            If a parameter has no form in JSON: a metric that is an object.

        Examples
        --------
        >>> test = SequentialFairnessTest().partial_fit(
        ...     y_pred=[1, 0, 1, 1], sensitive_features=list("aabb"), name="May"
        ... )
        >>> again = SequentialFairnessTest.from_json(test.to_json())
        >>> again.e_value_ == test.e_value_
        True
        """
        check_is_fitted(self)
        names = [self.metric] if isinstance(self.metric, str) else self.metric
        if not is_sequence(names) or not all(isinstance(name, str) for name in names):
            raise ParameterError(
                f"metric must be a name, or a list of names, for a state in JSON; found {brief(self.metric)}"
            )
        return super().to_json(path)

    def _take(self, facts: dict[str, Any]) -> None:
        super()._take(facts)
        self._show()

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters: there is no estimator to hand on."""
        return BaseEstimator.__sklearn_clone__(self)  # type: ignore[no-any-return]

    # Inside ---------------------------------------------------------------------------------

    def _check(self) -> tuple[Settings, list[Metric]]:
        check_probability("alpha", self.alpha)
        check_choice("blocks", self.blocks, ("auto", *BLOCKS))
        check_choice("method", self.method, ("auto", *METHODS))
        check_choice("adjust", self.adjust, ("holm", "bonferroni", None))
        check_number("margin", self.margin, 0, 1)
        several = isinstance(self.groups, Mapping) or is_sequence(self.groups)
        if self.groups is not None and (not several or len(set(self.groups)) < 2):
            raise ParameterError(f"groups must list at least two groups, or be None; found {brief(self.groups)}")
        if self.groups is not None and not all(is_integer(n) and n > 0 for n in self._sizes().values()):
            raise ParameterError(f"groups must say how many samples a block has, 1 or more; found {brief(self.groups)}")
        given = {name: plain_value(value) for name, value in self.get_params().items()}
        changed = [name for name, value in given.items() if getattr(self, "_given", given)[name] != value]
        if changed and hasattr(self, "_stream"):
            raise ParameterError(f"{changed[0]} was changed after the first batch: use fit to begin anew, or a clone")
        metrics = resolve_metrics(self.metric)
        for metric in metrics:
            check_bounded(metric)
        return check_settings(confidence_level=1 - self.alpha), metrics

    def _read(
        self, metrics: Sequence[Metric], y_pred: Any, y_true: Any, sensitive_features: Any, name: str | None,
        waiting: Mapping[str, Any],
    ) -> tuple[Sample, list[Metric]]:  # fmt: skip
        """Read a batch; return it with the metrics that are added now."""
        y_pred, y_true = readers.one_column(y_pred), readers.one_column(y_true)
        reads = frozenset().union(*(metric.reads for metric in metrics))
        given = {"y_score" if "y_score" in reads and "y_pred" not in reads else "y_pred": y_pred}
        sample = Sample.from_predictions(y_true, sensitive_features=sensitive_features, **given)
        missing = "y_true" if y_true is None else None
        ready = [metric for metric in metrics if missing not in metric.reads]
        if name in waiting:
            assert name is not None
            ready = [metric for metric in metrics if metric.name in waiting[name]["left"]]
        elif len(ready) < len(metrics) and name is None:
            names = ", ".join(metric.name for metric in metrics if metric not in ready)
            raise ParameterError(
                f"y_true is missing, which {names} needs: pass it, or name the batch (name='May') and pass it again "
                "with its labels once they are known"
            )
        return sample, ready

    def _sizes(self) -> dict[Any, int]:
        """The numbers of samples of each group in a block of queues."""
        groups = self.groups
        return dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(() if groups is None else groups, 1)

    def _begun(self, metrics: Sequence[Metric]) -> Stream:
        """A stream without batches."""
        self._keep_parameters()
        return Stream(
            {metric.name: bounds_of(metric) for metric in metrics},
            float(self.alpha),
            float(self.margin),
            "blocks" if self.method == "auto" else self.method,
            self.adjust,
            self.blocks,
            None if self.groups is None else self._sizes(),
        )

    def _refresh(self) -> None:
        """Set the attributes of what is known now."""
        self.__dict__.pop("_kept", None)
        stream: Stream = self._stream
        self.n_samples_ = stream.n_samples
        self._show()
        self.e_value_ = float(as_e(stream.adjusted().max(initial=0.0)))
        self.p_value_ = float(np.exp(-stream.log_global))
        self.rejected_ = bool(self.p_value_ <= self.alpha)
        rejected = stream.rejected_at[~np.isnan(stream.rejected_at)]
        self.concern_, self.rejected_at_ = bool(len(rejected)), int(rejected.min()) if len(rejected) else None
        self.groups_, self.n_batches_, self.batches_ = list(stream.arrivals), stream.looks, list(stream.names)
        self.blocks_, self.method_, self.adjust_ = stream.blocks, stream.method, stream.adjust
        labels = distinct_levels([label for labels in stream.labels.values() for label in labels])
        self.negative_labels_ = readers.other_labels(labels, self.pos_label_)

    def _show(self) -> None:
        """Set the frames, which are made when they are read: a stream of single samples would make many."""
        self.comparisons_ = partial(pairs_frame, self._stream)
        self.wealth_ = partial(looks_frame, self._stream)
        self.by_group_ = partial(groups_frame, self._stream)
        self.pending_ = partial(pending_frame, self._stream)

    @property
    def confidence_sequence_(self) -> Any:
        """The disparity and its limits now, of every pair."""
        return self.comparisons_[["metric", "group", "other", "disparity", "ci_low", "ci_high"]]

    @property
    def disparity_(self) -> float:
        """The disparity of the pair with the strongest evidence."""
        return self._strongest()[0]

    @property
    def confidence_interval_(self) -> tuple[float, float]:
        """The confidence sequence of that pair now."""
        return self._strongest()[1:]

    def _strongest(self) -> tuple[float, float, float]:
        """Return the disparity and the limits of the pair with the strongest evidence."""
        if not len(self.comparisons_):
            return np.nan, np.nan, np.nan
        strongest = self.comparisons_.sort_values(["p_value_adjusted", "p_value"], kind="stable").iloc[0]
        disparity, low, high = (float(strongest[name]) for name in ("disparity", "ci_low", "ci_high"))
        return disparity, low, high

    def to_frame(self) -> Any:
        """Return every look as a flat frame.

        Returns
        -------
        DataFrame
            A copy of `wealth_`.
        """
        check_is_fitted(self)
        return self.wealth_.copy()

    def summary(self) -> str:
        """Say in one line whether any look so far has shown a significant disparity, for logs.

        Returns
        -------
        str
            The verdict of the report.
        """
        check_is_fitted(self)
        seen = f"{pluralize(self.n_batches_, 'batch', 'batches')} ({self.n_samples_:,} samples)"
        beyond = " beyond the margin" if self.margin else ""
        found, p = self.comparisons_[self.comparisons_["concern"]], smallest_p(self.p_value_, len(self.comparisons_))
        if len(found):
            return f"Significant disparity{beyond} in {seen}: first at look {int(found['rejected_at'].min())} ({p})."
        return f"No significant disparity{beyond} was detected in {seen} ({p}). This does not prove fairness."

    def _setup(self) -> Setup:
        margin = (-self.margin, self.margin) if self.margin else None
        return Setup(margin_bounds=margin, alpha=self.alpha, **words_of(resolve_metrics(self.metric)))

    def _made(self) -> Report:
        setup, rows = self._setup(), cells.records(self.comparisons_)
        block, metrics = "batch" if self.blocks_ == "batches" else "block", [*setup.sentences, *setup.descriptions]
        columns = (
            len(metrics) > 1 and cells.METRIC, cells.GROUP, cells.COMPARED_WITH,
            Column("samples", shows=lambda row: f"{row['n_group'] + row['n_other']:,}"),
            *cells.numbers(setup, difference="disparity", **{"from": "ci_low", "to": "ci_high"}),
            Column("e-value", shows=lambda row: number(row["e_value"])), cells.ADJUSTED_P, cells.VERDICT,
        )  # fmt: skip
        null = f"For each pair of groups, in every {block}: the difference in {enumerated([*map(label, metrics)])} is "
        null += f"at most {self.margin:g} in size. " if self.margin else "zero. "
        null += f"The probability that a true hypothesis is ever rejected is at most {100 * setup.alpha:g}%, "
        pending, alone = self.pending_, self.comparisons_[self.comparisons_["n_uncompared"] > 0]
        late = [(row.n, f"batch {label(row.batch)}: labels not yet received") for row in pending.itertuples()]
        pairs = [f"{label(row.group)} and {label(row.other)} ({label(row.metric)})" for row in alone.itertuples()]
        late += [
            (n, f"{pair}: {UNCOMPARED[self.blocks_]}") for n, pair in zip(alone["n_uncompared"], pairs, strict=True)
        ]
        return Report(
            title=f"Monitoring: {enumerated([metric_title(m.name) for m in resolve_metrics(self.metric)])}",
            verdict=f"{self.summary()} {ASSUMED[self.blocks_]}",
            concern=self.concern_,
            findings=tuple(_finding(setup, row, block) for row in rows if row["concern"]),
            hypotheses=(f"{null}however often the stream is looked at.",),
            figures=(_figure(setup, rows, self.wealth_),) if len(self.wealth_) else (),
            tables=(Table.of(columns, cells.barred(rows, setup), "Pairs of groups now; wealth_ has every look"),),
            parts=listed("Not compared", [f"{pluralize(int(n), 'sample')} of {whom}" for n, whom in late]),
        )


def _same_columns(sample: Sample, y_pred: Any, y_true: Any, before: Mapping[str, str | None]) -> dict[str, str | None]:
    """The names of the columns of all batches; unnamed ones match any."""
    features = [column.name for column in sample.sensitive]
    names = {"y_pred": series_name(y_pred), "y_true": series_name(y_true)}
    names |= {f"sensitive_features[{i}]": name for i, name in enumerate(features)}
    named = {role: name for role, name in names.items() if name and not re.fullmatch(r"sensitive_feature_\d+", name)}
    if before and len(before) != len(names):
        raise ParameterError(f"sensitive_features of the batch: {len(features)} columns, and {len(before) - 2} before")
    for role, name in named.items():
        if before.get(role) not in (None, name):
            raise ParameterError(
                f"{role} of the batch is {name!r}, and of earlier batches it was {before[role]!r}: other columns "
                "are another stream; begin another test"
            )
    return {**dict.fromkeys(names), **before, **named}


def _digest(sample: Sample) -> str:
    """A digest of the predictions and the groups of a batch, in their order."""
    columns = [*(sample.columns[name] for name in ("y_pred", "y_score") if name in sample.columns), *sample.sensitive]
    frame = pd.DataFrame(
        {
            number: np.array([*map(str, column.levels)], dtype=object)[column.codes]
            if isinstance(column, readers.Column)
            else column.values
            for number, column in enumerate(columns)
        }
    )
    return hashlib.sha256(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()).hexdigest()[:16]


#: What has to be true of a stream, and why a sample may have been compared with no other.
ASSUMED = {
    "batches": "Valid if a batch's members were not chosen by their outcomes.",
    "queues": "Valid also where outcomes decide who comes next, if the samples of each group are independent draws.",
}
UNCOMPARED = {"batches": "the other group was missing from their batches", "queues": "they wait for the other group"}


def _finding(setup: Setup, row: Mapping[str, Any], block: str) -> str:
    """Say what is known of a pair that differs."""
    how, metric = written(setup, row), metric_title(row["metric"])
    limits = span(how.disparity, row["ci_low"], row["ci_high"], setup.margin_bounds or (0.0,))
    return (
        f"{metric}: {label(row['group'])} minus {label(row['other'])} is {how.disparity(row['disparity'])}{how.unit} "
        f"within a {block} ({100 * (1 - setup.alpha):g}% confidence sequence {limits}); significant since look "
        f"{int(row['rejected_at'])}, adjusted {equals_p(row['p_value_adjusted'])}."
    )


def _figure(setup: Setup, rows: Sequence[Mapping[str, Any]], wealth: pd.DataFrame) -> Figure:
    """Draw the pair with the strongest evidence, look by look."""
    row, keys = min(rows, key=lambda row: (row["p_value_adjusted"], row["p_value"])), ["metric", "group", "other"]
    same = wealth[(wealth[keys] == [row[key] for key in keys]).all(axis=1)].sort_values("look", kind="stable")
    scale, unit = (100.0, " in percentage points") if setup.is_share(row["metric"]) else (1.0, "")
    numbers = {"y": scale * same["disparity"], "low": scale * same["ci_low"], "high": scale * same["ci_high"]}
    what = f"{metric_title(row['metric'])}: {label(row['group'])} minus {label(row['other'])}"
    caption = f"{what}, the pair with the strongest evidence. The band is its confidence sequence, the line equality."
    return Figure("curve", what, caption, values_of({"x": same["look"], **numbers}), "look", f"difference{unit}")
