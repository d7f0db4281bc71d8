"""What every fitted test can be turned into: a text, a page, a part of a notebook, plain data and a record."""

from __future__ import annotations

import os
import platform
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import Answering, ModelTest
from skfairtest._utils.errors import GUESSED, ParameterError, brief
from skfairtest._utils.files import write_text
from skfairtest._utils.text import enumerated, label
from skfairtest._version import __version__
from skfairtest.report import record
from skfairtest.report.report import Report, rewritten
from skfairtest.report.sentences import in_unit
from skfairtest.report.text import markdown, text

#: What rows are called unless a test says so, and the columns that hold names of the data.
PEOPLE, NAMED = "people", ["feature", "metric", "group", "other", "stratum", "subgroup", "compared_with", "category"]
#: Libraries whose versions may change a number, or a drawing where it is installed.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "fairlearn", "matplotlib")


#: Where the rest of a long report is.
REST = "to_text(details=True), or to_html('report.html') as a page; comparisons_ and by_group_ are frames."


class Pages(Answering):
    """What is written as JSON, as a section of a model card, and as a page of its own."""

    #: The settings, and the versions of what computed the numbers.
    _given: dict[str, Any]
    _versions: dict[str, str]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Name what to type for a frame's writers and for attributes that other packages have."""
            frames = f"to_frame().{name}(...)" if name.startswith("to_") and hasattr(pd.DataFrame, name) else None
            if (instead := GUESSED.get(name, frames)) is not None:
                message = f"{type(self).__name__!r} object has no attribute {name!r}: write {instead}"
                raise AttributeError(message, name=name, obj=self)
            return object.__getattribute__(self, name)

    @abstractmethod
    def _whole(self) -> Report:
        """Make the report."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """The attributes that a record keeps."""

    def _report(self) -> Report:
        """The report: made now, or that of the record that was read."""
        report: Report = record.decoded(vars(self)["_kept"]) if "_kept" in vars(self) else self._whole()
        return report

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | Any:
        """Write a record as JSON: settings, report, frames and a checksum.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.

        Returns
        -------
        str or None
            ASCII text that any reader of JSON takes.

        Raises
        ------
        NotFittedError
            If the test is not fitted.

        Examples
        --------
        >>> import json
        >>> from skfairtest import FairnessTest
        >>> test = FairnessTest.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features=list("ffmm"), metric="selection_rate"
        ... )
        >>> record = json.loads(test.to_json())
        >>> (
        ...     record["facts"]["p_value_"] == test.p_value_,
        ...     list(record["tables"]["comparisons_"]["columns"])[:2],
        ... )
        (True, ['metric', 'group'])
        """
        report, facts, tables = record.encoded(self._report()), {}, {}
        for name, value in self._facts().items():
            if isinstance(value, pd.DataFrame):
                tables[name] = record.table_of(value)
            elif name not in ("_versions", "_given", "_kept"):
                facts[name] = record.encoded(value)
        known = {"test": type(self).__name__, "versions": self._versions, "parameters": self._given, "report": report}
        return write_text(record.write_record({**known, "tables": tables, "facts": facts}), path)

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str]) -> Self:
        """Read a test that `to_json` wrote, with its attributes, frames, reports and pictures.

        Nothing is recomputed. What needs the people (`sensitivity`, new breaking points, a plan) needs another fit.

        Parameters
        ----------
        source : str, bytes or path
            The text, or the ``pathlib.Path`` of its file.

        Returns
        -------
        test
            The fitted test, without its estimator and ``null_distribution_``; objects among parameters are replaced by
            their names.

        Raises
        ------
        ValueError
            If it is not such a text, was changed since, or was written in another version's format.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> test = FairnessTest.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features=list("ffmm"), metric="selection_rate"
        ... )
        >>> str(FairnessTest.from_json(test.to_json())) == str(test)
        True
        """
        document = record.read_record(source, cls.__name__)
        test = cls.__new__(cls)
        facts = {name: record.decoded(value) for name, value in document["facts"].items()}
        frames = {name: record.frame_from(table) for name, table in document["tables"].items()}
        kept = {"_versions": document["versions"], "_given": document["parameters"]}
        test._take({**facts, **frames, **kept, "_kept": document["report"]})
        return test

    def _take(self, facts: dict[str, Any]) -> None:
        self.__dict__.update(facts)

    def to_text(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | Any:
        """Write the report as plain text, as ``print`` shows it.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            Whether to write everything, with every table row; otherwise audits show only the verdict, the groups at a
            glance, and the findings.

        Returns
        -------
        str or None
            Lines, with a line feed after the last one.
        """
        return write_text(text(self._report(), details=details, rest=REST), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | Any:
        """Write a section for a model card.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            As in `to_text`.

        Returns
        -------
        str or None
            Markdown, in which every name is text.
        """
        return write_text(markdown(self._report(), details=details), path)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | Any:
        """Write the report as one self-contained page that needs no network.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            Whether printing includes what a screen folds up: values by group and long tables. A screen shows the same
            page either way.

        Returns
        -------
        str or None
            HTML.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is not installed.
        """
        report = self._report()
        from skfairtest.report.html import page

        return write_text(page(report, details=details), path)


class ReportMixin(Pages, ModelTest):
    """A test with a report: a class says which attributes its plain data have, and fills the report in."""

    #: Fitted attributes of ``to_dict``, without the underscore; those that are missing are left out.
    _reported: ClassVar[tuple[str, ...]] = ()
    #: The display that draws it, which is in an outer layer.
    _display: ClassVar[str] = "DisparityDisplay"
    #: Attributes that a record does not hold.
    _not_written: ClassVar[tuple[str, ...]] = ("null_distribution_",)
    #: What rows of the data are called.
    unit: str = PEOPLE
    #: What makes the predictions of a model doubtful.
    _cautions: tuple[str, ...] = ()

    @abstractmethod
    def _made(self) -> Report:
        """Make the report of the fitted test."""

    def _whole(self) -> Report:
        check_is_fitted(self)
        made = self._made()
        negative = getattr(self, "negative_labels_", ())
        labels = [] if made.headed else positive_label(getattr(self, "pos_label_", None), None, negative)
        remarks = (*labels, *map("Caution: {}".format, self._cautions), *made.remarks)
        made = replace(made, title=made.title or type(self).__name__, remarks=remarks)
        if self.unit != PEOPLE:
            write = partial(in_unit, unit=self.unit, names=names_of(vars(self)))
            made = replace(rewritten(made, write), title=made.title, reproduce=made.reproduce)
        return made

    def _facts(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in vars(self) if name not in self._not_written}
        for name, value in self.get_params().items():
            found[name] = value if record.is_recorded(value) else self._given.get(name)
        return {**found, **dict.fromkeys(self._models)}

    def plot(self, *, ax: Any = None, **params: Any) -> Any:
        """Draw the fitted test.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **params
            Further arguments of the display's ``from_test``.

        Returns
        -------
        Display
            Of tests of groups a `DisparityDisplay`, of a stream a `MonitorDisplay`, of individual fairness a
            `LossRatioDisplay`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the test is not fitted.
        """
        check_is_fitted(self)
        return getattr(import_module("skfairtest"), self._display).from_test(self, ax=ax, **params)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain Python, for logs and experiment trackers such as MLflow.

        Returns
        -------
        dict
            ``test`` (the class), ``versions`` (of skfairtest, Python and libraries), ``parameters`` (all but ``n_jobs``
            and ``verbose``; objects by their names), and each fitted attribute that holds a number, a verdict or a
            frame, without its underscore: of all tests ``p_value``, ``rejected``, ``concern``, ``statistic``,
            ``confidence_interval``, ``n_samples`` and ``excluded``; of groups and correlations also ``disparity``,
            ``p_value_interval``, ``comparisons``, ``method``, ``adjust``, ``n_resamples`` and ``pos_label``; of groups
            also ``by_group``, ``groups``, ``variance``, ``within`` and (with "equivalence") ``equivalence_interval``;
            of individual fairness also ``verdict``, ``standard_error``, ``lower_bound``, ``traces`` and
            ``solver_report``, but nothing about single people (see `to_frame`). A frame is a list with a dict for each
            row. All values are text, numbers, truth values, None, lists or dicts: undefined numbers are None, infinite
            ones "inf" and "-inf", tuples lists.

        Raises
        ------
        NotFittedError
            If the test is not fitted.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> test = FairnessTest.from_predictions(
        ...     None,
        ...     [1, 1, 1, 1, 0, 0, 0, 0],
        ...     sensitive_features={"sex": list("ffffmmmm")},
        ...     metric="selection_rate",
        ... )
        >>> found = test.to_dict()
        >>> round(found["p_value"], 4), found["concern"], found["parameters"]["metric"]
        (0.0078, True, 'selection_rate')
        >>> found["by_group"][0]["group"], found["by_group"][0]["value"]
        ('f', 1.0)
        >>> found["comparisons"][0]["disparity"]
        1.0
        """
        check_is_fitted(self)
        known = {"test": type(self).__name__, "versions": dict(self._versions), "parameters": dict(self._given)}
        return known | {name: record.plain_value(value) for name, value in self._found().items()}

    def _keep_parameters(self) -> None:
        """Keep what this fit was given: parameters may be set later."""
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise ParameterError(f"unit must be a plural noun, such as 'answers'; found {brief(self.unit)}")
        self._versions = dict(library_versions())
        self.__dict__.pop("_kept", None)
        without = (*self._models, "n_jobs", "verbose")
        models = {name: getattr(self, name) for name in self._models}
        self._given = {
            **{name: None if model is None else type(model).__name__ for name, model in models.items()},
            **{name: record.plain_value(value) for name, value in self.get_params().items() if name not in without},
        }

    def _found(self) -> dict[str, Any]:
        return {name: getattr(self, f"{name}_") for name in self._reported if hasattr(self, f"{name}_")}

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the report in a notebook, without jinja2 as text; before `fit`, the parameters."""
        if not hasattr(self, "p_value_"):
            return dict(super()._repr_mimebundle_(**kwargs))
        try:
            from skfairtest.report.html import fragment
        except ImportError:
            return {"text/plain": str(self)}
        return {"text/plain": str(self), "text/html": fragment(self._report())}

    def _repr_html_(self) -> str | None:
        """The HTML that a notebook shows; None where there is none."""
        return self._repr_mimebundle_().get("text/html")

    def __str__(self) -> str:
        """Return the verdict and the findings in sentences, then the tables; before `fit`, the parameters."""
        if not hasattr(self, "p_value_"):
            return repr(self)
        return self.to_text().rstrip("\n")


def names_of(fitted: Mapping[str, Any]) -> set[str]:
    """The names of the data in what a fitted test holds: of features, metrics, groups, strata and subgroups."""
    held = [*fitted.values(), getattr(fitted.get("scan_"), "subgroups_", None)]
    frames = [value for value in held if isinstance(value, pd.DataFrame)]
    shown: list[Any] = [frame[name] for frame in frames for name in NAMED if name in frame]
    shown += [level for frame in frames for level in (frame.index.names, frame.index.to_flat_index())]
    features = [getattr(fitted.get("_setup"), name, "") for name in ("features", "controls")]
    parts = (part for values in shown for each in values for part in (each if isinstance(each, tuple) else (each,)))
    return {name for part in [*parts, *features] for name in str(part).split(" x ")}


def positive_label(pos_label: Any, means: str | None = None, negative: Sequence[Any] = ()) -> list[str]:
    """Say which label is the positive one, if there is one, what it means, and which several labels are negative."""
    if pos_label is None:
        return []
    meaning, others = f" ({label(means)})" if means else "", [label(record.plain_value(other)) for other in negative]
    counted = f"; {enumerated(others, most=5)} count as negative" if len(others) > 1 else ""
    return [f"The positive label is {label(record.plain_value(pos_label))}{meaning}{counted}."]


@cache
def library_versions() -> Mapping[str, str]:
    """Return the versions of skfairtest, Python and the libraries that computed the numbers."""
    found = {"skfairtest": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):  # an extra that is not installed
            found[name] = version(name)
    return MappingProxyType(found)
