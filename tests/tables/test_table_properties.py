"""What is true of every table, tried on random ones."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from skfairtest.tables import CountTable

PROFILE = settings(deadline=None)

labels = st.sampled_from([[0, 1], [-1, 1], [False, True], ["no", "yes"], ["ü", "日本"]])
groups = st.sampled_from([["f", "m"], [1, 2, 3], ["a", 0, True, "nan"], [0.5, 1.5], ["é"]])


@st.composite
def people(draw):
    """Draw the arguments of from_predictions for a few people."""
    n = draw(st.integers(1, 30))

    def column(levels):
        return draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n))

    levels = draw(labels)
    data = {"y_true": column(levels), "y_pred": column(levels)}
    if draw(st.booleans()):
        data["y_score"] = column([1, 2, 2.5])
    data["sensitive_features"] = {f"s{i}": column(draw(groups)) for i in range(draw(st.integers(1, 2)))}
    if draw(st.booleans()):
        data["control_features"] = {"c": column(draw(groups))}
    return data


def take(data, rows):
    """Keep some people, in this order."""
    return {
        name: {k: [v[i] for i in rows] for k, v in values.items()}
        if isinstance(values, dict)
        else [values[i] for i in rows]
        for name, values in data.items()
    }


@PROFILE
@given(people())
def test_counts_agree_with_counting_by_hand(data):
    table = CountTable.from_predictions(**data)
    cells = [data[name] for name in table.cell_names]
    columns = [*data.get("control_features", {}).values(), *data["sensitive_features"].values()]
    rows = list(zip(*columns, *cells, strict=True))
    n_control = len(table.control_names)
    n_features = len(columns)
    for s, stratum in enumerate(table.strata):
        for g, group in enumerate(table.groups):
            for k, cell in enumerate(table.cells):
                assert table.counts[s, g, k] == rows.count((*stratum, *group, *cell))
    assert {row[:n_control] for row in rows} == set(table.strata)
    assert {row[n_control:n_features] for row in rows} == set(table.groups)
    assert {row[n_features:] for row in rows} == set(table.cells)
    assert table.n_samples == len(rows)


@PROFILE
@given(people())
def test_the_frame_read_back_gives_the_table(data):
    table = CountTable.from_predictions(**data)
    roles = {name: name for name in table.cell_names}
    roles |= {
        "sensitive_features": table.sensitive_names,
        "control_features": table.control_names,
    }
    frame = table.to_frame()
    assert CountTable.from_counts(frame, **roles) == table
    assert CountTable.from_counts(frame.sample(frac=1, random_state=0), **roles) == table
    keys = frame.columns[:-1]
    mapping = {tuple(row[:-1]): row[-1] for row in frame.itertuples(index=False)}
    assert CountTable.from_counts(mapping, names=keys, **roles) == table


@PROFILE
@given(people(), st.integers(1, 4))
def test_merged_shards_are_the_whole(data, n_shards):
    n = len(data["y_true"])
    shards = [take(data, range(start, n, n_shards)) for start in range(min(n, n_shards))]
    first, *others = [CountTable.from_predictions(**shard) for shard in shards]
    assert first.merge(*others) == CountTable.from_predictions(**data)


@PROFILE
@given(people())
def test_regrouping_is_counting_by_fewer_columns(data):
    table = CountTable.from_predictions(**data)
    name = table.sensitive_names[-1]
    fewer = {**data, "sensitive_features": {name: data["sensitive_features"][name]}}
    fewer.pop("control_features", None)
    assert table.regroup(name, control_features=[]) == CountTable.from_predictions(**fewer)
    marginal = {k: v for k, v in data.items() if k not in ("y_true", "y_score")}
    assert table.marginal("y_pred") == CountTable.from_predictions(**marginal)


@PROFILE
@given(people())
def test_every_container_gives_the_same_table(data):
    table = CountTable.from_predictions(**data)
    pandas = {k: pd.DataFrame(v) if isinstance(v, dict) else pd.Series(v) for k, v in data.items()}
    arrays = {
        k: np.array(list(zip(*v.values(), strict=True)), dtype=object)
        if isinstance(v, dict)
        else np.array(v, dtype=object)
        for k, v in data.items()
    }
    assert CountTable.from_predictions(**pandas) == table
    nameless = CountTable.from_predictions(**arrays)
    assert nameless.groups == table.groups
    assert np.array_equal(nameless.counts, table.counts)
