"""
Errors that depend on age
=========================

Age is not a group. Cutting it at 25 or 45 determines what can be detected, and loses power; a correlation uses every
age as it is. The null hypothesis: the correlation of a model's absolute errors with age is zero.
"""

# %%
# This model of income was made for middle-aged people: its errors grow with the distance from age 45.
import matplotlib.pyplot as plt
import numpy as np

from skfairtest import CorrelationFairnessTest

rng = np.random.default_rng(0)
age = rng.uniform(20, 70, 250)
income = 30 + 0.2 * age + rng.normal(size=250) * (1 + 0.12 * np.abs(age - 45))
predicted = 30 + 0.2 * age
figure, axes = plt.subplots(layout="constrained", figsize=(7, 3.2))
axes.scatter(age, income - predicted, s=12)
axes.axhline(0, color="0.5", linewidth=1)
axes.set(xlabel="age in years", ylabel="error (true income minus predicted)")
plt.show()

# %%
# Pearson's correlation detects nothing, because errors grow towards both ends.
straight = CorrelationFairnessTest.from_predictions(
    income, predicted, sensitive_features={"age": age}, n_resamples=999, random_state=0
)
print(straight)

# %%
# What matters is the distance from middle age: errors grow with it, and are too high as often as too low.
for of in ("absolute_error", "residual"):
    test = CorrelationFairnessTest.from_predictions(
        income, predicted, of=of, sensitive_features={"distance from 45": np.abs(age - 45)}, random_state=0
    )
    print(str(test).splitlines()[0])
