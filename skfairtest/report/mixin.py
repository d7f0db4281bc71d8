"""What every fitted test can be turned into: a text, a page, a part of a notebook, plain data and JSON.

Its JSON holds its state, from which the test is put together again.
"""

from __future__ import annotations

import json
import math
import os
import platform
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Self, overload

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfairtest._utils.base import ModelTest, frame_of, parts_of, tagged, untagged
from skfairtest._utils.errors import ParameterError
from skfairtest._utils.files import checksum, write_text
from skfairtest._utils.text import enumerated, label
from skfairtest._version import __version__
from skfairtest.report.document import Block, Heading, Paragraph, first_part, shortened
from skfairtest.report.plain import document_of, plain_value
from skfairtest.report.skeleton import sections
from skfairtest.report.text import markdown, plain


def written(value: Any) -> Any:
    """A value as JSON has it: what JSON has no form for as an object with its kind as the only key.

    Raises
    ------
    ValueError
        If it holds an object that is not of this package.

    Examples
    --------
    >>> written((1, float("inf"), {"a": None}))
    {'tuple': [1, {'number': 'inf'}, {'dict': [['a', None]]}]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, list):
        return [written(each) for each in value]
    if isinstance(value, tuple | frozenset):
        return {"tuple" if isinstance(value, tuple) else "set": [written(each) for each in value]}
    if isinstance(value, Mapping):
        return {"dict": [[written(key), written(each)] for key, each in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, list(value.shape), written(value.ravel().tolist())]}
    if isinstance(value, pd.DataFrame):
        return {"frame": written(parts_of(value))}
    if isinstance(value, FunctionType):
        return {"function": _place(value)}
    if is_dataclass(value):
        return {
            "object": [_place(type(value)), written({each.name: getattr(value, each.name) for each in fields(value)})]
        }
    return {"label": tagged(value)}


def read(value: Any) -> Any:
    """What `written` has written.

    Examples
    --------
    >>> read(written({"a": (1, float("inf"))}))
    {'a': (1, inf)}
    """
    if isinstance(value, list):
        return [read(each) for each in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "object":
        return _found(held[0], type)(**read(held[1]))
    if kind == "array":
        return np.array(read(held[2]), dtype=held[0]).reshape(held[1])
    readers: dict[str, Any] = {
        "number": float,
        "tuple": lambda each: tuple(read(each)),
        "set": lambda each: frozenset(read(each)),
        "dict": lambda each: {read(key): read(one) for key, one in each},
        "frame": lambda each: frame_of(read(each)),
        "function": lambda each: _found(each, FunctionType),
        "label": untagged,
    }
    return readers[kind](held)


def _place(thing: Any) -> str:
    """Where a function or a class of this package is found."""
    place = f"{thing.__module__}:{thing.__qualname__}"
    if not place.startswith("skfairtest.") or "<" in place:
        raise ValueError(f"{thing.__qualname__} is not of this package")
    return place


def _found(place: str, kind: type) -> Any:
    """The function, or the class of plain fields, at a place of this package; nothing else is made."""
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name) if module.startswith("skfairtest.") else None
    if not isinstance(found, kind) or found.__module__ != module or (kind is type and not is_dataclass(found)):
        raise ValueError(f"{place!r} is no {kind.__name__} of a state")
    return found


#: How many labels a sentence names.
MOST_LABELS = 5
#: Libraries whose versions may change a number, or a drawing where it is installed.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "fairlearn", "matplotlib")


#: Where the rest of a long report is.
REST = "to_text(details=True), or to_html('report.html') as a page; comparisons_ and by_group_ are frames."


class Pages:
    """What is written as JSON, as a section of a model card, and as a page of its own."""

    #: Which attribute has the rows that a short table leaves out.
    _all: ClassVar[str] = "comparisons_ has all"

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The results as plain Python."""

    @abstractmethod
    def _document(self) -> Sequence[Block]:
        """Compose the report, the verdict first."""

    def _shown(self) -> list[Block]:
        """Compose what comes first, with the first rows of tables."""
        return shortened(first_part(self._document(), REST), self._all)

    @abstractmethod
    def _title(self) -> str:
        """What the page is about."""

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> None: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write what `to_dict` returns as JSON; a test also what `from_json` reads.

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
        >>> json.loads(test.to_json())["p_value"] == test.to_dict()["p_value"]
        True
        """
        return write_text(json.dumps(self._written(), indent=2, allow_nan=False) + "\n", path)

    def _written(self) -> dict[str, Any]:
        """The content of JSON."""
        return self.to_dict()

    @overload
    def to_text(self, path: None = None, *, details: bool = False) -> str: ...
    @overload
    def to_text(self, path: str | os.PathLike[str], *, details: bool = False) -> None: ...
    def to_text(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | None:
        """Write the report as plain text, as ``print`` shows it.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            Whether all of it is written, with every row of the tables; otherwise, of an audit, what comes first: the
            verdict, the groups at a glance, and the findings.

        Returns
        -------
        str or None
            Lines, with a line feed after the last one.
        """
        return write_text(plain(self._document() if details else self._shown()), path)

    @overload
    def to_markdown(self, path: None = None, *, details: bool = False) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str], *, details: bool = False) -> None: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | None:
        """Write a section for a model card.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            Whether tables have every row; otherwise the first ones, which have the strongest evidence.

        Returns
        -------
        str or None
            Markdown, in which every name is text.
        """
        return write_text(markdown(self._document(), details=details), path)

    @overload
    def to_html(self, path: None = None, *, details: bool = False) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str], *, details: bool = False) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None, *, details: bool = False) -> str | None:
        """Write the report as one page that needs nothing else, and no network.

        Parameters
        ----------
        path : str or path, optional
            The file to write; None: the text is returned.
        details : bool
            Whether all of it is printed: also what a screen folds up, the values by group and the long tables of
            comparisons. A screen shows the same page either way.

        Returns
        -------
        str or None
            HTML.

        Raises
        ------
        ImportError
            If jinja2 or matplotlib is not installed.
        """
        blocks = self._page()
        from skfairtest.report.html import page

        return write_text(page(blocks, details=details), path)

    def _page(self) -> Sequence[Block]:
        """Compose the page: the report below a title."""
        report = [replace(one, level=2) if isinstance(one, Heading) else one for one in self._document()]
        return [Heading(self._title(), 1), *sections(report)]


class ReportMixin(Pages, ModelTest):
    """A test whose report is a document: a class says which attributes its plain data have, and composes the blocks."""

    #: Fitted attributes of ``to_dict``, without the underscore; those that are missing are left out.
    _reported: ClassVar[tuple[str, ...]] = ()
    #: The display that draws it, which is in an outer layer.
    _display: ClassVar[str] = "DisparityDisplay"
    #: Whether its reports show single people, whom its JSON does not hold.
    _shows_people: ClassVar[bool] = False
    #: Attributes that JSON does not hold.
    _not_written: ClassVar[tuple[str, ...]] = ("null_distribution_",)
    #: What makes the predictions of a model doubtful.
    _cautions: tuple[str, ...] = ()

    @abstractmethod
    def _blocks(self) -> Sequence[Block]:
        """Compose the report of the fitted test, the verdict first."""

    def _document(self) -> Sequence[Block]:
        """Return the report with the positive label and cautions below the verdict."""
        check_is_fitted(self)
        labels = positive_label(getattr(self, "pos_label_", None), negative=getattr(self, "negative_labels_", ()))
        said = [*labels, *map("Caution: {}".format, self._cautions)]
        return below_verdict(self._blocks(), said)

    def _title(self) -> str:
        return type(self).__name__

    def _written(self) -> dict[str, Any]:
        """Add the state, unless it holds people or objects that JSON has no form for, and a checksum."""
        document = self.to_dict()
        document["state"] = None
        state = {name: value for name, value in self.__getstate__().items() if name not in self._not_written}
        for name, value in self.get_params().items():
            # Objects as their names: a test that was read is not fitted again.
            plain_one = value if isinstance(value, tuple) else self._given.get(name, value)
            state[name] = None if name in self._models else plain_one
        with suppress(ValueError):  # of objects of the caller
            document["state"] = None if self._shows_people else json.dumps(written(state), separators=(",", ":"))
        return {**document, "checksum": checksum(document)}

    @classmethod
    def from_json(cls, source: str | bytes | os.PathLike[str]) -> Self:
        """Read a test that `to_json` wrote, as it was fitted: its frames, numbers and reports are the same.

        Parameters
        ----------
        source : str, bytes or path
            The text, or a path object (``pathlib.Path``) of its file.

        Returns
        -------
        test
            The fitted test, without its estimator and without ``null_distribution_``; parameters that are objects are
            their names.

        Raises
        ------
        ValueError
            If it is not such a text, was damaged or edited, or holds no state: with a metric or labels of types of your
            own, and for `IndividualFairnessTest`, whose reports show people. Keep these with pickle or skops.

        Examples
        --------
        >>> from skfairtest import FairnessTest
        >>> test = FairnessTest.from_predictions(
        ...     None, [1, 1, 0, 0], sensitive_features=list("ffmm"), metric="selection_rate"
        ... )
        >>> str(FairnessTest.from_json(test.to_json())) == str(test)
        True
        """
        document = document_of(Path(source).read_bytes() if isinstance(source, os.PathLike) else source)
        name = cls.__name__
        if not isinstance(document, dict) or document.get("test") != name or "checksum" not in document:
            raise ParameterError(f"source must be what {name}.to_json writes")
        if document.pop("checksum") != checksum(document):
            raise ParameterError(f"source was damaged or edited: its checksum is not that of its {name}")
        if document["state"] is None:
            raise ParameterError(
                f"source holds no state of its {name}, which has objects or labels of types of your own, or shows "
                "people: keep it with pickle or skops"
            )
        test = cls.__new__(cls)
        try:
            test.__setstate__(read(json.loads(document["state"])))
            again = json.loads(json.dumps(test.to_dict()))
        except Exception as error:  # whatever somebody, or another version, has written there
            raise ParameterError(f"source holds no state of a {name}: {type(error).__name__}: {error}") from error
        differing = [key for key in document if key != "state" and document[key] != again.get(key)]
        if differing:
            raise ParameterError(f"source: its {differing[0]} is not the one of its state")
        return test

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
        """The results as plain Python, for logs and for experiment trackers such as MLflow.

        Returns
        -------
        dict
            ``test`` (the class), ``versions`` (of skfairtest, Python and the libraries that computed the numbers),
            ``parameters`` (of the fit, all but ``n_jobs`` and ``verbose``; the estimator, functions and other objects
            by their names), and a key for each fitted attribute that holds a number, a verdict or a frame, named
            without its underscore: of all tests ``p_value``, ``rejected``, ``concern``, ``statistic``,
            ``confidence_interval``, ``n_samples`` and ``excluded``; of groups and correlations also ``disparity``,
            ``p_value_interval``, ``comparisons``, ``method``, ``adjust``, ``n_resamples`` and ``pos_label``; of groups
            also ``by_group``, ``groups``, ``variance``, ``within`` and (with "equivalence") ``equivalence_interval``;
            of individual fairness also ``verdict``, ``standard_error``, ``lower_bound``, ``attained_level``,
            ``traces``, ``changed_alone`` and ``solver_report``, and nothing of single people, for which there is
            `to_frame`. A frame is a list with a dict for each row. Everything is text, a number, a truth value, None, a
            list or a dict: undefined numbers are None, infinite ones "inf" and "-inf", tuples lists.

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
        found = {name: plain_value(value) for name, value in self._found().items()}
        return {
            "test": type(self).__name__,
            "versions": dict(self._versions),
            "parameters": dict(self._given),
            **found,
        }

    def _keep_parameters(self) -> None:
        """Keep what this fit was given: parameters may be set later."""
        self._versions = library_versions()
        without = (*self._models, "n_jobs", "verbose")
        models = {name: getattr(self, name) for name in self._models}
        self._given = {
            **{name: None if model is None else type(model).__name__ for name, model in models.items()},
            **{name: plain_value(value) for name, value in self.get_params().items() if name not in without},
        }

    def _found(self) -> dict[str, Any]:
        return {name: getattr(self, f"{name}_") for name in self._reported if hasattr(self, f"{name}_")}

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the report in a notebook, without jinja2 as text; before `fit`, the parameters."""
        if not hasattr(self, "p_value_"):
            bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
            return bundle
        html = self._fragment()
        return {"text/plain": str(self)} | ({"text/html": html} if html else {})

    def _fragment(self) -> str:
        try:
            from skfairtest.report.html import fragment
        except ImportError:
            return ""
        return fragment(self._shown())

    def _repr_html_(self) -> str | None:
        """The HTML that a notebook shows; None where there is none."""
        return self._repr_mimebundle_().get("text/html")

    def __str__(self) -> str:
        """Return the verdict and the findings in sentences, then the tables; before `fit`, the parameters."""
        if not hasattr(self, "p_value_"):
            return repr(self)
        return self.to_text().rstrip("\n")


def positive_label(pos_label: Any, means: str | None = None, negative: Sequence[Any] = ()) -> list[str]:
    """Say which label is the positive one, if there is one, what it means, and which several labels are negative."""
    if pos_label is None:
        return []
    meaning, names = f" ({label(means)})" if means else "", [label(plain_value(other)) for other in negative]
    if len(names) > MOST_LABELS:
        names[MOST_LABELS - 1 :] = [f"{len(names) - MOST_LABELS + 1} others"]
    others = f"; {enumerated(names)} count as negative" if len(names) > 1 else ""
    return [f"The positive label is {label(plain_value(pos_label))}{meaning}{others}."]


def below_verdict(blocks: Sequence[Block], said: Sequence[str]) -> Sequence[Block]:
    """Put sentences below the verdict, with which a report begins."""
    if not said:
        return blocks
    verdict, *others = blocks
    if others and isinstance(others[0], Paragraph):
        return [verdict, replace(others[0], text="\n".join([*said, others[0].text])), *others[1:]]
    return [verdict, Paragraph("\n".join(said)), *others]


def library_versions() -> dict[str, str]:
    """Return the versions of skfairtest, Python and the libraries that computed the numbers."""
    return dict(_versions())


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    found = {"skfairtest": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found
