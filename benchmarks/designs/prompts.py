"""Answers of a language model to prompts that differ in difficulty, and in the effect of a name, whose mean is 0.

Every prompt is answered for both names, or each prompt belongs to one group; each is asked several times. Equality is
tested as if every answer were a person, within prompts (control features), and with prompts as clusters.
"""

import numpy as np

from benchmarks.common.design import Design, one_by_one
from skfairtest import FairnessTest

ALPHA = 0.05


def answers(prompts, repeats, effect, both_names, rng):
    """Return the prompt, the name and the correctness of each answer."""
    odds, effects = rng.normal(0, 1.5, prompts), rng.normal(0, effect, prompts)
    prompt = np.repeat(np.arange(prompts), (1 + both_names) * repeats)
    name = np.tile(np.repeat([0, 1], repeats), prompts) if both_names else (prompt >= prompts // 2).astype(int)
    logits = odds[prompt] + effects[prompt] * (name - 0.5)
    return prompt, name, (rng.random(len(prompt)) < 1 / (1 + np.exp(-logits))).astype(int)


def asked(prompts, repeats, effect, both_names):
    def draw(rng):
        prompt, name, right = answers(prompts, repeats, effect, both_names, rng)
        ways = {"prompts as clusters": {"clusters": prompt}, "answers as people": {}}
        if both_names:
            ways["prompts as strata"] = {"control_features": prompt}
        common = {"sensitive_features": name, "metric": "selection_rate", "random_state": 0, "n_resamples": 399}
        return {
            way: {"size": FairnessTest.from_predictions(None, right, **common, **known).p_value_ <= ALPHA}
            for way, known in ways.items()
        }

    return one_by_one(draw)


DESIGNS = [
    Design(
        f"prompts/{prompts}, {repeats} answers to each, effect {effect:g}, {('one group each', 'both names')[both]}",
        asked(prompts, repeats, effect, both), 600, ("prompts as clusters",), 60 * (effect == 0.8 and prompts == 20),
    )
    for prompts, repeats, effect, both in (
        (60, 1, 0.0, True), (60, 1, 1.5, True), (20, 10, 0.0, True), (20, 10, 0.8, True), (60, 10, 0.8, True),
        (60, 5, 1.5, True), (20, 10, 0.0, False), (60, 10, 0.0, False),
    )
]  # fmt: skip
