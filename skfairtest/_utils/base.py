"""What makes a test a scikit-learn estimator that never fits, and never copies, the model it is about."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags

from skfairtest._utils.errors import ParameterError
from skfairtest._utils.keywords import answering_guesses
from skfairtest._utils.state import PlainState

#: Methods whose unknown keywords are answered with the right name.
ANSWERING = ("__init__", "fit", "partial_fit", "from_predictions", "from_table", "from_frame")


def _of_model(name: str) -> property:
    """An attribute that a test has from its model; a test that sets one of its own keeps that."""

    def get(test: Any) -> Any:
        return test.__dict__[name] if name in test.__dict__ else getattr(getattr(test, test._models[0]), name)

    def keep(test: Any, value: Any) -> None:
        test.__dict__[name] = value

    def drop(test: Any) -> None:
        del test.__dict__[name]

    return property(get, keep, drop, "Of the model.")


class ModelTest(PlainState, MetaEstimatorMixin, BaseEstimator):
    """A test with a parameter ``estimator``, which is fitted already."""

    estimator: Any
    #: The parameters that hold fitted models.
    _models: ClassVar[tuple[str, ...]] = ("estimator",)
    n_features_in_: Any = _of_model("n_features_in_")
    feature_names_in_: Any = _of_model("feature_names_in_")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Answer keywords that are guessed."""
        super().__init_subclass__(**kwargs)
        for name in ANSWERING:
            method = vars(cls).get(name)
            if isinstance(method, classmethod):
                setattr(cls, name, classmethod(answering_guesses(method.__func__)))
            elif method is not None:
                setattr(cls, name, answering_guesses(method, cls.__name__ if name == "__init__" else ""))

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
                f"{name} does not describe itself. Fit a model with {name}={params[inner]!r} and pass it as {model}."
            )
        return super().set_params(**params)  # type: ignore[no-any-return]

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters and hand on the fitted estimator itself, which a test never fits."""
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

    def _without_groups(self, what: str, column: str) -> ParameterError:
        """Return the error of a fit that was given no sensitive features, with the lines to type."""
        step, groups = type(self).__name__.lower(), f"sensitive_features=df[{column!r}]"
        return ParameterError(
            f"sensitive_features is missing: {what}, one value per person, for instance fit(X, y, {groups}). As the "
            f"last step of a Pipeline: pipeline.fit(X, y, {step}__{groups}); or switch routing on, "
            f"sklearn.set_config(enable_metadata_routing=True), and pipeline.fit(X, y, {groups}): the request is made "
            "already."
        )
