"""The reports that the site shows: made when it is built, by what its readers would type."""

import subprocess
import sys
import warnings

SHOWN = (
    ("compas.html", "The report on COMPAS"),
    ("diabetes.html", "A report in which no significant disparity was detected"),
)


def audited_model():
    """Audit a classifier of the diabetes data of scikit-learn by sex and age: few people, and nothing significant."""
    import pandas as pd
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from skfairtest import FairnessAudit

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    worse = (y > y.median()).astype(int).rename("disease progressed")
    X_train, X_test, y_train, y_test = train_test_split(X, worse, test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    groups = pd.DataFrame(
        {"sex": X_test["sex"].astype(int), "age": X_test["age"].ge(50).map({True: "50 or older", False: "under 50"})}
    )
    metrics = ["selection_rate", "true_positive_rate", "false_positive_rate"]
    return FairnessAudit(model, metrics=metrics, random_state=0).fit(X_test, y_test, sensitive_features=groups)


def write_reports(folder, environment):
    """Write the pages of `SHOWN` into a folder, and beside it the HTML that shows each of them."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [folder / name for name, _ in SHOWN]
    demo = [sys.executable, "-m", "skfairtest", "demo", "--html", pages[0]]
    subprocess.run(demo, env=environment, check=True, capture_output=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        audit = audited_model()
    audit.to_html(pages[1])
    (folder / "diabetes.md.txt").write_text(audit.to_markdown(), encoding="utf-8")
    for name, title in SHOWN:
        address = f"_static/reports/{name}"
        shown = (
            f'<iframe class="report" src="{address}" title="{title}" loading="lazy"></iframe>\n'
            f'<p><a href="{address}">{title}, on a page of its own</a></p>\n'
        )
        (folder / f"{name}.txt").write_text(shown, encoding="utf-8")
