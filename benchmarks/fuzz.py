"""Whether any call gives a wrong answer or a foreign error: ``python -m benchmarks.fuzz [--calls N] [--quick]``.

Random containers, dtypes, labels and parameters (benchmarks/common/fuzz_calls.py). Each call has to give a result that
agrees with a count by hand, without warnings of other libraries, or an error of the package that names what is wrong
(benchmarks/common/fuzz_oracle.py). One call in ten is repeated with its people in lists, in another order and with
groups of other names, which must not change the p-value.

Without ``--quick`` the counts are written to benchmarks/results/fuzz.json with the seed and versions; violations are
printed with the seed that reproduces them, and make the exit status 1.
"""

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.common.fuzz_calls import call
from benchmarks.common.fuzz_oracle import invariant, run
from benchmarks.common.results import write

SEED = 20261122
RESULTS = Path(__file__).parent / "results" / "fuzz.json"
#: One call in so many is repeated in another form.
REPEATED = 10
#: Calls that one process makes at a time.
CHUNK = 100
#: Violations that are printed.
PRINTED = 20


def tried(seed):
    """Make one call; return it, its outcome and whether it was repeated."""
    chosen = random.Random(seed)
    made = call(chosen)
    outcome = run(made)
    again = outcome.kind == "result" and not outcome.violations and chosen.randrange(REPEATED) == 0
    if again:
        outcome.violations += invariant(made, chosen)
    return made, outcome, again


def chunk(seed, start, stop):
    """Make some calls; return how many of each kind, results by test, how many were repeated, and violations."""
    kinds, tests, repeated, wrong = Counter(), Counter(), 0, []
    for number in range(start, stop):
        made, outcome, again = tried(f"{seed}-{number}")
        kinds[outcome.kind] += 1
        tests[made.test] += outcome.kind == "result"
        repeated += again
        wrong += [(number, violation) for violation in outcome.violations]
    return kinds, tests, repeated, wrong


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000, help="how many calls")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=-1, help="processes among which calls are divided")
    parser.add_argument("--only", help="the number of one call, which is printed")
    parser.add_argument("--quick", action="store_true", help="60 calls, nothing written: a few seconds")
    options = parser.parse_args(argv)
    if options.only is not None:
        made, outcome, _ = tried(f"{options.seed}-{options.only}")
        print(made, outcome, sep="\n")
        return 1 if outcome.violations else 0
    calls = 60 if options.quick else options.calls
    started = time.perf_counter()
    starts = range(0, calls, CHUNK)
    work = (delayed(chunk)(options.seed, start, min(calls, start + CHUNK)) for start in starts)
    kinds, tests, repeated, wrong = Counter(), Counter(), 0, []
    for found in Parallel(n_jobs=options.jobs, return_as="generator")(work):
        kinds += found[0]
        tests += found[1]
        repeated += found[2]
        for number, violation in found[3]:
            wrong.append(violation)
            if len(wrong) <= PRINTED:
                print(f"VIOLATION {violation}\n  again: --seed {options.seed} --only {number}", file=sys.stderr)
    seconds = time.perf_counter() - started
    print(f"{calls:,} calls, of which {kinds['result']:,} gave a result: {dict(tests)}")
    print(f"{repeated:,} of these were repeated in another form.")
    print("Errors of the package, by what they are about:")
    for about, count in kinds.most_common():
        if about != "result":
            print(f"  {count:>7,}  {about}")
    print(f"{len(wrong):,} violations. {seconds:.0f} s, {calls / seconds:.0f} calls per second.")
    if not options.quick:
        write(RESULTS, "random calls: results and errors; see benchmarks/fuzz.py", options.seed, calls=calls,
              results=kinds["result"], results_by_test=dict(tests), repeated=repeated,
              errors={about: count for about, count in kinds.most_common() if about != "result"},
              violations=len(wrong))  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
