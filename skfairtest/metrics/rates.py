"""The rates, and the criteria made of them, as a table: one line per rate."""

from __future__ import annotations

from skfairtest.metrics.rate import Rate, f1_of_jaccard, f1_slope

_TRUE, _FALSE = "people whose true label is positive", "people whose true label is negative"
_CALLED, _NOT_CALLED = "people predicted positive", "people predicted negative"
_ANY = "people whose true or predicted label is positive"
_YES, _NO = "are predicted positive", "are predicted negative"
_IS, _IS_NOT = "are truly positive", "are truly negative"
_RIGHT, _WRONG = "are predicted correctly", "are predicted wrongly"
_BOTH = "are both"

RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("selection_rate", "y_pred", None, _YES, "all people"),
        Rate("true_positive_rate", "y_pred", "y_true", _YES, _TRUE),
        Rate("false_positive_rate", "y_pred", "~y_true", _YES, _FALSE),
        Rate("true_negative_rate", "~y_pred", "~y_true", _NO, _FALSE),
        Rate("false_negative_rate", "~y_pred", "y_true", _NO, _TRUE),
        Rate("precision", "y_true", "y_pred", _IS, _CALLED),
        Rate("negative_predictive_value", "~y_true", "~y_pred", _IS_NOT, _NOT_CALLED),
        Rate("false_discovery_rate", "~y_true", "y_pred", _IS_NOT, _CALLED),
        Rate("false_omission_rate", "y_true", "~y_pred", _IS, _NOT_CALLED),
        Rate("accuracy", "y_true == y_pred", None, _RIGHT, "all people"),
        Rate("zero_one_loss", "y_true != y_pred", None, _WRONG, "all people"),
        Rate("jaccard", "y_true & y_pred", "y_true | y_pred", _BOTH, _ANY),
        Rate("false_negative_share", "y_true", "y_true != y_pred", _IS, "people predicted wrongly"),
        Rate("f1", "y_true & y_pred", "y_true | y_pred", _BOTH, _ANY, f1_of_jaccard, f1_slope),
    )
}

#: Rates tested jointly. The null hypothesis of a criterion is that each of its rates is equal in all groups.
CRITERIA: dict[str, tuple[str, ...]] = {
    "demographic_parity": ("selection_rate",),
    "equal_opportunity": ("true_positive_rate",),
    "predictive_equality": ("false_positive_rate",),
    "equalized_odds": ("true_positive_rate", "false_positive_rate"),
    "predictive_parity": ("precision",),
    "conditional_use_accuracy": ("precision", "negative_predictive_value"),
    "overall_accuracy_equality": ("accuracy",),
    "treatment_equality": ("false_negative_share",),
}
