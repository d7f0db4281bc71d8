"""What damage does to a cached table and to a stream's state: every change is refused or repaired, none is believed.

``python -m benchmarks.damage`` flips a bit of every byte, truncates, kills writers, runs several processes at once and
fills the disk, and counts how often a number changed without an error.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._results import write
from skfairtest import CountTable, SequentialFairnessTest

SEED, TRUNCATIONS, KILLS = 20261124, 80, 25
RESULTS = Path(__file__).parent / "results" / "damage.json"


def people(rng, n=400):
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame({"sex": sex, "hired": (rng.random(n) < 0.3 + 0.2 * (sex == "m")).astype(int)})


def command(*arguments, limit=None):
    """Start the command; `limit` is the most bytes that a file may have."""
    full = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", "skfairtest", *map(str, arguments)], preexec_fn=full, **quiet)


def variants(content, rng):
    """Yield contents with one bit of each byte flipped, then truncated ones."""
    for place in range(len(content)):
        yield "flips", content[:place] + bytes([content[place] ^ 1 << int(rng.integers(8))]) + content[place + 1 :]
    for place in rng.integers(0, len(content), TRUNCATIONS):
        yield "truncations", content[:place]


def tally(path, read, rng):
    """Count what became of each damaged content: refused, unharmed, or silently something else."""
    content = path.read_bytes()
    truth, found = read(), {}
    for kind, damaged in variants(content, rng):
        path.write_bytes(damaged)
        try:
            outcome = "unharmed" if read() == truth else "silent changes"
        except ValueError:
            outcome = "refused"
        counts = found.setdefault(kind, {"refused": 0, "unharmed": 0, "silent changes": 0})
        counts[outcome] += 1
    path.write_bytes(content)
    return found


def of_cache(folder, rng):
    from skfairtest.cli.files import Columns
    from skfairtest.cli.many import Entry, Question, state_of

    data, cache, table = folder / "people.csv", folder / "cache", folder / "table.json"
    people(rng).to_csv(data, index=False)
    counting = ["count", data, "--y-pred", "hired", "--sensitive", "sex", "--cache", cache, "--output"]
    assert command(*counting, table).wait() == 0
    (kept,) = cache.glob("*.counts")
    entry = Entry(cache, str(data), state_of(str(data)), Question(Columns(None, "hired", ("sex",))), "")

    def read():
        found = entry.read()
        if found is None:
            raise ValueError
        return found[0].counts.tolist()

    truth = CountTable.load(table)
    found = tally(kept, read, rng)

    def counted(processes):
        """Whether every process that says it is done has written the right table."""
        done = [path for path, process in processes if process.wait() == 0]
        return len(done), sum(CountTable.load(path) != truth for path in done)

    kept.unlink()
    together = [(folder / f"{i}.json", command(*counting, folder / f"{i}.json")) for i in range(3)]
    found["three at once"] = dict(zip(("done", "silent changes"), counted(together), strict=True))
    found["killed"] = killed(lambda: command(*counting, table), lambda: kept.unlink(missing_ok=True), rng)
    found["killed"]["silent changes"] = counted([(table, command(*counting, table))])[1]
    kept.unlink(missing_ok=True)
    table.unlink()
    status = command(*counting, table, limit=64).wait()
    found["full disk"] = {"status": status, "left": table.exists() or kept.exists()}
    return found


def killed(start, before, rng):
    """Kill writers at times spread over their run."""
    began = time.perf_counter()
    before()
    start().wait()
    lasts, dead = time.perf_counter() - began, 0
    for _ in range(KILLS):
        before()
        process = start()
        time.sleep(float(rng.uniform(0.5, 1.05)) * lasts)
        process.send_signal(signal.SIGKILL)
        dead += process.wait() == -signal.SIGKILL
    return {"killed": dead, "of": KILLS}


def of_stream(folder, rng):
    state = folder / "state.json"
    for week in range(6):
        people(rng).to_csv(folder / f"{week}.csv", index=False)
    feed = ["monitor", state, "--y-pred", "hired", "--sensitive", "sex", "--batch"]
    for week in range(2):
        assert command(*feed, folder / f"{week}.csv").wait() in (0, 1)

    def read():
        return SequentialFairnessTest.from_json(state).to_json()

    found = tally(state, read, rng)
    content = state.read_bytes()
    looks = SequentialFairnessTest.from_json(state).n_batches_
    found["full disk"] = {
        "status": command(*feed, folder / "2.csv", limit=4096).wait(),
        "changed": state.read_bytes() != content,
    }
    broken = 0

    def check():
        nonlocal broken
        try:
            broken += SequentialFairnessTest.from_json(state).n_batches_ not in (looks, looks + 1)
        except ValueError:
            broken += 1
        state.write_bytes(content)

    found["killed"] = killed(lambda: command(*feed, folder / "3.csv"), check, rng)
    check()
    found["killed"]["silent changes"] = broken
    statuses = [process.wait() for process in [command(*feed, folder / f"{week}.csv") for week in (3, 4, 5)]]
    taken = sum(status in (0, 1) for status in statuses)
    lost = looks + taken - SequentialFairnessTest.from_json(state).n_batches_
    found["three at once"] = {"done": taken, "told to wait": 3 - taken, "silent changes": lost}
    command(*feed, folder / "5.csv").wait()
    found["temporary files left"] = len([name for name in os.listdir(folder) if name.startswith(".state")])
    return found


def main():
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        figures = {"cache": of_cache(Path(one), rng), "stream": of_stream(Path(two), rng)}
    print(json.dumps(figures, indent=1))
    write(RESULTS, "What damage does to a cached table and to the state of a stream", SEED, ("pyarrow",), **figures)


if __name__ == "__main__":
    main()
