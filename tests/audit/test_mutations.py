"""Whatever is changed in a record is refused, changes nothing that is shown, or is one of the facts listed here."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skfairtest import FairnessAudit, SubgroupScan

#: What nothing else in a record says: who, when and what was audited, how it was called, words of the caller, reasons,
#: and numbers that were drawn or come from people one by one. The latter are held against what they cannot be.
FACTS = re.compile(
    r"(created|title|subject|about|sources|versions|warnings|signature|provenance|not_compared)\b.*"
    r"|parameters\.(random_state|n_resamples|metrics|scan|impact|intersections|missing|method|pos_label|positive_means"
    r"|favorable|confidence_level|adjust|compare|compare_intersections|disparity|margin).*"
    r"|verdict\.(p_value_interval|pos_label).*"
    r"|parts\.\d+\.(excluded|hypotheses|setup\.within|setup\.people).*"
    r"|parts\.\d+\.comparisons\.\d+\.minimum_detectable"
    r"|null_distribution\.(kind|statistic|low|high|mass|extreme|observed|note).*"
    r"|scan\.(setup|n_searched|n_tested|n_significant|p_value|remaining_p_value|results).*"
    r"|baseline\.(setup\.(people|within)|names|not_compared|results\.\d+\.(feature|group|other|metric|stratum|value_a"
    r"|value_b|difference|ci_low|ci_high|p_value)).*"
    r"|impact\.(scoring|tables\.\d+\.rows\.\d+\.(category|n|selected)).*"
    r"|individual.*|homogeneity.*"
)


@pytest.fixture(scope="module")
def documents():
    """An audit that has every part a record can have, and one with strata."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "age": rng.integers(20, 70, 200)})
    people["truth"], people["old"] = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    people["pred"] = (rng.random(200) < np.where(people["sex"] == "f", 0.75, 0.3)).astype(int)
    given = {"sensitive_features": people["sex"], "metrics": ["selection_rate", "accuracy"], "random_state": 0}
    whole = FairnessAudit.from_predictions(
        people["truth"], people["pred"], y_pred_baseline=people["old"], X=people, impact=True, n_resamples=99,
        scan=SubgroupScan(metric="selection_rate", features="age"), **given,
    )  # fmt: skip
    strata = FairnessAudit.from_predictions(
        people["truth"], people["pred"], control_features={"old": people["age"] > 40}, **given
    )
    return [json.loads(audit.to_json()) for audit in (whole, strata)]


def leaves(value, place=()):
    """Yield the place of everything that holds nothing else."""
    children = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if not children:
        yield place
    for key, child in children:
        yield from leaves(child, (*place, key))


def changed(value, rng):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return [value + 1, value * 2 + 1, value / 2 + 0.1, 0.9, -value - 1][rng.integers(5)]
    if isinstance(value, str):
        return ["are treated fairly", value + " not", "difference", "m"][rng.integers(4)]
    return [0.5, "text", 1, True][rng.integers(4)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_cases", [25, pytest.param(3000, marks=pytest.mark.exhaustive)])
def test_a_changed_field_is_refused_or_shows_nothing_or_is_a_fact(documents, n_cases):
    rng, counts = np.random.default_rng(0), dict.fromkeys(("refused", "not shown", "fact"), 0)
    shown = [str(FairnessAudit.from_json(json.dumps(document))) for document in documents]
    accepted = []
    for _ in range(n_cases):
        number = int(rng.integers(len(documents)))
        document = json.loads(json.dumps(documents[number]))
        places = list(leaves(document))
        *way, last = place = places[rng.integers(len(places))]
        target = document
        for key in way:
            target = target[key]
        target[last] = changed(target[last], rng)
        try:
            audit = FairnessAudit.from_json(json.dumps(document))
        except ValueError:
            counts["refused"] += 1
            continue
        name = ".".join(map(str, place))
        if FACTS.fullmatch(name):
            counts["fact"] += 1
        elif str(audit) == shown[number]:
            counts["not shown"] += 1
        else:
            accepted.append((name, target[last]))
    assert not accepted, (counts, accepted)
    assert counts["refused"] > n_cases / 2, counts


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lambda d: d.pop("scan"), r"scan is missing: parameters\['scan'\] is"),
        (lambda d: d.pop("baseline"), "baseline is missing"),
        (lambda d: d["impact"]["tables"][0].update(sensitive=["race"]), "sensitive is .'race'., which provenance does"),
        (lambda d: d["parts"][0]["comparisons"].pop(), "comparisons must hold that of 'accuracy' and 'f' and 'm'"),
        (lambda d: d["parts"][0]["setup"].update(margin_bounds=[-0.5, 0.5]), "margin_bounds is .*, and must be None"),
        (lambda d: d["parts"][0]["setup"].update(adjust=None), "setup.adjust is None, and must be 'holm'"),
        (
            lambda d: d["parts"][0]["setup"]["sentences"].update(accuracy=["are treated fairly", "all people"]),
            r"sentences.accuracy\[0\] is 'are treated fairly', and must be 'are predicted correctly'",
        ),
        (lambda d: d["parts"][0]["by_group"][0].update(ci_low=0.99, ci_high=1.0), "value is .*, and must lie in its"),
        (lambda d: d["parts"][0]["comparisons"][1].update(p_value=1e-30), "p_value is 1e-30, "),
    ],
)
def test_what_an_audit_says_of_itself_cannot_be_turned_round(documents, lie, message):
    document = json.loads(json.dumps(documents[0]))
    lie(document)
    with pytest.raises(ValueError, match=message):
        FairnessAudit.from_json(json.dumps(document))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_record_of_the_second_version_is_read_and_written_as_it_was(documents):
    for document in json.loads(json.dumps(documents)):
        document["schema_version"] = 2
        for part in document["parts"]:
            del part["hypotheses"]
        text = json.dumps(document, indent=2) + "\n"
        assert FairnessAudit.from_json(text).to_json() == text
