"""Adult and COMPAS as Maity et al. (2021) use them, appendices F.1 and G: arrays of features, labels, sex and race.

Adult: the 45,222 complete records; five numbers and the one-hot categories of work class, marital status, occupation
and relationship, 39 features. Sex and race (white or not) are none of them. COMPAS: the African-American and Caucasian
defendants among the 6,172 whose charge is within 30 days of the screening, 5,278 records of 7 features, the first two
sex and race themselves; "everyone" are the 6,172, Caucasian or not, as the paper says. In both, groups are the columns
sex and race, and 1 is male and white in Adult, female and Caucasian in COMPAS, as the authors code them.

The ten splits are the authors': their seeds are in the names of their files of models, and drawing them as their tools
do gives the same 80% for training. Numbers are standardised by the training people.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.make_compas_counts import data_folder

#: Seeds of the data and of the models.
SEEDS = [
    (20609, 49100), (21440, 98448), (31228, 36230), (45413, 35730), (50057, 73349),
    (51668, 64395), (5192, 98047), (7751, 43757), (97561, 21758), (98539, 77708),
]  # fmt: skip
NUMBERS = {
    "adult": ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"],
    "compas": ["priors_count"],
    "everyone": ["priors_count"],
}
#: Features that are sensitive themselves.
SENSITIVE_COLUMNS = {"adult": [], "compas": ["sex", "race"], "everyone": ["sex", "race"]}


@dataclass(frozen=True)
class People:
    """Some people of a data set: features, labels 0 or 1, and a data frame of sex and race, 0 or 1."""

    X: np.ndarray
    y: np.ndarray
    groups: pd.DataFrame

    def take(self, rows):
        return People(self.X[rows], self.y[rows], self.groups.iloc[rows].reset_index(drop=True))

    def crossed(self):
        """Sex and race together: four groups."""
        return (self.groups["sex"] + 2 * self.groups["race"]).to_numpy()


def adult(records):
    records = records.dropna()
    categories = ["workclass", "marital_status", "occupation", "relationship"]
    features = pd.concat([records[NUMBERS["adult"]], pd.get_dummies(records[categories])], axis=1)
    groups = {"sex": records["sex"] == "Male", "race": records["race"] == "White"}
    return features, records["income"] == ">50K", groups


def compas(records, races=("African-American", "Caucasian")):
    records = records[
        records["days_b_screening_arrest"].between(-30, 30)
        & (records["is_recid"] != -1)
        & (records["c_charge_degree"] != "O")
        & (records["race"].isin(races) if races else True)
    ]
    groups = {"sex": records["sex"] == "Female", "race": records["race"] == "Caucasian"}
    features = {**groups, "priors_count": records["priors_count"]}
    for ages in ["25 - 45", "Greater than 45", "Less than 25"]:
        features[f"age_cat_{ages}"] = records["age_cat"] == ages
    features["c_charge_degree_F"] = records["c_charge_degree"] == "F"
    return pd.DataFrame(features), records["two_year_recid"] == 1, groups


SOURCES = {
    "adult": (adult, "adult.csv.gz"),
    "compas": (compas, "compas.csv"),
    "everyone": (partial(compas, races=()), "compas.csv"),
}


def load(name):
    """Return the people of a data set, before numbers are standardised, and the names of their features."""
    read, file = SOURCES[name]
    features, y, groups = read(pd.read_csv(data_folder() / file))
    people = People(features.to_numpy(dtype=float), y.to_numpy().astype(int), pd.DataFrame(groups).astype(int))
    return people, list(features.columns)


def split(name, people, names, seed):
    """Return the people of a split for training and for testing, numbers standardised by the former."""
    if name == "adult":
        order = np.random.RandomState(seed).permutation(len(people.y))
        train, test = np.split(order, [int(0.8 * len(order))])
    else:
        rows = np.arange(len(people.y))
        train, test = train_test_split(rows, train_size=0.8, stratify=people.y, random_state=seed)
    numbers = [names.index(number) for number in NUMBERS[name]]
    X = people.X.copy()
    X[:, numbers] = (X[:, numbers] - X[train][:, numbers].mean(axis=0)) / X[train][:, numbers].std(axis=0)
    people = People(X, people.y, people.groups)
    return people.take(train), people.take(test)
