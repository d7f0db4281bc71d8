"""Who and what in plain words: groups with their features, predictions by what they mean, and which way is worse."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from skfairtest._utils.text import enumerated, label

#: Features whose values are adjectives of people: "Hispanic people", where "yes people" would say nothing.
_ADJECTIVES = re.compile(r"(?:.*[_ .-])?(?:race|ethnicity|sex|gender|nationality|religion)\d*", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{3,}(?:[ -][^\W\d_]{3,})*")
#: Values that are no adjectives: "other people" are everyone else.
_NO_ADJECTIVES = re.compile(
    r"\b(?:other|unknown|none|missing|yes|not|true|false|and|nan|null|refused)\b", re.IGNORECASE
)
#: What a feature is called that came without a name.
_UNNAMED = re.compile(r"sensitive_feature_\d+")
#: Values that have a noun.
_NOUNS = {"female": "women", "woman": "women", "women": "women", "male": "men", "man": "men", "men": "men"}
#: How rates name predictions; `in_words` says instead what they mean.
_POSITIVE, _NEGATIVE = "predicted positive", "predicted negative"

#: Which value is worse for people (1: the higher one) if a positive prediction is bad for them, and if it is good.
_WORSE = {
    **dict.fromkeys(("selection_rate", "true_positive_rate", "false_positive_rate", "mean_prediction"), (1, -1)),
    **dict.fromkeys(("true_negative_rate", "false_negative_rate"), (-1, 1)),
    "precision": (-1, 0), "false_discovery_rate": (1, 0),
    "negative_predictive_value": (0, -1), "false_omission_rate": (0, 1),
}  # fmt: skip
_ERRORS = re.compile(r"mean_.*_error|.*_loss|brier_score")
_SCORES = re.compile(
    r"accuracy|f\d.*|jaccard.*|(?:precision|recall)_(?:micro|macro|weighted)|roc_auc|average_precision|neg_.*|r2|"
    r"balanced_accuracy|geometric_mean|matthews_corrcoef|cohen_kappa"
)


def told(names: Sequence[str], group: Any) -> str:
    """Name a group with its features.

    Examples
    --------
    >>> told(["black"], 1), told(["race", "sex"], ("Black", "Female"))
    ('black = 1', 'race = Black and sex = Female')
    """
    values = group if isinstance(group, tuple) and len(names) > 1 else (group,)
    if len(values) != len(names):  # features without names
        return f"({label(group)})" if isinstance(group, tuple) else label(group)
    return enumerated([f"{label(name)} = {label(value)}" for name, value in zip(names, values, strict=True)])


def are_words_unique(names: Sequence[str], groups: Iterable[Any]) -> bool:
    """Whether no two groups are called alike, at the beginning of a sentence either."""
    words = [people_of(names, group).lower() for group in groups]
    return len(set(words)) == len(words)


def people_of(names: Sequence[str], group: Any, *, unique: bool = True) -> str:
    """Name the people of a group, as a noun of a sentence.

    Examples
    --------
    >>> people_of(["race"], "African-American"), people_of(["race"], "Other")
    ('African-American people', 'people whose race is Other')
    >>> (
    ...     people_of(["sex"], "Female"),
    ...     people_of(["foreign"], "yes"),
    ...     people_of(["sensitive_feature_0"], "b"),
    ... )
    ('women', 'people with foreign = yes', 'people of group b')
    """
    if len(names) == 1 and _ADJECTIVES.fullmatch(names[0]) and isinstance(group, str):
        if not unique or not _WORDS.fullmatch(group) or _NO_ADJECTIVES.search(group):
            return f"people whose {label(names[0])} is {label(group)}"
        return _NOUNS.get(group.lower()) or f"{label(group)} people"
    if len(names) == 1 and _UNNAMED.fullmatch(names[0]):
        return f"people of group {label(group)}"
    values = group if isinstance(group, tuple) and len(names) > 1 else (group,)
    return f"people with {told(names, group)}" if len(values) == len(names) else told(names, group)


def sides_of(names: Sequence[str], compare: str, group: Any, other: Any, *, unique: bool = True) -> tuple[str, str]:
    """Name the people on both sides of a comparison.

    Examples
    --------
    >>> sides_of(["race"], "between_groups", "Hispanic", "Other")
    ('Hispanic people', 'people whose race is Other')
    >>> sides_of(["race"], "to_rest", "Hispanic", "rest")
    ('Hispanic people', 'everyone else')
    """
    several = {"to_overall": "everyone", "to_rest": "everyone else"}.get(compare)
    if compare == "to_parents":
        several = f"others with {label(other).removeprefix('rest of ')}"
    return people_of(names, group, unique=unique), several or people_of(names, other, unique=unique)


def in_words(text: str, positive_means: str | None) -> str:
    """Say of a prediction what it means.

    Examples
    --------
    >>> (
    ...     in_words("are predicted positive", "denied"),
    ...     in_words("had been predicted negative", "denied"),
    ... )
    ('are denied', 'had not been denied')
    """
    if not positive_means:
        return text
    meant = label(positive_means)
    text = text.replace(f"been {_NEGATIVE}", f"not been {meant}")
    return text.replace(_POSITIVE, meant).replace(_NEGATIVE, f"not {meant}")


def past(happens: str) -> str:
    """Say what happens of people who were counted.

    Examples
    --------
    >>> past("are predicted positive"), past("were charged again")
    ('were predicted positive', 'were charged again')
    """
    return f"were {happens.removeprefix('are ')}" if happens.startswith("are ") else happens


def in_unit(text: str, unit: str, names: Iterable[str] = ()) -> str:
    """Call people what a test calls them; names of the data stay as they are.

    Examples
    --------
    >>> in_unit("People of group b, everyone else, 1 person who had no one", "answers")
    'Answers of group b, all other answers, 1 answer that had no answer'
    >>> in_unit("people with race = Black people", "answers", ["Black people"])
    'answers with race = Black people'
    >>> in_unit("a person, 1 person", "answers"), in_unit("a person, no one", "companies")
    ('an answer, 1 answer', 'a company, no company')
    """
    alone = re.sub("(?<=ss|sh|ch|.x)es$|s$", "", re.sub("ies$", "y", unit))
    words = {
        "a person": f"{'an' if alone[:1].lower() in {*'aeiou'} else 'a'} {alone}",
        "everyone else": f"all other {unit}", "everyone": f"all {unit}", "no one": f"no {alone}", "people": unit,
        "person": alone, "whom": "which", "who": "that",
    }  # fmt: skip
    kept = sorted((name for name in names if any(word in name.lower() for word in words)), key=len, reverse=True)

    def write(found: re.Match[str]) -> str:
        word = found.group()
        said = words.get(word.lower(), word) if word not in kept else word
        return said[0].upper() + said[1:] if word[0].isupper() else said

    whole = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in kept]
    return re.sub("|".join([*whole, rf"(?i:\b(?:{'|'.join(words)})\b)"]), write, text)


def worse_when(metric: str, favorable: bool | None) -> int:
    """Say which value of a metric is worse for the people of a group.

    Examples
    --------
    >>> [worse_when("selection_rate", favorable) for favorable in (True, False, None)]
    [-1, 1, 0]
    >>> worse_when("accuracy", None), worse_when("mean_squared_error", None)
    (-1, 1)
    >>> [worse_when("precision", favorable) for favorable in (True, False)]
    [0, -1]
    """
    way = bool(_ERRORS.fullmatch(metric)) - bool(_SCORES.fullmatch(metric))
    return way if way or favorable is None else _WORSE.get(metric, (0, 0))[int(favorable)]
