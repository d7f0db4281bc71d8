"""Estimators of scikit-learn that are tests: their parameters, their state, and their `random_state`."""

import copy
import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state, get_tags

from skfairtest._utils.errors import Constructor, ParameterError, answering_guesses, brief

#: The key of a frame's parts, which no attribute holds otherwise.
FRAME = "frame of skfairtest"
Test = TypeVar("Test")


class Later:
    """An attribute that may be set to a partial call, which is made when they are asked for for the value."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute."""
        self._name = name

    def __get__(self, owned: Any, owner: type | None = None) -> Any:
        """Return the value, which is made once."""
        if owned is None:
            return self
        if self._name not in vars(owned):
            raise AttributeError(f"{type(owned).__name__!r} object has no attribute {self._name!r}", name=self._name)
        value = vars(owned)[self._name]
        if isinstance(value, partial):
            value = vars(owned)[self._name] = value()
        return value

    def __set__(self, owned: Any, value: Any) -> None:
        """Keep a value, or the call that makes it."""
        vars(owned)[self._name] = value

    def __delete__(self, owned: Any) -> None:
        """Forget it."""
        del vars(owned)[self._name]


class PlainState:
    """An object whose state has the frames among its attributes as lists and arrays."""

    def __getstate__(self) -> dict[str, Any]:
        """Take frames apart; what may be made later is made."""
        state = {
            name: getattr(self, name) if isinstance(value, partial) else value for name, value in vars(self).items()
        }
        return {name: parts_of(value) if isinstance(value, pd.DataFrame) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Put frames together."""
        for name, value in state.items():
            self.__dict__[name] = frame_of(value) if isinstance(value, dict) and FRAME in value else value


def parts_of(frame: pd.DataFrame) -> dict[str, Any]:
    """The columns of a frame, and its index unless that only counts rows."""
    index = frame.index
    counted = isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))
    return {
        FRAME: [_column(frame.iloc[:, place]) for place in range(frame.shape[1])],
        "columns": list(frame.columns),
        "index": None if counted else [_column(index.get_level_values(level)) for level in range(index.nlevels)],
        "names": list(index.names),
    }


def _column(values: Any) -> tuple[Any, str]:
    """The values of a column, and their type; what NumPy has no type for as a list."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return values.to_numpy(), str(dtype)
    return [None if value is pd.NA else value for value in values], str(dtype)


def frame_of(parts: dict[str, Any]) -> pd.DataFrame:
    index = None
    if parts["index"] is not None:
        levels = [pd.Index(values, dtype=dtype) for values, dtype in parts["index"]]
        index = levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)
        index.names = parts["names"]
    columns = [pd.Series(values, dtype=dtype, index=index) for values, dtype in parts[FRAME]]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    frame.columns = pd.Index(parts["columns"])
    return frame


def check_seed(random_state: Any) -> None:
    """Refuse what is not a seed, before anything is drawn."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ParameterError(f"random_state must not be negative; found {random_state}")
    elif not isinstance(random_state, np.random.RandomState | np.random.Generator | None):
        raise ParameterError(
            f"random_state must be an int, RandomState, Generator or None; found {brief(random_state)}"
        )


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return a seed sequence for an integer, a RandomState or Generator (which advances), or None (global state)."""
    if isinstance(random_state, Integral):
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    return np.random.SeedSequence(int(check_random_state(random_state).randint(2**31 - 1)))


#: Methods whose unknown keywords are answered with the right name.
ANSWERING = ("__init__", "fit", "partial_fit")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_parameters(test: type[Test]) -> type[Test]:
    """A class of tests whose annotated attributes are its parameters; its constructor keeps each under its name.

    A kind of another test has the parameters of that, but those that are named in its attribute ``_unshared``.
    """
    inherited, unshared = getattr(test, "_constructor_parameters", {}), vars(test).get("_unshared", ())
    shared = {name: kind for name, kind in inherited.items() if name not in unshared}
    test.__annotations__ = shared | test.__annotations__
    made: Any = dataclass(repr=False, eq=False, kw_only=True, match_args=False)(test)
    made._constructor_parameters = {parameter.name: parameter.type for parameter in fields(made)}
    del made.__dataclass_fields__  # a test is not data that is compared, written or inherited field by field
    made.__init__ = answering_guesses(made.__init__, made.__name__)
    return test


def forget(fitted: Any) -> None:
    """Delete the public attributes of an earlier fit."""
    for name in [name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")]:
        del vars(fitted)[name]


def _of_model(name: str) -> property:
    """An attribute that a test has from its model; a test that sets one of its own keeps that."""

    def get(test: Any) -> Any:
        return test.__dict__[name] if name in test.__dict__ else getattr(getattr(test, test._models[0]), name)

    def keep(test: Any, value: Any) -> None:
        test.__dict__[name] = value

    def drop(test: Any) -> None:
        del test.__dict__[name]

    return property(get, keep, drop, "Of the model.")


class Answering:
    """A class whose constructors and fits answer keywords that are guessed."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the constructors and fits that a class defines."""
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if isinstance(method, classmethod) and name.startswith("from_"):
                setattr(cls, name, Constructor(answering_guesses(method.__func__)))
            elif name in ANSWERING:
                owner = cls.__name__ if name == "__init__" else ""
                setattr(cls, name, answering_guesses(method, owner, forget if name == "fit" else None))


class ModelTest(Answering, PlainState, MetaEstimatorMixin, BaseEstimator):
    """A test with a parameter ``estimator``, which is fitted already."""

    estimator: Any
    #: The parameters that hold fitted models.
    _models: ClassVar[tuple[str, ...]] = ("estimator",)
    n_features_in_: Any = _of_model("n_features_in_")
    feature_names_in_: Any = _of_model("feature_names_in_")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the test; those of the estimator are not among them.

        Parameters
        ----------
        deep : bool, default=True
            Ignored: the estimator is fitted, and its parameters are not the test's to change.

        Returns
        -------
        dict
            Parameters by their names.
        """
        return super().get_params(deep=False)  # type: ignore[no-any-return]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the test.

        Parameters
        ----------
        **params
            Parameters by their names.

        Returns
        -------
        self
            The test.

        Raises
        ------
        ValueError
            If there is no such parameter, or if it is one of the estimator.
        """
        models = {name: name.split("__")[0] for name in params if name.split("__")[0] in self._models}
        inner = next((name for name, model in models.items() if name != model), None)
        if inner is not None:
            model, name = models[inner], inner.split("__", 1)[1]
            raise ValueError(
                f"{inner} cannot be set: a test never fits its estimator, and a fitted model that is told another "
                f"{name} does not describe itself. Fit a model with {name}={brief(params[inner])} and pass it as "
                f"{model}."
            )
        return super().set_params(**params)  # type: ignore[no-any-return]

    def __sklearn_clone__(self) -> Self:
        """Clone parameters; share the fitted estimator, which a test never fits."""
        bare = copy.copy(self)
        for name in self._models:
            setattr(bare, name, None)
        new = BaseEstimator.__sklearn_clone__(bare)
        for name in self._models:
            setattr(new, name, getattr(self, name))
        return new  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Tags:
        """Say that X is what the estimator takes, which validates it; without an estimator, the predictions."""
        tags = super().__sklearn_tags__()
        tags.no_validation = True
        model = getattr(self, self._models[0])
        if model is None:
            tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
            tags.input_tags.string = True
        elif hasattr(model, "__sklearn_tags__") and not isinstance(model, type):
            tags.input_tags = copy.deepcopy(get_tags(model).input_tags)
            # The columns of a kernel matrix are the people whom the model was fitted on, regardless of who is tested.
            tags.input_tags.pairwise = False
        else:
            tags.input_tags.sparse = tags.input_tags.allow_nan = True
            tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _without_groups(self, what: str = "the groups to compare", column: str = "sex") -> ParameterError:
        """Return the error of a fit that was given no sensitive features, with the lines to type."""
        step, groups = type(self).__name__.lower(), f"sensitive_features=df[{column!r}]"
        return ParameterError(
            f"sensitive_features is missing: {what}, one value per person, for instance fit(X, y, {groups}). As the "
            f"last step of a Pipeline: pipeline.fit(X, y, {step}__{groups}); or switch routing on, "
            f"sklearn.set_config(enable_metadata_routing=True), and pipeline.fit(X, y, {groups}): the request is made "
            "already."
        )


#: What a label of each type is in a file, and how it is read again.
TYPES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "bool": (bool, bool, bool),
    "int": (int, str, int),
    "float": (float, float.hex, float.fromhex),
    "str": (str, str, str),
    "timestamp": (pd.Timestamp, lambda value: value.isoformat(), pd.Timestamp),
    "timedelta": (pd.Timedelta, lambda value: value.isoformat(), pd.Timedelta),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
}


def tagged(value: Any) -> Any:
    """Return a label as its type and how it is written; a tuple as a list of these."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return ["tuple", [tagged(each) for each in value]]
    for name, (kind, write, _) in TYPES.items():
        if isinstance(value, kind):
            return [name, write(value)]
    raise ValueError(
        f"the label {brief(value)} is of type {type(value).__name__}, which files cannot hold: replace it by text."
    )


def untagged(written: Any) -> Any:
    """Read what `tagged` returned."""
    if written is None:
        return None
    name, value = written
    return tuple(map(untagged, value)) if name == "tuple" else TYPES[name][2](value)
