"""Counting by an engine against the engine's own GROUP BY: ``python -m benchmarks.scale [--rows N] [--folder DIR]``.

People are written to one Parquet file in chunks. For each engine a process of its own runs the bare GROUP BY of the
same columns and `CountTable.from_frame` in turn, five times each, and says how much memory it has had at most. The last
part compares scores in bins with the scores themselves.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.special

import skfairtest
from benchmarks.common.results import write
from skfairtest import CountTable, FairnessTest

SEED = 16
CHUNK = 1_000_000
REPETITIONS = 5
ENGINES = ("polars", "duckdb")
GROUPS = ("Asian", "Black", "Hispanic", "Native", "Other", "Pacific", "Two or more", "White")
COLUMNS = {"y_true": "qualified", "y_pred": "approved", "sensitive_features": "race"}
RESULTS = Path(__file__).parent / "results" / "scale.json"


def people(n, rng, power=1):
    """Return labels, decisions, groups and scores of n people; the scores of one group rank a little worse."""
    qualified = rng.integers(0, 2, n, dtype=np.int8)
    group = rng.integers(0, len(GROUPS), n)
    score = scipy.special.expit(rng.normal(size=n) + qualified * (1 - 0.02 * (group == 1)))
    return {
        "race": pyarrow.array(GROUPS).take(pyarrow.array(group)),
        "qualified": qualified,
        "approved": (score > 0.6).astype(np.int8),
        "score": score**power,
    }


def write_people(path, n):
    """Write people to a file, never more than a chunk of them in memory."""
    rng = np.random.default_rng(SEED)
    writer = None
    for start in range(0, n, CHUNK):
        table = pyarrow.table(people(min(CHUNK, n - start), rng))
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def scanned(engine, path):
    """Return the frame of a file, which nobody has read, and its bare GROUP BY."""
    if engine == "polars":
        import polars

        frame = polars.scan_parquet(path)
        query = frame.group_by(*COLUMNS.values()).agg(polars.len())
        return frame, lambda: query.collect(engine="streaming")
    import duckdb

    columns = ", ".join(COLUMNS.values())
    query = f"SELECT {columns}, count(*) FROM '{path}' GROUP BY {columns}"
    return duckdb.sql(f"SELECT * FROM '{path}'"), lambda: duckdb.sql(query).fetchall()


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak():
    """Megabytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(engine, path):
    """Print the figures of one engine as JSON: this is a process of its own."""
    frame, bare = scanned(engine, path)
    table = CountTable.from_frame(frame, **COLUMNS)
    before, ours = [], []
    for _ in range(REPETITIONS):
        before.append(seconds(bare))
        ours.append(seconds(lambda: CountTable.from_frame(frame, **COLUMNS)))
    FairnessTest.from_table(table, random_state=0)
    times = [seconds(lambda: FairnessTest.from_table(table, random_state=0)) for _ in range(REPETITIONS)]
    counted_with = peak()
    binned = seconds(lambda: CountTable.from_frame(frame, y_score="score", score_bins=1024, **COLUMNS))
    figures = {
        "group_by_seconds": round(statistics.median(before), 3),
        "from_frame_seconds": round(statistics.median(ours), 3),
        "ratio": round(statistics.median(ours) / statistics.median(before), 3),
        "test_seconds": round(statistics.median(times), 4),
        "peak_megabytes": round(counted_with),
        "scores_seconds": round(binned, 3),
        "scores_peak_megabytes": round(peak()),
    }
    print(json.dumps(figures))


def in_a_process_of_its_own(engine, path):
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", engine, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def accuracy(n):
    """Compare AUC, its disparity and its statistic of 1,024 bins with those of the scores themselves."""
    found = {}
    for power in (1, 40):
        frame = pyarrow.table(people(n, np.random.default_rng(SEED), power))
        columns = {"y_true": frame["qualified"], "y_score": frame["score"], "sensitive_features": frame["race"]}
        asked = {"metric": "roc_auc", "method": "asymptotic", "compare": "to_reference", "reference_group": "White"}
        table = CountTable.from_frame(
            frame, y_true="qualified", y_score="score", score_bins=1024, sensitive_features="race"
        )
        exact = FairnessTest.from_predictions(y_pred=None, **columns, **asked)
        binned = FairnessTest.from_table(table, **asked)
        shown = ["disparity", "statistic"]
        apart = (binned.comparisons_[shown] - exact.comparisons_[shown]).abs()
        found[f"power {power}"] = {
            "largest_change_of_disparity": float(apart["disparity"].max()),
            "binning_error": float(binned.binning_error_),
            "statistic_of_largest": float(exact.statistic_),
            "relative_change_of_it": float(abs(binned.statistic_ / exact.statistic_ - 1)),
            "largest_change_of_a_statistic": float(apart["statistic"].max()),
        }
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8, help="the largest file")
    parser.add_argument("--folder", type=Path, help="where files are written; a temporary folder by default")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--measure", nargs=2, metavar=("ENGINE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    sizes = [int(n) for n in (1e6, 1e7, 1e8, 1e9) if n <= options.rows] or [int(options.rows)]
    figures = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for n in sizes:
            path = Path(folder) / f"people_{n}.parquet"
            write_people(path, n)
            for engine in ENGINES:
                found = in_a_process_of_its_own(engine, path)
                figures.setdefault(engine, {})[f"{n:.0e}"] = found
                print(f"{n:>13,} people, {engine}: {found}", flush=True)
            path.unlink()
    bins = accuracy(int(min(options.rows, 1e6)))
    print("AUC of 1,024 bins against that of scores:", json.dumps(bins, indent=1))
    if options.save:
        engines = {name: __import__(name).__version__ for name in ENGINES}
        write(RESULTS, "counting by engines, and scores in bins", SEED, engines=engines, counting=figures, bins=bins)


if __name__ == "__main__":
    print(f"skfairtest {skfairtest.__version__}", file=sys.stderr)
    main()
