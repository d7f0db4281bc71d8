"""
A regression: errors by sex and by age
======================================

A model predicts how far diabetes has progressed after a year, for 442 people. Do its errors depend on sex? On age?
No one is selected here, so rates do not exist; means of errors and correlations take their place.
"""

# %%
# Each person is predicted by a model that was trained without them, because training data flatter a model. The data
# call the sexes 1 and 2 and do not say which is which.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict

from skfairtest import CorrelationFairnessTest, FairnessTest

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
predicted = cross_val_predict(RidgeCV(), X, y, cv=10)
sex = X["sex"].astype(int).astype(str)

# %%
# The null hypothesis of each row: the mean is the same for both sexes. ``mean_prediction`` tests whether the model
# predicts more for one of them, ``mean_residual`` whether it predicts too little, ``mean_squared_error`` and
# ``mean_absolute_error`` whether its errors are larger.
test = FairnessTest.from_predictions(
    y,
    predicted,
    sensitive_features={"sex": sex},
    metric=["mean_prediction", "mean_residual", "mean_absolute_error", "mean_squared_error"],
    random_state=0,
)
print(test)

# %%
# The same for age, without binning: the null hypothesis is a correlation of zero.
for of in ("prediction", "residual", "absolute_error"):
    by_age = CorrelationFairnessTest.from_predictions(
        y, predicted, of=of, sensitive_features={"age": X["age"]}, random_state=0
    )
    print(str(by_age).splitlines()[0])

# %%
# Predictions rise with age, as the disease does. The important question is whether the errors do.
figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(9, 3.6))
for label, marker in (("1", "o"), ("2", "^")):
    here = (sex == label).to_numpy()
    left.scatter(X["age"][here], (y - predicted)[here], s=12, marker=marker, alpha=0.6, label=f"sex {label}")
left.axhline(0, color="0.5", linewidth=1)
left.set(xlabel="age in years", ylabel="residual (truth minus prediction)")
left.legend()
edges = np.linspace(0, np.abs(y - predicted).max(), 16)
for label, style in (("1", "-"), ("2", "--")):
    errors = np.abs(y - predicted)[(sex == label).to_numpy()]
    right.hist(errors, bins=edges, density=True, histtype="step", linestyle=style, label=f"sex {label}")
right.set(xlabel="absolute error", ylabel="density")
right.legend()
plt.show()

# %%
# That no difference was detected does not mean that there is none. How large could it be? The interval of the mean
# residual says so, in the units of the disease score, whose standard deviation is printed beside it.
print(test.to_frame()[["metric", "disparity", "ci_low", "ci_high"]].round(1).to_string(index=False))
print(f"standard deviation of the score: {y.std():.1f}")
