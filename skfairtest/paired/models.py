"""Several candidates against one baseline: which of them changes a disparity by more than chance."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from skfairtest._utils.checks import check_probability
from skfairtest._utils.errors import ParameterError, answering_guesses, brief
from skfairtest._utils.text import enumerated, label
from skfairtest.comparisons.frames import written_labels
from skfairtest.inference.multiplicity import holm
from skfairtest.paired.fairness import PairedFairnessTest
from skfairtest.paired.record import PairedRecord
from skfairtest.paired.report import models_table, paired_report
from skfairtest.report.cells import records
from skfairtest.report.mixin import Pages, library_versions, positive_label
from skfairtest.report.report import Column, Report
from skfairtest.report.sentences import equals_p

#: What the level of several candidates holds for.
TOGETHER = (
    "Candidates are judged by Holm's method over all of them. Intervals, and what follows about single comparisons of "
    "a candidate, hold for all candidates together. To choose a candidate by these people, and to test it, takes other "
    "people."
)


@dataclass(frozen=True)
class ModelComparison(Pages):
    """What `compare_models` returns.

    Parameters
    ----------
    baseline : str
        The name of the model that all others were compared with.
    tests : mapping of str to PairedFairnessTest
        The fitted test of each candidate (model B) against the baseline (model A).
    results : DataFrame
        One row per candidate, with its strongest evidence: ``metric``, ``group``, ``other``, ``disparity_a`` (of the
        baseline), ``disparity_b``, their ``difference`` with ``ci_low`` and ``ci_high``, ``p_value`` (over this
        candidate's comparisons), ``p_value_adjusted`` (over the candidates too) and ``significant``
        (with ``alternative="fairer"``: certified).
    confidence_level : float
        Of all intervals together.
    alternative : {"two-sided", "fairer"}
        As of `PairedFairnessTest`.
    """

    baseline: str
    tests: Mapping[str, PairedFairnessTest] = field(repr=False)
    results: pd.DataFrame = field(repr=False)
    confidence_level: float = 0.95
    alternative: str = "two-sided"
    _given: dict[str, Any] = field(default_factory=dict, repr=False)
    _versions: dict[str, str] = field(default_factory=lambda: dict(library_versions()), repr=False)

    @property
    def concern_(self) -> bool:
        """Whether a candidate differs significantly; with ``alternative="fairer"``, whether one was not certified."""
        significant = self.results["significant"]
        return bool(not significant.all() if self.alternative == "fairer" else significant.any())

    def to_frame(self) -> pd.DataFrame:
        """The results, with a column for the candidate.

        Returns
        -------
        DataFrame
            In which labels of several features are one text each.
        """
        return written_labels(self.results.reset_index())

    def _facts(self) -> dict[str, Any]:
        """The attributes that a record keeps."""
        return {
            "tests": {},
            **{name: getattr(self, name) for name in ("baseline", "results", "confidence_level", "alternative")},
        }

    def __str__(self) -> str:
        """Return the verdict and sentences, then the tables."""
        return self.to_text(details=True).rstrip("\n")

    def _whole(self) -> Report:
        """The report of each candidate, and above several of them what they show together."""
        tests = self.tests
        found = {name: test._record((self.baseline, name)) for name, test in tests.items()}
        parts = [replace(paired_report(test, found[name]), title=label(name)) for name, test in tests.items()]
        made = parts[0] if len(parts) == 1 else replace(self._together(found), parts=tuple(parts))
        cautions = dict.fromkeys(f"Caution: {caution}" for test in tests.values() for caution in test._cautions)
        first = next(iter(tests.values()))
        labels = positive_label(first.pos_label_, None, first.negative_labels_)
        title = f"Models compared with {label(self.baseline)}"
        return replace(made, title=title, remarks=(*labels, *cautions, *made.remarks))

    def _together(self, found: Mapping[str, PairedRecord]) -> Report:
        """The report that stands above those of several candidates."""
        results, fairer = self.results, self.alternative == "fairer"
        names, adjusted = [str(name) for name in results.index[results["significant"]]], results["p_value_adjusted"]
        verb = (
            ("is", "are")[len(names) > 1],
            ("significantly different, in a disparity, from", "certified, compared with")[fairer],
        )
        p = equals_p(adjusted.max() if fairer else adjusted.min())
        told = f"{enumerated([*map(label, names)]) if names else 'none'} {' '.join(verb)} {label(self.baseline)}"
        columns = {"disparity_a": "value_a", "disparity_b": "value_b"}
        frame = results.rename(columns=columns).assign(concern=results["significant"] != fairer, stratum="")
        record = replace(next(iter(found.values())), names=(self.baseline, "candidate"))
        caption, first = "The strongest evidence about each candidate", Column("candidate", "name", shows="candidate")
        return Report(
            verdict=f"Of {len(results):,} candidates, {told} ({'largest' if fairer else 'smallest'} adjusted {p}).",
            concern=self.concern_,
            remarks=(TOGETHER,),
            findings=tuple(one.verdict for name, one in found.items() if one.concern != fairer and name in names),
            tables=(models_table(record, records(frame.reset_index()), caption, first),),
        )


@answering_guesses
def compare_models(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any = None,
    y: Any = None,
    *,
    baseline: str | None = None,
    sensitive_features: Any,
    control_features: Any = None,
    clusters: Any = None,
    predict_params: dict[str, Any] | None = None,
    confidence_level: float = 0.95,
    **params: Any,
) -> ModelComparison:
    """Compare the disparities of several candidates with those of one baseline, on the same people.

    Null hypothesis of each candidate: its disparities are those of the baseline (with ``alternative="fairer"``: they
    are not smaller in size). p-values are adjusted by Holm's method over the comparisons of each candidate, and then
    over the candidates; intervals are simultaneous over both. To choose among candidates and to test the chosen one
    takes different people.

    Parameters
    ----------
    models : mapping of str to model, or sequence of models
        Fitted estimators; without `X`, the predictions of each model, of shape (n_samples,). Models in a sequence are
        called after their place: ``"model 0"``, ``"model 1"``.
    X : array-like, optional
        What models predict from; None: `models` are predictions.
    y : array-like of shape (n_samples,), optional
        True labels; None where the metrics need none.
    baseline : str, optional
        The name of the model that the others are compared with; None: the first.
    sensitive_features, control_features, clusters : array-like, frame or mapping
        As of `PairedFairnessTest`.
    predict_params : dict, optional
        Further arguments of the models' ``predict``, as of `FairnessTest.fit`.
    confidence_level : float, default=0.95
        Of all intervals together; one minus it is the familywise level.
    **params
        Other parameters of `PairedFairnessTest`.

    Returns
    -------
    ModelComparison
        Its `results` and the fitted `tests`.

    Raises
    ------
    ValueError
        If there are fewer than two models, or the baseline is none of them.

    References
    ----------
    S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from skfairtest import compare_models
    >>> sex, place = np.repeat(["f", "m"], 100), np.tile(np.arange(100), 2)
    >>> found = compare_models(
    ...     {
    ...         "today": (place < np.where(sex == "f", 30, 50)).astype(int),
    ...         "new": (place < np.where(sex == "f", 45, 50)).astype(int),
    ...         "newer": (place < np.where(sex == "f", 31, 51)).astype(int),
    ...     },
    ...     sensitive_features={"sex": sex},
    ...     metric="selection_rate",
    ... )
    >>> found.results[["disparity_a", "disparity_b"]].round(2).to_numpy().tolist()
    [[-0.2, -0.05], [-0.2, -0.2]]
    >>> found.results["significant"].tolist()
    [True, False]
    """
    if not isinstance(models, Mapping | Iterable) or isinstance(models, str):
        raise ParameterError(
            f"models must be a sequence of models, or a mapping of names to them; found {brief(models)}"
        )
    named = dict(models) if isinstance(models, Mapping) else {f"model {k}": model for k, model in enumerate(models)}
    if len(named) < 2:
        raise ParameterError(f"models must hold a baseline and at least one candidate; found {len(named)}")
    first = next(iter(named)) if baseline is None else baseline
    if not isinstance(first, Hashable) or first not in named:
        raise ParameterError(
            f"baseline={brief(baseline)} is none of the models, which are {', '.join(map(repr, named))}"
        )
    check_probability("confidence_level", confidence_level)
    columns = {
        "sensitive_features": sensitive_features, "control_features": control_features, "clusters": clusters,
    }  # fmt: skip
    alpha, candidates = 1 - confidence_level, [name for name in named if name != first]
    params["confidence_level"] = 1 - alpha / len(candidates)
    tests = {}
    for name in candidates:
        if X is None:
            tests[name] = PairedFairnessTest.from_predictions(y, named[first], named[name], **columns, **params)
        else:
            tests[name] = PairedFairnessTest(named[first], named[name], **params).fit(
                X, y, **columns, predict_params=predict_params
            )
    rows = [_row(test) for test in tests.values()]
    results = pd.DataFrame(rows, index=pd.Index(candidates, name="candidate"))
    adjusted = np.exp(holm(np.log([test.p_value_ for test in tests.values()])))
    results["p_value_adjusted"] = adjusted
    results["significant"] = adjusted <= alpha * (1 + 1e-12)
    return ModelComparison(first, tests, results, confidence_level, params.get("alternative", "two-sided"))


def _row(test: PairedFairnessTest) -> dict[str, Any]:
    """Return the strongest evidence of one candidate."""
    row = test.comparisons_.iloc[test._leading]
    of_a, of_b = row["value_other"], row["value_group"]
    if len(test.disparities_):  # in one group both are rates, and no disparities
        of_a, of_b = test.disparities_.iloc[test._leading][["disparity_a", "disparity_b"]]
    labels: dict[str, Any] = {name: row[name] for name in ("metric", "group", "other")}
    limits = {name: row[name] for name in ("ci_low", "ci_high")}
    both = {"disparity_a": of_a, "disparity_b": of_b, "difference": row["disparity"]}
    return labels | both | limits | {"p_value": test.p_value_}
