"""Whether calls that begin valid end well: ``python -m benchmarks.fuzz_deep [--calls N] [--on] [--quick]``.

A valid call of every public class and function, of which one or two things are changed
(benchmarks/common/fuzz_deep.py): it has to end in a result that agrees with counting by hand, or in an error of the
package. Printed is the share of calls of each that end in a result; below one half the fuzzer looks at doors instead of
rooms, and the exit status is 1, as it is for violations. Written to benchmarks/results/fuzz_deep.json, with the seed,
after every hundred calls of each: ``--on`` makes the calls that are still missing there, once those that were
violations have been made again.
``--quick``: six calls of each, nothing written.
"""

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path

from benchmarks.common.fuzz_deep import SUBJECTS, run, subject_of
from benchmarks.common.results import write

SEED = 20261124
RESULTS = Path(__file__).parent / "results" / "fuzz_deep.json"
#: Calls of each class and function between two writings.
AT_A_TIME = 100


def tried(kind, seed, number):
    subject = subject_of(kind, random.Random(f"{seed}-{kind}-{number}"))
    return subject, run(subject)


def judge(kind, seed, number, outcomes, violations):
    """Make a call, and add what became of it."""
    _, outcome = tried(kind, seed, number)
    outcomes[kind][outcome.kind] += 1
    violations += [[kind, number, outcome.kind, text] for text in outcome.violations]
    for text in outcome.violations:
        print(f"VIOLATION {text}\n  again: --seed {seed} --kind {kind} --only {number}", file=sys.stderr, flush=True)


def stored():
    """Return the seed, the outcomes and the violations, which are tried again, of a run so far."""
    found, violations = json.loads(RESULTS.read_text()), []
    outcomes = {kind: Counter(found["outcomes"].get(kind, {})) for kind in SUBJECTS}
    for kind, number, before in sorted({tuple(violation[:3]) for violation in found["violations"]}):
        outcomes[kind][before] -= 1
        judge(kind, found["seed"], number, outcomes, violations)
    return found["seed"], outcomes, violations


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_deep", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000, help="how many calls in all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kind", action="append", choices=SUBJECTS, help="this alone, nothing written")
    parser.add_argument("--only", type=int, help="the number of one call, which is printed")
    parser.add_argument("--on", action="store_true", help="go on with the run that is stored")
    parser.add_argument("--quick", action="store_true", help="six calls of each, nothing written")
    options = parser.parse_args(argv)
    kinds = options.kind or list(SUBJECTS)
    if options.only is not None:
        subject, outcome = tried(kinds[0], options.seed, options.only)
        print(subject, outcome, sep="\n")
        return 1 if outcome.violations else 0
    each = 6 if options.quick else -(-options.calls // len(kinds))
    seed, outcomes, violations = options.seed, {kind: Counter() for kind in kinds}, []
    if options.on:
        seed, outcomes, violations = stored()
    done = {kind: found.total() for kind, found in outcomes.items()}
    for start in range(min(done.values()), each, AT_A_TIME) or [each]:
        for kind in kinds:
            for number in range(max(start, done[kind]), min(start + AT_A_TIME, each)):
                judge(kind, seed, number, outcomes, violations)
        if not options.quick and not options.kind:
            by_kind = {kind: dict(+found) for kind, found in outcomes.items()}
            write(RESULTS, "valid calls of which one or two things are changed; see benchmarks/fuzz_deep.py", seed,
                  calls=sum(found.total() for found in outcomes.values()), outcomes=by_kind,
                  violations=violations)  # fmt: skip
    shares = {kind: found["result"] / found.total() for kind, found in outcomes.items()}
    for kind, found in outcomes.items():
        print(f"{shares[kind]:.2f} of {found.total():,} {kind}: {dict(+found)}")
    low = [kind for kind, share in shares.items() if share < 0.5]
    total = sum(found.total() for found in outcomes.values())
    print(f"{total:,} calls, {len(violations)} violations; below one half: {low or 'none'}")
    return 1 if violations or (low and not options.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
