"""Models that are tested whenever they are trained, on predictions for people they were not trained on."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from skfairtest._utils.base import forget
from skfairtest._utils.checks import check_choice
from skfairtest._utils.errors import ParameterError, brief, renaming, warn
from skfairtest.correlation.fairness import CorrelationFairnessTest
from skfairtest.group import FairnessTest
from skfairtest.model_selection import _out_of_fold as out_of_fold
from skfairtest.model_selection._out_of_fold import check_people, lengths_of
from skfairtest.readers import as_model_input, check_same_people, classes_of, given_to_fit, read_column, read_columns

ON_REJECTION = ("warn", "raise", "ignore")

#: What an audited model hands on to the trained one, besides `fit`.
HANDED_ON = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score")

_NO_GROUPS = (
    "sensitive_features is missing: the groups to test, one value per person, for instance fit(X, y, "
    "sensitive_features=df['sex']). The same in a search; as the last step of a Pipeline: pipeline.fit(X, y, "
    "{step}__sensitive_features=df['sex']). With routing enabled by sklearn.set_config(enable_metadata_routing=True), "
    "the same everywhere: pipeline.fit(X, y, sensitive_features=df['sex']), or cross_validate(..., "
    "params={{'sensitive_features': df['sex']}}); the request is already set."
)


class FairnessRejectedWarning(UserWarning):
    """A model was trained, and a fairness test of its out-of-fold predictions found a significant disparity.

    No hypothesis is tested here: the message quotes the tests of `AuditedClassifier` or `AuditedRegressor`.

    See Also
    --------
    FairnessRejectedError : Raised instead with ``on_rejection="raise"``.

    Examples
    --------
    >>> import warnings
    >>> from skfairtest import FairnessRejectedWarning
    >>> warnings.simplefilter("error", FairnessRejectedWarning)
    """


class FairnessRejectedError(RuntimeError):
    """A model was not accepted, because a fairness test of its out-of-fold predictions found a significant disparity.

    No hypothesis is tested here: the message quotes the tests of `AuditedClassifier` or `AuditedRegressor`. A search of
    scikit-learn treats it as a failed fit, and gives the candidate its ``error_score``.

    Parameters
    ----------
    message : str
        The message.
    fairness_tests : sequence of FairnessTest or CorrelationFairnessTest
        All fitted tests; at least one shows a significant disparity.

    Attributes
    ----------
    fairness_tests : list of FairnessTest or CorrelationFairnessTest
        The same.

    See Also
    --------
    FairnessRejectedWarning : Issued instead with ``on_rejection="warn"``.

    Examples
    --------
    >>> from skfairtest import FairnessRejectedError
    >>> FairnessRejectedError("not accepted", []).fairness_tests
    []
    """

    def __init__(self, message: str, fairness_tests: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.fairness_tests = list(fairness_tests)


def _handed_on(method: str, what: str) -> Any:
    """Make a method that is the trained model's, if the model has it."""

    def model_has(self: _Audited) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)  # its AttributeError says who lacks what
        return True

    def hand_on(self: _Audited, X: Any, *y: Any, **params: Any) -> Any:
        return self._hand_on(method, X, *y, params=params)

    hand_on.__name__, hand_on.__doc__ = method, f"Return {what}."
    return available_if(model_has)(hand_on)


class _Audited(MetaEstimatorMixin):
    """The common base of audited classifiers and regressors."""

    _default_metric: ClassVar[str]
    _classifies: ClassVar[bool]
    #: Where a test finds the model inside, which may want groups or a seed.
    _answers_with: ClassVar[str] = "estimator_"

    # The weights are the estimator's alone, and so is the request for them.
    __metadata_request__fit: ClassVar[dict[str, bool | str]] = {
        "sensitive_features": True,
        "control_features": True,
        "clusters": True,
        "test_weight": True,
        "sample_weight": UNUSED,
    }

    def __init__(
        self, estimator: Any, *, metric: Any = None, tests: Any = None, cv: Any = 5, on_rejection: str = "warn"
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.tests = tests
        self.cv = cv
        self.on_rejection = on_rejection

    #: The positive label of the default test; of a classifier it is a parameter.
    pos_label: Any = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
        clusters: Any = None,
        test_weight: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Train on all people, then for each fold on the others, and test those models' predictions for the folds.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the estimator is trained on.
        y : array-like of shape (n_samples,)
            Labels or targets.
        sensitive_features : array-like, frame, mapping, or names of columns of `X`
            The groups: one or several columns of length n_samples. The estimator gets them too if its ``fit`` takes
            them and no routing request forbids it; without routing, so does the last step of a Pipeline.
        control_features : array-like, frame, mapping, or names of columns of `X`, optional
            Strata within which the tests compare groups.
        sample_weight : array-like of shape (n_samples,), optional
            Each person's weight in training only: in the tests, each person counts once.
        clusters : array-like of shape (n_samples,), optional
            The cluster of each person. Clusters are passed to the tests, and none is split between training and test.
        test_weight : array-like of shape (n_samples,), optional
            Each person's weight in the tests (their ``sample_weight``), such as a survey's weights.
        **fit_params
            Further arguments of the estimator's ``fit``; those of length n_samples, or mappings of such columns, are
            split into the folds.

        Returns
        -------
        self
            The trained and tested model.

        Raises
        ------
        ValueError
            If a parameter or an input is not usable.
        FairnessRejectedError
            If a test found a significant disparity and ``on_rejection="raise"``. Nothing of an earlier `fit` is kept.

        Warns
        -----
        FairnessRejectedWarning
            If a test found a significant disparity and ``on_rejection="warn"``.
        """
        forget(self)
        self._check_parameters()
        if sensitive_features is None:
            raise ParameterError(_NO_GROUPS.format(step=type(self).__name__.lower()))
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        named = {
            "sensitive_features": sensitive_features,
            "control_features": control_features,
            "clusters": clusters,
            "test_weight": test_weight,
        }
        X, y, named = given_to_fit(X, y, named)
        sensitive_features = named["sensitive_features"]
        X, y = indexable(X, y)
        check_people(X, {name: values for name, values in named.items() if isinstance(values, dict)})
        n_groups = next((length for length in lengths_of(sensitive_features) if length != len(y)), len(y))
        if n_groups != len(y):
            name = type(self).__name__
            raise ParameterError(
                f"y and sensitive_features have different lengths, {len(y):,} and {n_groups:,}: pass one per person. "
                f"A sampler in front of {name} changes whom X holds, and not whom the groups are of: put it inside, "
                f"{name}(make_pipeline(sampler, model)); the people who are tested then are not resampled."
            )
        if len(getattr(y, "shape", ())) == 2:
            y = column_or_1d(y, warn=True)
        try:
            kind = np.asarray(y).dtype.kind
        except ValueError:
            raise ParameterError("y must have one value for each person; found values of different lengths") from None
        if kind == "f":
            assert_all_finite(y, input_name="y")
        if self._classifies:
            check_classification_targets(y)
        people = {
            "sample_weight" if name == "test_weight" else name: values
            for name, values in named.items()
            if values is not None
        }
        tests = self._new_tests(people)
        splits = self._split(X, y, tests, people)
        given = self._for_training(fit_params, sample_weight, named)
        estimator = out_of_fold.fitted(clone(self.estimator), X, y, given)
        model = out_of_fold.OutOfFold(self.estimator, X, y, splits, given, classes_of(estimator))
        for test in tests:
            test.estimator = model
            with renaming("pos_label", "pos_label" if self.tests is None else "tests: pos_label"):
                test.fit(X, y, **people)
            test.estimator = None  # neither models nor data outlive the fit
        concerns = [test for test in tests if test.concern_ and self.on_rejection != "ignore"]
        message = self._message(concerns, len(tests), len(splits))
        if concerns and self.on_rejection == "raise":
            raise FairnessRejectedError(message, tests)
        self.estimator_ = estimator
        self.fairness_tests_ = tests
        self.p_values_ = [test.p_value_ for test in tests]
        if self._classifies:
            self.classes_ = getattr(estimator, "classes_", np.unique(np.asarray(y)))
        if concerns:
            warn(message, FairnessRejectedWarning)
        return self

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Predict with the estimator trained on all people.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            People.
        **params
            Further arguments of the estimator's ``predict``, such as ``sensitive_features`` of fairlearn's
            ``ThresholdOptimizer``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self._hand_on("predict", X, params=params)  # type: ignore[no-any-return]

    predict_proba = _handed_on("predict_proba", "the estimator's probabilities, of shape (n_samples, n_classes)")
    predict_log_proba = _handed_on("predict_log_proba", "the logarithms of the estimator's probabilities")
    decision_function = _handed_on(
        "decision_function", "the estimator's scores, of shape (n_samples,) or a column each"
    )
    score = _handed_on("score", "the estimator's own score")

    n_features_in_ = property(attrgetter("estimator_.n_features_in_"), doc="Number of features of the estimator.")
    feature_names_in_ = property(attrgetter("estimator_.feature_names_in_"), doc="Names of its features.")

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata passed to each object.

        Returns
        -------
        MetadataRouter
            Groups, strata, clusters and the tests' weights are requested; all else is the estimator's request.
        """
        mapping = MethodMapping()
        for method in ("fit", *HANDED_ON):
            mapping.add(caller=method, callee=method)
        router: MetadataRouter = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._requests(), method_mapping=mapping)

    def _requests(self) -> Any:
        """Return the estimator's requests; groups that it takes are requested unless its request mentions them."""
        requests = get_routing_for_object(self.estimator)
        if not isinstance(requests, MetadataRequest):
            return self.estimator  # it routes itself
        for method in ("fit", *HANDED_ON):
            made = getattr(requests, method)
            function = getattr(self.estimator, method, None)
            unsaid = made.requests.get("sensitive_features") is None
            if unsaid and function is not None and out_of_fold.takes_groups(self.estimator, function):
                made.add_request(param="sensitive_features", alias=True)
        return requests

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of the estimator, so that the same inputs are accepted."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags, tags.target_tags.positive_only = inner.input_tags, inner.target_tags.positive_only
            tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
            for name in ("classifier_tags", "regressor_tags"):
                if getattr(tags, name) is not None and getattr(inner, name) is not None:
                    setattr(tags, name, getattr(inner, name))
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags

    def _check_parameters(self) -> None:
        check_choice("on_rejection", self.on_rejection, ON_REJECTION)
        found = brief(self.estimator)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise ParameterError(
                f"estimator must be a model that can be fitted, as in LogisticRegression(); found {found}"
            )
        if isinstance(self.estimator, FrozenEstimator):
            raise ParameterError(
                "estimator is a FrozenEstimator, which is never retrained, so no one here is known to be new to it: "
                "test it with FairnessTest(model).fit(...) on people that it was not trained on."
            )
        kind = get_tags(self.estimator).estimator_type if hasattr(self.estimator, "__sklearn_tags__") else None
        this, other = ("classifier", "regressor")[:: 1 if self._classifies else -1]
        if kind == other:
            raise ParameterError(
                f"estimator={found} is a {other}: use Audited{other.capitalize()}, or an estimator that is a {this}."
            )

    def _new_tests(self, people: dict[str, Any]) -> list[Any]:
        """Return copies of the tests, which can be given these people."""
        tests = self.tests
        for name in ("metric", "pos_label"):
            if tests is not None and getattr(self, name) is not None:
                raise ParameterError(
                    f"{name} and tests are both given, but each test has its own {name}: leave {name} out, or write "
                    f"tests=FairnessTest({name}=...)"
                )
        if tests is None:
            metric = self._default_metric if self.metric is None else self.metric
            tests = [FairnessTest(metric=metric, pos_label=self.pos_label)]
        elif not isinstance(tests, list | tuple):
            tests = [tests]
        if not tests:
            raise ParameterError(f"tests is empty: pass None for {self._default_metric}, one test, or a list of tests.")
        for test in tests:
            if not isinstance(test, FairnessTest | CorrelationFairnessTest) or test.estimator is not None:
                raise ParameterError(
                    "tests must be FairnessTest or CorrelationFairnessTest, one or a list of them, with "
                    "estimator=None because the model tested here is the one to be trained, as in "
                    f"tests=FairnessTest(metric='accuracy'); found {brief(test)}"
                )
            taken = set(inspect.signature(test.fit).parameters) - set(getattr(test, "_refused", ()))
            refused = set(people) - taken
            if refused:
                names = " and no ".join(sorted({"sample_weight": "test_weight"}.get(name, name) for name in refused))
                raise ParameterError(
                    f"tests: {type(test).__name__} takes no {names}: leave that test, or {names}, out."
                )
        return [clone(test) for test in tests]

    def _split(self, X: Any, y: Any, tests: Sequence[Any], people: dict[str, Any]) -> list[Any]:
        columns: dict[str, Any] = {
            name: read_columns(people[name], name, default_name=name.removesuffix("s"))
            for name in ("sensitive_features", "control_features")
            if name in people
        }
        clusters = read_column(people["clusters"], "clusters") if "clusters" in people else None
        check_same_people({"X": X, "y": y, **columns, "clusters": clusters, "test_weight": people.get("sample_weight")})
        # A continuous feature makes no groups that every fold could have its share of.
        grouped = any(isinstance(test, FairnessTest) for test in tests)
        return out_of_fold.partition(
            self.cv,
            X,
            y,
            sensitive_features=people["sensitive_features"],
            groups=columns["sensitive_features"] if grouped else (),
            clusters=clusters,
            stratified=self._classifies,
        )

    def _for_training(self, fit_params: dict[str, Any], sample_weight: Any, named: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the estimator's `fit` besides X and y."""
        offered = {**named, "sample_weight": sample_weight}
        offered["sensitive_features"] = as_model_input(offered["sensitive_features"])
        if get_config()["enable_metadata_routing"]:
            offered = {name: value for name, value in offered.items() if value is not None}
            return dict(process_routing(self, "fit", **offered, **fit_params).estimator.fit)
        given = dict(fit_params)
        key = out_of_fold.groups_of_fit(self.estimator)
        if key is not None:
            given.setdefault(key, offered["sensitive_features"])
        if sample_weight is not None:
            parameters = inspect.signature(self.estimator.fit).parameters
            if "sample_weight" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                raise ParameterError(
                    f"sample_weight: {type(self.estimator).__name__}.fit takes none. It weights people in training; to "
                    "weight the tests, pass test_weight."
                )
            given["sample_weight"] = sample_weight
        return given

    def _message(self, concerns: Sequence[Any], n_tests: int, n_folds: int) -> str:
        # What a test prints begins with the verdict, the positive label where there is one, and the leading finding.
        lines = [str(test).split("\n\n")[0].split("\n")[: 2 + (test.pos_label_ is not None)] for test in concerns]
        findings = [" ".join(first) for first in lines]
        kept = " The model is trained and can be used; its tests are in fairness_tests_."
        if self.on_rejection == "raise":
            kept = " The model is not kept; its tests are in fairness_tests of this error."
        return (
            f"{type(self.estimator).__name__}: {len(concerns)} of {n_tests} fairness tests found a significant "
            f"disparity in predictions for people it was not trained on ({n_folds} folds). {' '.join(findings)}{kept}"
        )

    def _hand_on(self, method: str, *data: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params).estimator[method]
        return getattr(self.estimator_, method)(*data, **params)


class AuditedClassifier(_Audited, ClassifierMixin, BaseEstimator):
    """A classifier that is tested for fairness whenever it is trained, on people it was not trained on.

    Null hypothesis, with the default test: among people with the same true label, the share that the models of the
    folds predict positive is the same in all groups, averaged over the folds; with other `tests`, their null hypotheses
    about these predictions. `fit` trains the estimator on all people, and again for each fold on the people outside it;
    the predictions for all folds are tested together. The model kept is not one of those tested: it is trained on a few
    more people.

    Parameters
    ----------
    estimator : classifier
        The model to train: an estimator of scikit-learn, a mitigator of fairlearn, a pipeline or a search. It is
        cloned, never changed.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, optional
        What is compared, as in `FairnessTest`; None: equalized odds. It cannot be combined with `tests`.
    pos_label : label, optional
        The positive label, which labels other than {0, 1}, {-1, 1} and booleans need.
    tests : FairnessTest, CorrelationFairnessTest, list of these, or None, default=None
        The tests, each with ``estimator=None``. None: ``FairnessTest(metric=metric, pos_label=pos_label)``.
    cv : int, splitter, iterable of (train, test), or None, default=5
        The folds; each person must be in the test part of exactly one. An integer (None means 5) is the number of
        folds, stratified as by `SensitiveStratifiedKFold` (on the label alone if every test is about correlation), with
        `clusters` kept together by ``StratifiedGroupKFold``. A splitter that takes ``sensitive_features`` or ``groups``
        is given the groups or the clusters.
    on_rejection : {"warn", "raise", "ignore"}, default="warn"
        What happens if a test finds a significant disparity: the model is trained and there is a
        `FairnessRejectedWarning`, or a `FairnessRejectedError` and no model, or nothing but `fairness_tests_`.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, trained on all people.
    fairness_tests_ : list
        The fitted tests, in the order of `tests`.
    p_values_ : list of float
        Their global p-values.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features of the estimator, if it has this attribute.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if any.

    See Also
    --------
    AuditedRegressor : The same for numbers.
    FairnessTest : To test a model that is fitted already, on people it has not seen.
    SensitiveStratifiedKFold : The folds.

    Notes
    -----
    The p-value is about the models of these folds, which share most of their training data, so that predictions of
    different folds are not quite independent; no exact test covers that. Each test has its own level: one
    `FairnessTest` with a list of metrics adjusts for their number.

    With metadata routing, the estimator gets everything it requests; without, it gets ``sample_weight`` and further
    arguments of `fit`. Groups are passed to every estimator whose ``fit`` takes them, unless its request forbids it.
    scikit-learn's ``StackingClassifier`` passes the groups on to its final estimator, and most refuse them: audit the
    stack.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfairtest import AuditedClassifier
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat(["f", "m"], 200)
    >>> X = rng.normal(size=(400, 2)) + (sex == "m")[:, None]
    >>> y = (X[:, 0] + rng.normal(size=400) > 0.5).astype(int)
    >>> model = AuditedClassifier(LogisticRegression(), on_rejection="ignore").fit(
    ...     X, y, sensitive_features={"sex": sex}
    ... )
    >>> print(str(model.fairness_tests_[0]).splitlines()[0])
    Significant disparity: groups of sex differ by more than chance explains ...
    >>> model.predict(X[:3]).shape
    (3,)
    """

    _default_metric = "equalized_odds"
    _classifies = True

    def __init__(
        self,
        estimator: Any,
        *,
        metric: Any = None,
        pos_label: Any = None,
        tests: Any = None,
        cv: Any = 5,
        on_rejection: str = "warn",
    ) -> None:
        super().__init__(estimator, metric=metric, tests=tests, cv=cv, on_rejection=on_rejection)
        self.pos_label = pos_label


class AuditedRegressor(_Audited, RegressorMixin, BaseEstimator):
    """A regressor that is tested for fairness whenever it is trained, on people it was not trained on.

    Null hypothesis, with the default test: the mean of y_true - y_pred, with the predictions of the models of the
    folds, is the same in all groups, so that the models overestimate no group more than another, even if the groups'
    targets differ; with other `tests`, their null hypotheses about these predictions. `fit` trains the estimator on all
    people, and again for each fold on the people outside it; the predictions for all folds are tested together. The
    model kept is not one of those tested: it is trained on a few more people.

    Parameters
    ----------
    estimator : regressor
        The model to train. It is cloned, never changed.
    metric : str, Rate, ScoreMetric, callable, or list or dict of these, optional
        What is compared, as in `FairnessTest`; None: ``mean_residual``. It cannot be combined with `tests`.
    tests : FairnessTest, CorrelationFairnessTest, list of these, or None, default=None
        The tests, each with ``estimator=None``. None: ``FairnessTest(metric=metric)``, which needs random resamples for
        numbers; pass one with a ``random_state`` to get the same p-value every time.
    cv : int, splitter, iterable of (train, test), or None, default=5
        The folds; each person must be in the test part of exactly one. An integer (None means 5) is the number of folds
        of ``KFold`` or, with `clusters`, of ``GroupKFold``. A splitter that takes ``sensitive_features`` or ``groups``
        is given the groups or the clusters.
    on_rejection : {"warn", "raise", "ignore"}, default="warn"
        What happens if a test finds a significant disparity: the model is trained and there is a
        `FairnessRejectedWarning`, or a `FairnessRejectedError` and no model, or nothing but `fairness_tests_`.

    Attributes
    ----------
    estimator_ : regressor
        The estimator, trained on all people.
    fairness_tests_ : list
        The fitted tests, in the order of `tests`.
    p_values_ : list of float
        Their global p-values.
    n_features_in_ : int
        Number of features of the estimator, if it has this attribute.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if any.

    See Also
    --------
    AuditedClassifier : The same for labels; its notes apply here too.
    CorrelationFairnessTest : For a continuous sensitive feature.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from skfairtest import AuditedRegressor, FairnessTest
    >>> rng = np.random.default_rng(0)
    >>> sex = np.repeat(["f", "m"], 100)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] + (sex == "m") + rng.normal(size=200)
    >>> test = FairnessTest(metric="mean_residual", random_state=0)
    >>> model = AuditedRegressor(LinearRegression(), tests=test, on_rejection="ignore")
    >>> model.fit(X, y, sensitive_features={"sex": sex}).fairness_tests_[0].rejected_
    True
    """

    _default_metric = "mean_residual"
    _classifies = False
