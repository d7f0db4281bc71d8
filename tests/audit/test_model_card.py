"""A section of a model card that skops writes: its own API takes ours as it is."""

import pytest
from sklearn.dummy import DummyClassifier

from skfairtest import FairnessAudit


@pytest.mark.slow  # skops imports for seconds
def test_a_card_of_skops_has_the_section():
    card = pytest.importorskip("skops.card", reason="skops is not installed")
    audit = FairnessAudit.from_predictions(None, [1, 1, 0, 0] * 9, sensitive_features={"sex": list("ffmm") * 9})
    written = card.Card(DummyClassifier()).add(**{"Fairness": audit.to_markdown()}).render()
    assert "# Fairness" in written
    assert audit.to_markdown().strip() in written
