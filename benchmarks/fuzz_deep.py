"""Whether calls that begin valid end well: ``python -m benchmarks.fuzz_deep [--calls N] [--quick]``.

A valid call of every public class and function, of which one or two things are changed (benchmarks/_fuzz_deep.py): it
has to end in a result that agrees with counting by hand, or in an error of the package. Printed is the share of calls
of each that end in a result; below one half the fuzzer looks at doors instead of rooms, and the exit status is 1, as it
is for violations. Written to benchmarks/results/fuzz_deep.json, with the seed; ``--quick``: six calls of each, nothing
written.
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from benchmarks._fuzz_deep import SUBJECTS, run, subject_of
from benchmarks._results import write

SEED = 20261124
RESULTS = Path(__file__).parent / "results" / "fuzz_deep.json"
#: Violations of one kind that are printed.
PRINTED = 3


def tried(kind, seed, number):
    subject = subject_of(kind, random.Random(f"{seed}-{kind}-{number}"))
    return subject, run(subject)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_deep", description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000, help="how many calls in all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kind", action="append", choices=SUBJECTS, help="this alone, nothing written")
    parser.add_argument("--only", type=int, help="the number of one call, which is printed")
    parser.add_argument("--quick", action="store_true", help="six calls of each, nothing written")
    options = parser.parse_args(argv)
    kinds = options.kind or list(SUBJECTS)
    if options.only is not None:
        subject, outcome = tried(kinds[0], options.seed, options.only)
        print(subject, outcome, sep="\n")
        return 1 if outcome.violations else 0
    each = 6 if options.quick else -(-options.calls // len(kinds))
    shares, wrong, low = {}, Counter(), []
    for kind in kinds:
        outcomes = Counter()
        for number in range(each):
            _, outcome = tried(kind, options.seed, number)
            outcomes[outcome.kind] += 1
            for violation in outcome.violations:
                wrong[kind, violation[:60]] += 1
                if wrong[kind, violation[:60]] <= PRINTED:
                    print(f"VIOLATION {violation}\n  again: --seed {options.seed} --kind {kind} --only {number}",
                          file=sys.stderr, flush=True)  # fmt: skip
        shares[kind] = dict(outcomes)
        low += [kind] * (outcomes["result"] < each / 2)
        print(f"{outcomes['result'] / each:.2f} of {each:,} {kind}: {dict(outcomes)}", flush=True)
    print(f"{each * len(kinds):,} calls, {sum(wrong.values())} violations; below one half: {low or 'none'}")
    if not options.quick and not options.kind:
        write(RESULTS, "valid calls of which one or two things are changed; see benchmarks/fuzz_deep.py", options.seed,
              calls=each * len(kinds), outcomes=shares, violations=sum(wrong.values()))  # fmt: skip
    return 1 if wrong or (low and not options.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
