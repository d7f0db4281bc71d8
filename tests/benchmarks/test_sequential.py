"""The benchmark of streams: its many streams at once are the class's one, and its figures are within the bounds."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
from benchmarks import sequential
from skfairtest import SequentialFairnessTest
from skfairtest.inference.e_process import EProcess, e_holm


@pytest.mark.parametrize("name", ["a group is often missing", "one sample at a time"])
@pytest.mark.parametrize("method", ["blocks", "betting"])
def test_streams_that_are_simulated_together_are_those_of_the_class(name, method):
    stream, rng = sequential.FAIR[name], np.random.default_rng(0)
    together, alone = sequential.Evidence(3, method), [EProcess(0.0, method) for _ in range(3)]
    for look, counts in enumerate(stream.batches(3, rng)):
        together.take(counts)
        for process, own in zip(alone, counts, strict=True):
            process.update(sequential.BITS, own, 3.0)
        if look == 20:
            break
    np.testing.assert_allclose(together.log_e, [process.log_e for process in alone], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(together.log_detector, [process.log_detector for process in alone], rtol=1e-9)


def test_three_e_values_are_adjusted_as_any_number_is():
    log_e = np.random.default_rng(0).normal(scale=4, size=(50, 3))
    np.testing.assert_allclose(sequential.closed(log_e), [e_holm(row) for row in log_e])


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
    default = SequentialFairnessTest().partial_fit([0, 1], sensitive_features=["a", "b"]).method_
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
