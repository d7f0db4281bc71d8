"""What the first sentences say about groups that are too small to tell."""

import re

import numpy as np
import pytest

from skfairtest import FairnessAudit

NAMES, SIZES = ("White", "Black", "Asian"), (800, 60, 9)


@pytest.fixture(scope="module")
def lines():
    """Black people are selected more often than White people, but of the truly positive as often as them."""
    place = np.concatenate([np.arange(n) for n in SIZES])
    group = np.repeat(NAMES, SIZES)
    truth = np.where(group == "Black", place < 12, place % 2).astype(int)
    chosen = np.where(group == "Black", (place < 2) | (place >= 20), place % 10 < 3).astype(int)
    audit = FairnessAudit.from_predictions(
        truth, chosen, sensitive_features={"race": group}, metrics=["selection_rate", "true_positive_rate"]
    )
    assert audit.comparisons_.set_index(["metric", "group", "other"])["concern"].to_dict()[
        "selection_rate", "Black", "White"
    ]
    return audit.to_text().splitlines()


def test_a_large_group_is_not_too_small_because_others_are(lines):
    (said,) = [line for line in lines if line.startswith("Too few people to tell: ")]
    assert "Asian people (9)" in said
    assert "White" not in said


def test_only_the_metrics_are_named_in_which_nothing_was_found(lines):
    (said,) = [line for line in lines if line.startswith("Too few people to tell: ")]
    assert "Black people (60) in true positive rate" in said


def test_people_who_are_left_out_do_not_count_among_the_compared():
    groups = ["a"] * 50 + ["b"] * 40 + [None] * 10
    audits = {
        how: FairnessAudit.from_predictions(
            None, [0, 1] * 50, sensitive_features={"sex": groups}, metrics="selection_rate", missing=how
        )
        for how in ("exclude", "group")
    }
    assert "people: 90 of 100," in str(audits["exclude"])
    assert "people: 100," in str(audits["group"])


def counted(counts, names, **params):
    """An audit of selection rates, by (selected, not selected) of each group."""
    rows = [(group, chosen) for group, both in counts.items() for chosen in (1, 0) for _ in range(both[1 - chosen])]
    groups, chosen = zip(*rows, strict=True)
    features = {names[0]: groups} if len(names) == 1 else dict(zip(names, zip(*groups, strict=True), strict=True))
    given = {"sensitive_features": features, "metrics": "selection_rate", **params}
    return FairnessAudit.from_predictions(None, chosen, **given)


RACES = {"White": (400, 600), "Black": (190, 310), "Native American": (3, 9)}
CROSSED = {
    ("White", "Female"): (200, 300), ("White", "Male"): (200, 300), ("Black", "Female"): (95, 155),
    ("Black", "Male"): (95, 155), ("Native American", "Female"): (1, 6), ("Native American", "Male"): (2, 3),
}  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "names", "params", "largest", "enough"),
    [
        (
            RACES, ["race"], {},
            "ative American people were predicted positive less often than White people: 25.0% versus 40.0%, 15.0",
            "lack people were predicted positive less often than White people: 38.0% versus 40.0%",
        ),
        (
            RACES, ["race"], {"disparity": "ratio"},
            "ative American people were predicted positive less often than White people: 25.0% versus 40.0%, 0.62",
            "lack people were predicted positive less often than White people: 38.0% versus 40.0%",
        ),
        (
            CROSSED, ["race", "sex"], {},
            "people with race = Native American and sex = Female were predicted positive less often than everyone",
            "lack people were predicted positive less often than White people: 38.0% versus 40.0%",
        ),
    ],
)  # fmt: skip
def test_the_largest_gap_is_the_largest_and_says_where_people_are_too_few(counts, names, params, largest, enough):
    said = str(counted(counts, names, **params))
    (few,) = [line for line in said.splitlines() if line.startswith("The largest gap observed: ")]
    (other,) = [line for line in said.splitlines() if line.startswith("The largest gap between groups with enough")]
    assert largest in few
    assert f"({12 if len(names) == 1 else 7} people: too few to tell)." in few
    assert enough in other
    assert "too few" not in other


def test_a_stratum_may_have_the_largest_gap():
    sex, town = np.repeat(["f", "m"], 200), np.tile(np.repeat(["north", "south"], 100), 2)
    place = np.arange(400) % 100
    chosen = (place < np.select([(sex == "f") & (town == "north"), sex == "f"], [36, 48], 42)).astype(int)
    audit = FairnessAudit.from_predictions(
        None, chosen, sensitive_features={"sex": sex}, control_features={"town": town}, metrics="selection_rate"
    )
    gaps = audit.comparisons_.set_index("stratum")["disparity"].abs()
    assert gaps.idxmax() in ("north", "south")
    assert f"The largest gap observed: in {gaps.idxmax()}, " in str(audit)


def test_gaps_in_different_units_are_not_called_the_largest_of_all():
    rng = np.random.default_rng(0)
    truth, score = rng.integers(0, 2, 300), rng.random(300).round(2)
    audit = FairnessAudit.from_predictions(
        truth, (score > 0.5).astype(int), y_score=score, sensitive_features={"sex": np.repeat(["f", "m"], 150)},
        metrics=["selection_rate", "roc_auc"], n_resamples=99, random_state=0,
    )  # fmt: skip
    assert not audit.concern_
    assert "The largest gap observed in selection_rate: " in str(audit)


@pytest.mark.parametrize(
    ("labels", "sides"),
    [
        (("Female", "Male"), ("Women", "men")),
        (("Female", "female"), ("People whose sex is Female", "people whose sex is female")),
        (("Woman", "Female"), ("People whose sex is Woman", "people whose sex is Female")),
        (("queer", "Queer"), ("People whose sex is queer", "people whose sex is Queer")),
        (("Female", "Male", "female"), ("People whose sex is Female", "people whose sex is Male")),
    ],
)
@pytest.mark.filterwarnings("ignore:sensitive_features. values of column 'sex' differ only by case:UserWarning")
def test_words_stand_for_groups_only_where_they_are_unique(labels, sides):
    audit = counted(dict(zip(labels, [(10, 90), (40, 60), (12, 88)], strict=False)), ["sex"])
    assert f"{sides[0]} were predicted positive less often than {sides[1]}: 10.0% versus 40.0%" in str(audit)
    assert FairnessAudit.from_json(audit.to_json()).to_text() == audit.to_text()


@pytest.mark.parametrize(
    ("counts", "params", "said"),
    [
        (
            {"Female": (4, 96), "Male": (11, 89)}, {"positive_means": "hired"},
            "if 1 of the 4 women who were hired had not been hired",
        ),
        (
            {"Female": (4, 96), "Male": (11, 89)}, {},
            "if 1 of the 4 women who were predicted positive had been predicted negative",
        ),
        ({"Female": (3, 2), "Male": (2, 3)}, {}, "Changing one group's decisions cannot reverse the verdict."),
    ],
)  # fmt: skip
def test_breaking_points_are_told_of_the_people_who_would_change(counts, params, said):
    assert said in str(counted(counts, ["sex"], **params))


@pytest.mark.parametrize(
    ("selected", "said"),
    [
        (
            {"White": (40, 60), "Black": (20, 80), "Asian": (35, 65), "Native American": (0, 3)},
            "1 of 2 impact ratios is below .8; the lowest is 0.500, of Black (race). Too few people to compare: Native "
            "American (3 people, 0.000 times the highest rate compared).",
        ),
        (
            {"White": (40, 60), "Black": (38, 62), "Native American": (2, 0)},
            "The impact ratio is not below .8: 0.950, of Black (race). Too few people to compare: Native American "
            "(2 people, 2.500 times the highest rate compared).",
        ),
    ],
)
def test_the_verdict_says_how_many_impact_ratios_are_below_four_fifths(selected, said):
    verdict = str(counted(selected, ["race"], impact=True)).partition("At a glance")[0]
    assert said in " ".join(verdict.split())


@pytest.mark.filterwarnings("ignore::UserWarning")  # few people
def test_acronyms_keep_their_capitals_in_a_sentence():
    y, score = [0, 1] * 30, [place / 60 for place in range(60)]
    audit = FairnessAudit.from_predictions(
        y, y_score=score, sensitive_features={"sex": ["f"] * 12 + ["m"] * 48}, metrics=["roc_auc", "calibration"]
    )
    few, *_ = re.findall(r"Too few people to tell: .*", str(audit))
    assert few == "Too few people to tell: people whose sex is f (12) in ROC AUC."
