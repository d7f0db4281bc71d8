"""
German Credit by quarters: looking every time
=============================================

A bank's loans, quarter by quarter: are applicants of 25 or younger rated good risks as often as older ones? Somebody
looks after every quarter, and would like to stop as soon as it is clear. A test made for one look is not made for that.
"""

# %%
# The 1,000 applicants of the German Credit data (Statlog, H. Hofmann 1994), in the order of the file, as four quarters
# of 250: how many of each age group were rated good and bad risks.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfairtest import FairnessTest, MonitorDisplay, SequentialFairnessTest

QUARTERS = [
    {"25 or younger": (29, 18), "older": (151, 52)},
    {"25 or younger": (31, 16), "older": (153, 50)},
    {"25 or younger": (25, 26), "older": (138, 61)},
    {"25 or younger": (25, 20), "older": (148, 57)},
]


def rows(quarter):
    """Return the ratings (1: good) and the age groups of a quarter, one row per applicant."""
    rating = np.concatenate([np.repeat([1, 0], counts) for counts in quarter.values()])
    age = np.repeat(list(quarter), [sum(counts) for counts in quarter.values()])
    return rating, age


# %%
# What is usually done, beside what is valid. ``p so far`` is the exact test of all applicants until now, repeated after
# every quarter as if each look were the only one; ``e_value`` is the evidence of the sequential test, and ``valid p``
# its p-value, which may be looked at whenever one likes.
test, seen, table = SequentialFairnessTest(), [], []
for number, quarter in enumerate(QUARTERS, start=1):
    rating, age = rows(quarter)
    seen.append((rating, age))
    test.partial_fit(y_pred=rating, sensitive_features={"age": age}, name=f"quarter {number}", time=f"Q{number}")
    everyone = [np.concatenate(column) for column in zip(*seen, strict=True)]
    repeated = FairnessTest.from_predictions(
        None, everyone[0], sensitive_features={"age": everyone[1]}, metric="selection_rate"
    )
    now = test.comparisons_.iloc[0]
    table.append(
        {
            "quarter": number,
            "difference": now["disparity"],
            "p so far": repeated.p_value_,
            "e_value": now["e_value_adjusted"],
            "valid p": test.p_value_,
            "from": now["ci_low"],
            "to": now["ci_high"],
        }
    )
print(pd.DataFrame(table).round(4).to_string(index=False))

# %%
# The repeated test is below .05 after the second quarter already. That happens by chance, too: where the ages of the
# same applicants are shuffled within every quarter nothing depends on age, and one of the four looks is below .05 far
# more often than in five of a hundred cases.
rng = np.random.default_rng(0)
alarms = {"repeated test": 0, "sequential test": 0}
SHUFFLES = 60
for _ in range(SHUFFLES):
    shuffled = [(rating, rng.permutation(age)) for rating, age in seen]
    stream, smallest = SequentialFairnessTest(), 1.0
    for number, (rating, age) in enumerate(shuffled, start=1):
        stream.partial_fit(y_pred=rating, sensitive_features={"age": age})
        y_pred, groups = (np.concatenate(column) for column in zip(*shuffled[:number], strict=True))
        look = FairnessTest.from_predictions(
            None, y_pred, sensitive_features={"age": groups}, metric="selection_rate", method="asymptotic"
        )
        smallest = min(smallest, look.p_value_)
    alarms["repeated test"] += smallest <= 0.05
    alarms["sequential test"] += stream.rejected_
print({name: f"{count} of {SHUFFLES}" for name, count in alarms.items()})

# %%
# The sequential test waits longer, and its answer holds: in the last quarter the evidence is beyond 20, which a stream
# without a disparity reaches with a probability of at most .05, ever.
MonitorDisplay.from_test(test)
plt.show()
print(test.summary())
