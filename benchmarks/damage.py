"""What damage does to a cached table and to a stream's state: every change is refused or repaired, none is believed.

``python -m benchmarks.damage`` flips a bit of every byte, truncates, kills writers at random times and at every single
write, runs several processes at once and fills the disk (by a limit, and a small tmpfs where a user may mount one), and
counts how often a number changed without an error. ``--part`` does one part anew.
"""

import argparse
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

from benchmarks.common.results import write
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


#: The command, which kills itself at its n-th change of a folder: before a file is opened to be written, renamed, ...
KILLED_AT = """
import os, runpy, signal, sys
left, folder = int(sys.argv[1]), sys.argv[2]
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "os.link", "os.rmdir", "os.chmod", "os.utime"}

def look(event, given):
    global left
    if event in CHANGES or (event == "open" and (given[2] or 0) & (os.O_WRONLY | os.O_RDWR)):
        if str(given[0]).startswith(folder):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(look)
sys.argv[:3] = ["skfairtest"]
runpy.run_module("skfairtest", run_name="__main__")
"""


def killed_at_every_write(arguments, folder, right, before):
    """Kill a command at its first change of a folder, its second, ...; count those after which a number is wrong."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dead = wrong = 0
    while True:
        before()
        asked = [sys.executable, "-c", KILLED_AT, str(dead + 1), str(folder), *map(str, arguments)]
        status = subprocess.run(asked, **quiet, check=False).returncode
        if status != -signal.SIGKILL:
            return {"killed": dead, "silent changes": wrong, "last status": status}
        dead += 1
        wrong += not right()


def of_writes(folder, rng):
    """What is left by a command that was killed at each of its writes."""
    data, cache, table, state = (folder / name for name in ("people.csv", "cache", "table.json", "state.json"))
    people(rng).to_csv(data, index=False)
    asked = ["--y-pred", "hired", "--sensitive", "sex"]
    counting = ["count", data, *asked, "--cache", cache, "--output", table]
    assert command(*counting).wait() == 0
    truth = CountTable.load(table)

    def again():
        for path in (*cache.iterdir(), table):
            path.unlink(missing_ok=True)

    def right():
        if table.exists() and CountTable.load(table) != truth:
            return False
        return command(*counting).wait() == 0 and CountTable.load(table) == truth

    found = {"cache": killed_at_every_write(counting, folder, right, again)}
    feed = ["monitor", state, *asked, "--batch"]
    others = [folder / f"{week}.csv" for week in range(2)]
    for path in others:
        people(rng).to_csv(path, index=False)
    assert command(*feed, others[0]).wait() in (0, 1)
    content = state.read_bytes()

    def taken_once():
        """A batch that is fed again, because its writer was killed, is in the state once."""
        if SequentialFairnessTest.from_json(state).n_batches_ not in (1, 2):
            return False
        command(*feed, others[1]).wait()
        return SequentialFairnessTest.from_json(state).n_batches_ == 2

    found["stream"] = killed_at_every_write([*feed, others[1]], folder, taken_once, lambda: state.write_bytes(content))
    return found


#: Fills a disk of 256 kB of its own, and writes on it.
ON_A_SMALL_DISK = """
import json, pathlib, subprocess, sys
folder, state = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=True)
own = folder / "state.json"
own.write_bytes(state.read_bytes())
with open(folder / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError:
        pass
run = [sys.executable, "-m", "skfairtest"]
asked = ["--y-pred", "hired", "--sensitive", "sex"]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
fed = subprocess.run([*run, "monitor", own, *asked, "--batch", sys.argv[3]], **quiet).returncode
counted = subprocess.run([*run, "count", sys.argv[3], *asked, "--output", folder / "table.json"], **quiet).returncode
print(json.dumps({
    "stream": {"status": fed, "changed": own.read_bytes() != state.read_bytes()},
    "table": {"status": counted, "left": (folder / "table.json").exists()},
    "temporary files left": len([path for path in folder.iterdir() if path.name.startswith(".") and
                                 path.suffix != ".lock"]),
}))
"""


def of_small_disk(folder, rng):
    """What is left on a full tmpfs; says so where none can be mounted."""
    disk, state, batches = folder / "disk", folder / "state.json", [folder / f"{week}.csv" for week in range(2)]
    disk.mkdir()
    for path in batches:
        people(rng).to_csv(path, index=False)
    feed = ["monitor", state, "--y-pred", "hired", "--sensitive", "sex", "--batch"]
    assert command(*feed, batches[0]).wait() in (0, 1)
    asked = ["unshare", "-Urm", sys.executable, "-c", ON_A_SMALL_DISK, disk, state, batches[1]]
    done = subprocess.run(list(map(str, asked)), capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"not tried": done.stderr.strip().splitlines()[-1]}


PARTS = {"cache": of_cache, "stream": of_stream, "writes": of_writes, "small disk": of_small_disk}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.damage", description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="this part only; the others stay as stored")
    options = parser.parse_args(argv)
    known = json.loads(RESULTS.read_text()) if options.part else {}
    figures = {part: known[part] for part in PARTS if part in known}
    for part in options.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            figures[part] = PARTS[part](Path(folder), np.random.default_rng([SEED, list(PARTS).index(part)]))
    print(json.dumps(figures, indent=1))
    write(RESULTS, "What damage does to a cached table and to the state of a stream", SEED, ("pyarrow",), **figures)


if __name__ == "__main__":
    main()
