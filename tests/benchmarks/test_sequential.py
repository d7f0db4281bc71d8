"""The benchmark of streams: its many streams at once are the class's one, and its figures are within the bounds."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import sequential
from skfairtest import SequentialFairnessTest


@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_streams_that_are_simulated_together_are_those_of_the_class(method):
    stream, rng = sequential.FAIR["a group is often missing"], np.random.default_rng(0)
    together = sequential.begun(3, method)
    alone = [SequentialFairnessTest(blocks="batches", method=method, groups=["a", "b"]) for _ in range(3)]
    for look, counts in enumerate(stream.batches(3, rng)):
        log_e = sequential.take(together, counts)
        for test, own in zip(alone, counts.astype(int), strict=True):
            test.partial_fit(
                y_pred=np.repeat([0, 1, 0, 1], own.ravel()), sensitive_features=np.repeat(list("aabb"), own.ravel())
            )
        if look == 12:
            break
    np.testing.assert_allclose(np.exp(log_e), [test.comparisons_["e_value"].item() for test in alone], rtol=1e-9)


@pytest.mark.parametrize("arrival", [name for name in sequential.ARRIVALS if name != "at random"])
def test_single_samples_that_are_simulated_together_are_those_of_the_class(arrival):
    seed, rates, rows = 0, (0.2, 0.8), 60
    first, most = sequential.looked_at_single(arrival, rates, 1, np.random.default_rng(seed), "blocks", rows)
    values = (np.random.default_rng(seed).random((1, rows, 2)) < rates).astype(int)[0]
    test, come, group, row = SequentialFairnessTest(groups=["a", "b"]), [0, 0], 0, 0
    for _ in range(rows):
        event = values[come[group], group]
        test.partial_fit(y_pred=[event], sensitive_features=["ab"[group]])
        come[group] += 1
        row = row + 1 if event else 0
        then = sequential.ARRIVALS[arrival](group, event, min(row, 2), 0)
        group, row = then, row if then == group else 0
    assert -np.log(test.p_value_) == pytest.approx(most[0], rel=1e-9)
    assert (test.rejected_at_ or np.nan) == pytest.approx(first[0], nan_ok=True)


def test_exact_p_values_are_those_of_fisher():
    counts = np.array([[[30.0, 12], [7, 9]], [[3, 1], [8, 0]], [[30, 12], [7, 9]]])
    from scipy.stats import fisher_exact

    one_sided = [[fisher_exact(table, side).pvalue for side in ("less", "greater")] for table in counts]
    np.testing.assert_allclose(sequential.exact_p(counts), np.minimum(1, 2 * np.min(one_sided, axis=1)))


def test_losses_of_the_fair_stream_have_equal_means():
    means = sequential.SHARES @ sequential.LOSSES
    assert means[0] == pytest.approx(means[1], abs=1e-12)
    np.testing.assert_allclose(sequential.SHARES.sum(axis=1), 1)


def test_committed_figures_are_complete_and_within_the_bounds():
    figures = sequential.load()
    assert list(figures) == list(sequential.cases(quick=False))
    assert list(sequential.problems(figures)) == []
    assert all(found["streams"] == sequential.STREAMS for name, found in figures.items() if name.startswith("fair"))
    drifting = figures["fair: rates and mixes drift"]["ever"]
    assert drifting["exact test of all data each look"] > 0.5  # which is what the class is for
    default = SequentialFairnessTest().partial_fit(y_pred=[0, 1], sensitive_features=["a", "b"]).method_
    for name, found in figures.items():
        if name.startswith("delay"):
            waits = {method: found["delay"][method]["median"] or np.inf for method in ("blocks", "betting")}
            assert default == min(waits, key=waits.get)


@pytest.mark.slow
def test_a_quick_run_stores_nothing(capsys):
    stored = sequential.RESULTS.read_bytes()
    assert sequential.main(["--quick", "--only", "three groups"]) == 0
    assert "Every figure holds." in capsys.readouterr().out
    assert sequential.RESULTS.read_bytes() == stored
