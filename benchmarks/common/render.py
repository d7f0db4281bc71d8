"""doc/validity.md and its pages by topic from the stored results: every figure comes from a file, none is typed."""

import json

import numpy as np

from benchmarks.common import gauntlet_table
from benchmarks.common.bounds import COVERED, FAR, promises
from benchmarks.common.cells import ALPHA
from benchmarks.common.drawings import KINDS, PANELS, counts, file_name, misses, panels, sizes
from benchmarks.common.inequality_cells import inequality_cells
from benchmarks.common.methods import true_values
from benchmarks.common.render_scans import calibration, prompts, scans
from benchmarks.common.run import p_value_of
from benchmarks.common.tables import folded, number, share_text, table
from benchmarks.common.two_models import two_models
from benchmarks.common.words import (
    ADJUSTED,
    APPROXIMATE,
    AUDIT,
    AUDIT_DETECTABLE,
    BEFORE,
    CONTRADICTIONS,
    CORRELATION_INTERVALS,
    COVARIATES,
    COVERAGE,
    DRAWN,
    FURTHER,
    INDIVIDUAL,
    INDIVIDUAL_COINS,
    INDIVIDUAL_DIRECTIONS,
    INDIVIDUAL_DROPPED,
    INDIVIDUAL_EVIDENCE,
    INDIVIDUAL_LEARNED,
    INDIVIDUAL_PAPER,
    INDIVIDUAL_PEOPLE,
    INDIVIDUAL_PLANTED,
    INDIVIDUAL_ROWS,
    INDIVIDUAL_SHORT,
    INDIVIDUAL_WAYS,
    INEQUALITY,
    INTERVALS,
    INTRODUCTION,
    LABELLED,
    LABELLED_EXACT,
    LIMITS,
    METHODS,
    MISSED,
    MODEL_SELECTION,
    NOTES,
    OLDER,
    OLDER_ANYWHERE,
    PAPER,
    POWER,
    POWER_LOST,
    READING,
    SECTIONS,
    SEQUENTIAL,
    SEQUENTIAL_COVERAGE,
    SEQUENTIAL_DELAY,
    TOPIC,
    WORSE,
)

#: Powers at equal size that are so much lower are a loss, and so much higher a gain.
LOST, GAINED = 0.02, 0.15


def pictures(cells, records):
    """Show the drawings beside each other, and below how to read each, with the counts of what is drawn."""
    shown, read = [], []
    for kind, (figures_of, _) in KINDS.items():
        words, seen = DRAWN[kind], counts(panels(cells, records, figures_of))
        shown.append(f"![{words['description']}](_static/{file_name(kind)})")
        reading = words["reading"].format_map({method: f"{bad} of {of}" for method, (bad, of) in seen.items()})
        read += ["", f"**{words['title']}.** {reading}"]
    return "\n".join([*shown, *read])


def design_of(cell):
    """Words for the cell: its name without the section and the sizes, which have a column of their own."""
    sizes = "-".join(map(str, cell.people))
    words = [part for part in cell.name.split("/")[1:] if part != sizes]
    return ", ".join(words).replace("_", " ") or "–", ", ".join(f"{n:,}" for n in cell.people) or "–"


def methods_in(cells, records, key):
    return [m for m in METHODS if any(key in records[c.name]["methods"].get(m, {}) for c in cells)]


def size_text(figures, cell):
    """The size, bold where it is too large, with the number of data sets where the method saw fewer than others."""
    data_sets = figures.get("data_sets", cell.data_sets)
    error = np.sqrt(ALPHA * (1 - ALPHA) / data_sets)
    text = number(figures["size"])
    text = f"**{text}**" if figures["size"] > ALPHA + 3 * error + 1e-9 else text
    return f"{text} ({data_sets})" if data_sets < cell.data_sets else text


def power_text(figures):
    if "power_at_equal_size" in figures or "coverage_effect" in figures:
        return f"{number(figures.get('power_at_equal_size'))} ({number(figures['power'])})"
    return number(figures["power"])


def coverage_text(figures, key):
    if key not in figures:
        return ""
    text = number(figures[key])
    # The error of a share of 1 is not 0.
    error = max(figures[key + "_error"], 0.001)
    return f"**{text}**" if figures[key] < 1 - ALPHA - 3 * error else text


def is_older(cell, records):
    """Whether the cell was computed before the default's p-value was the larger of several."""
    return records[cell.name].get("p_value") != p_value_of(cell)


def block(cells, records, key, title, text_of, note=""):
    """One table: a row per cell, a column per method; nothing where no cell has this figure."""
    methods = methods_in(cells, records, key)
    chosen = [c for c in cells if any(key in records[c.name]["methods"].get(m, {}) for m in methods)]
    if not chosen:
        return []
    rows = []
    for cell in chosen:
        found = records[cell.name]["methods"]
        figures = [text_of(found[m], cell) if key in found.get(m, {}) else "" for m in methods]
        design, people = design_of(cell)
        rows.append([design + " °" * is_older(cell, records), people, *figures])
    head = ["design", "people", *(METHODS[m] for m in methods)]
    return folded(f"{title}{note}", head, rows)


def section(cells, records):
    counts = sorted({cell.data_sets for cell in cells})
    errors = " to ".join(dict.fromkeys(number(np.sqrt(ALPHA * (1 - ALPHA) / n)) for n in (counts[-1], counts[0])))
    many = " to ".join(dict.fromkeys(f"{n:,}" for n in (counts[0], counts[-1])))
    note = f" ({many} data sets; Monte-Carlo error at 5% {errors})"
    enumerated = any(cell.kind == "grid" for cell in cells)
    plain = any(cell.kind in ("grid", "family") for cell in cells)
    older = sum(is_older(cell, records) for cell in cells)
    out = [OLDER.format(older=older, designs=len(cells)), ""] if older else []
    out += block(cells, records, "size", "Size", size_text, note)
    power = "Power" if plain else "Power at equal size (at .05)"
    out += block(cells, records, "power", power, lambda figures, cell: power_text(figures))
    if not enumerated:
        out += block(
            cells, records, "coverage", "Coverage", lambda figures, cell: " / ".join(
                filter(None, (coverage_text(figures, "coverage"), coverage_text(figures, "coverage_effect")))
            ),
        )  # fmt: skip
    out += block(
        cells, records, "silent", "Rejections with a caution / data sets without a caution",
        lambda figures, cell: f"{number(figures['warned'])} / {number(figures['silent'])}",
    )  # fmt: skip
    return out + block(
        cells, records, "out", "Equality outside of the interval though not rejected / inside though rejected",
        lambda figures, cell: f"{number(figures['out'])} / {number(figures['inside'])}",
    )  # fmt: skip


def paper(cell, record):
    rows = []
    for method in METHODS:
        if method in record["methods"]:
            found = record["methods"][method]
            rows.append([METHODS[method], f"{found['size']:.4f}"[1:] if found["size"] < 1 else "1",
                         f"{found['size_error']:.4f}"[1:],
                         number(found["coverage"]) if "coverage" in found else ""])  # fmt: skip
    text = PAPER.format(data_sets=f"{cell.data_sets:,}", resamples=cell.resamples)
    return ["## The simulation of the KDD'20 paper", "", text, "",
            *folded("Size and coverage", ["method", "size", "error", "coverage"], rows)]  # fmt: skip


def kept(found):
    rows = [
        [p.says, f"{p.checked - len(p.broken)} of {p.checked}" + "".join(f"; not {where}" for where in p.broken)]
        for p in found
    ]
    return ["## What we claim, and whether it holds", "", table(["claim", "figures for which it holds"], rows), ""]


def fair_model(cell):
    """What designs have in common that differ only in the unfair model of which the power is measured."""
    return cell.metric, cell.people, cell.null


def _counted(approximate, above):
    """How many designs are rejected too often, and how many beyond 10%: of all, and of those for either group."""
    models = {fair_model(cell) for _, cell in above}
    plain = [(size, cell) for size, cell in above if not cell.names_direction]
    return {
        "designs": len(approximate), "above": len(above), "far": sum(size > FAR for size, _ in above),
        "models": len(models), "of": len({fair_model(cell) for cell in approximate}),
        "plain": sum(not cell.names_direction for cell in approximate), "plain_above": len(plain),
        "plain_far": sum(size > FAR for size, _ in plain),
    }  # fmt: skip


def _warned(cells, records, above):
    """The smallest share of rejections with a caution of the fair models that are rejected in more than 10%."""
    measured = {
        (cell.people, cell.null): records[cell.name]["methods"][cell.default]["warned"]
        for cell in cells
        if cell.kind == "caution"
    }
    return min((measured.get((cell.people, cell.null), 0.0) for size, cell in above if size > FAR), default=1.0)


def coverage_of_scores(cells, records):
    """Say how often intervals of what is tested as rates hold the true difference, where the test's size is right."""
    found = []
    for cell in cells:
        methods = records[cell.name]["methods"]
        if cell.default == "areas" and not any(is_bad for _, is_bad in sizes(methods, "areas", None, cell)):
            found += [1 - miss for miss, _ in misses(methods, "areas", None, cell)]
    if not found:
        return []
    enough = sum(share >= COVERED for share in found)
    return [COVERAGE.format(covered=number(COVERED), enough=enough, of=len(found), least=number(min(found)))]


def power_lost(cells, records, what):
    """Name the designs in which what was the default before finds more at equal size, and count them."""
    (default, before, title), gained, rows, counted = BEFORE[what], 0, [], {}
    for cell in cells:
        powers = [records[cell.name]["methods"].get(m, {}).get("power_at_equal_size") for m in (default, before)]
        if None in powers:
            continue
        gain = round(powers[0] - powers[1], 5)
        groups = sorted(zip(true_values(cell, cell.effect), cell.people, strict=True), reverse=cell.kind == "loss")
        (_, of_worse), (_, of_better) = groups
        direction = int(np.sign(of_worse - of_better))
        counted.setdefault(direction, []).append(gain < -LOST)
        gained += gain >= GAINED
        if gain < -LOST:
            rows.append((gain, [POWER_LOST, cell.name, f"{number(powers[0])}, before {number(powers[1])}"]))
    if not rows:
        return [], []
    directions = ", ".join(
        f"{sum(counted[direction])} of {len(counted[direction])} {words}"
        for direction, words in WORSE.items()
        if direction in counted
    )
    worst, (_, design, powers) = min(rows)
    text = POWER.format(
        what=what, before=title, less=len(rows), designs=sum(map(len, counted.values())), directions=directions,
        more=gained, worst=f"{number(-worst)} in *{design}* ({powers})",
    )  # fmt: skip
    return [row for _, row in sorted(rows)], [text]


def limits(cells, records, found, exceptions, folder):
    """Say what the tests of this package get wrong: beyond the claims, in the gauntlet, with intervals, by name."""
    rows, out = [], ["## Where not to trust us", "", LIMITS, ""]
    for promise in found:
        if promise.left:
            out.append(
                f"- **Not claimed, and does not hold**, in {len(promise.left)} designs: {promise.says}. {promise.why}."
            )
            rows += [[promise.says.split(":")[0], *place.rsplit(": ", 1)] for place in promise.left]
    out += exceptions
    approximate = [cell for cell in cells if cell.kind in ("area", "table", "loss", "explained")]
    above = [
        (size, cell)
        for cell in approximate
        for size, is_bad in sizes(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    out.append(APPROXIMATE.format(**_counted(approximate, above), warned=number(_warned(cells, records, above))))
    out += coverage_of_scores(approximate, records)
    for what in BEFORE:
        lost, text = power_lost(approximate, records, what)
        out += text
        rows += lost
    missed = [
        [MISSED, cell.name, number(miss)]
        for cell in cells
        if any(cell.section in sections for _, sections, *_ in PANELS)
        for miss, is_bad in misses(records[cell.name]["methods"], cell.default, None, cell)
        if is_bad
    ]
    biased = [
        [f"given covariates, `{method}`", design, number(share)]
        for design, method, share, is_bad in adjusted_shares(folder)
        if is_bad
    ]
    for text, own in ((INTERVALS, missed), (COVARIATES, biased)):
        out += [text.format(count=len(own), worst=max(row[-1] for row in own))] if own else []
        rows += own
    older = sum(is_older(cell, records) for cell in cells)
    out += [OLDER_ANYWHERE.format(older=older, designs=len(cells))] if older else []
    return [*out, "", *folded("These designs by name", ["what does not hold", "design", "measured"], rows)]


def correlation(folder):
    """Point to the figures of `benchmarks.correlation` where they are."""
    path = folder / "validity_correlation.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    sizes = [cell["studentized"]["size"] for cell in document["cells"] if "studentized" in cell]
    out = [
        "## Correlation", "",
        f"Measured by `python -m benchmarks.correlation`, stored in `benchmarks/results/{path.name}`: over "
        f"{len(sizes)} designs the studentized test's size lies between {number(min(sizes))} and "
        f"{number(max(sizes))}.", "",
    ]  # fmt: skip
    cells = document.get("intervals", [])
    if not cells:
        return out
    rows = [
        [
            cell["design"], f"{cell['people']:,}", f"{cell['true_correlation']:.3g}".replace("0.", "."),
            _correlation_test(cell), judged_text(cell, fair=cell["true_correlation"] == 0),
        ]
        for cell in cells
    ]  # fmt: skip
    head = ["design", "people", "correlation", "test", "rejected / coverage"]
    data_sets = sorted({cell["coverage"]["data_sets"] for cell in cells})
    text = CORRELATION_INTERVALS.format(data_sets=" to ".join(f"{n:,}" for n in data_sets))
    return [*out, text, "", *folded("Tests and intervals of correlations", head, rows)]


def _correlation_test(cell):
    """Words for what differs from the default test of one feature."""
    words = [cell["correlation"].capitalize()]
    words += [cell["alternative"]] if cell["alternative"] != "two-sided" else []
    words += [f"{cell['features']} features", cell["adjust"]] if cell["features"] > 1 else []
    return ", ".join(words).replace("_", "-")


def contradictions(folder):
    """How often p-values and intervals contradict each other, and what cutting intervals costs, once it is stored."""
    path = folder / "contradictions.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    total = {
        name: sum(kind[name] for kind in document["kinds"]) for name in ("comparisons", "rejected", "contradictions")
    }
    text = CONTRADICTIONS.format(
        file=path.name, kinds=len(document["kinds"]), **{k: f"{n:,}" for k, n in total.items()}
    )
    rows = [
        [", ".join(map(str, cell["people"])), " ".join(map(number, cell.get("rates", ()))) or "all",
         number(cell["before"]), number(cell["after"]), number(cell["falls_by"]) if "falls_by" in cell else ""]
        for part in ("two_groups", "families") for cell in document["coverage"][part]
    ]  # fmt: skip
    head = ["people", "rates", "before the cut", "after it", "largest fall"]
    kinds = [[kind["kind"], *(f"{kind[name]:,}" for name in total)] for kind in document["kinds"]]
    return ["## Intervals and their tests", "", text, "", *folded("Coverage of intervals that are cut", head, rows), "",
            *folded("Comparisons of each kind", ["kind", *total], kinds)]  # fmt: skip


def gauntlet(folder):
    """The table of every kind of test in every design, between markers, and lines of what is wrong in it."""
    path = folder / "gauntlet.json"
    return "\n".join(gauntlet_table.section(path)), gauntlet_table.exceptions(path)


def inequality(folder):
    """Show the figures of `benchmarks.inequality` where they are."""
    path = folder / "inequality.json"
    if not path.exists():
        return []
    records = json.loads(path.read_text())["cells"]
    cells = [cell for cell in inequality_cells() if cell.name in records]
    return ["## Inequality of benefits", "", INEQUALITY.format(file=path.name), "", *section(cells, records)]


def model_selection(folder):
    """Show the figures of `benchmarks.model_selection` where they are."""
    path = folder / "model_selection.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    intervals = [
        [
            ", ".join(number(rate) for rate in cell["rates"]),
            ", ".join(f"{n:,}" for n in cell["people"]),
            cell["disparity"],
            *(share_text(cell[key]) for key in ("coverage", "worst_end", "percentile_bootstrap")),
        ]
        for cell in document["intervals"]
    ]
    models = [
        [cell["model"], f"{cell['people']:,}", *(share_text(cell[key]) for key in ("out_of_fold", "in_sample"))]
        for cell in document["out_of_fold"]
    ]
    choices = [
        [f"{cell['people']:,}", name, share_text(found), number(cell["mean_disparity"][name])]
        for cell in document["selection"]
        for name, found in cell["beyond_tolerance"].items()
    ]
    rejected = ", ".join(
        f"{share_text(cell['fair_candidate_rejected'])} ({cell['people']:,} people)" for cell in document["selection"]
    )
    data_sets = {key: f"{document[key][0][of]['data_sets']:,}" for key, of in (
        ("intervals", "coverage"), ("out_of_fold", "out_of_fold"), ("selection", "fair_candidate_rejected"),
    )}  # fmt: skip
    compared = f"{document['intervals'][0]['percentile_bootstrap']['data_sets']:,}"
    return [
        "## Frames, audited models and selection", "",
        MODEL_SELECTION.format(
            tolerance=number(document["tolerance"]), resamples=document["bootstrap_resamples"], compared=compared,
            file=path.name, **data_sets,
        ), "",
        *folded("Coverage of the largest disparity between any two groups",
                ["selection rates", "people", "disparity", "interval", "its worst end", "percentile bootstrap"],
                intervals),
        *folded("How often equalized odds of a decision tree is rejected",
                ["model", "people", "out of fold", "in sample"], models),
        *folded("How often a search chooses a candidate whose true disparity is beyond "
                f"{number(document['tolerance'])}", ["people", "choice", "share", "mean disparity"], choices),
        f"Twice the mean of the folds' p-values rejects the fair candidate in {rejected}.", "",
    ]  # fmt: skip


#: How audits were adjusted.
ADJUSTMENTS = {"holm": "Holm", "shaffer": "Holm, Shaffer's factors"}


def audits(folder):
    """Show the figures of `benchmarks.audit` where they are."""
    path = folder / "audit.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    families = [
        [
            cell["design"], f"{cell['people']:,}", cell["predictions"], f"{cell['comparisons']:,}",
            ADJUSTMENTS[cell["adjust"]],
            f"{share_text(cell['false_concern'])} ± {number(cell['false_concern']['error'])}",
            share_text(cell["true_concern"]), f"{cell['false_concern']['data_sets']:,}",
        ]
        for cell in document["families"]
    ]  # fmt: skip
    sizes = [
        [
            " and ".join(f"{n:,}" for n in cell["people"]), number(cell["rate"]), f"1 of {cell['comparisons']:,}",
            *("none" if cell[key] is None else number(cell[key]) for key in ("size", "power")),
        ]
        for cell in document["detectable"]
    ]  # fmt: skip
    head = ["design", "people", "predictions", "comparisons", "adjusted by", "false positive", "true positive"]
    head.append("data sets")
    return [
        "## Audits", "",
        AUDIT.format(file=path.name, level=number(document["level"])), "",
        *folded("False positives of audits", head, families),
        AUDIT_DETECTABLE, "",
        *folded("Power at the disparity called detectable", ["people", "rate", "level", "size", "power"], sizes),
    ]  # fmt: skip


def sequential(folder):
    """Show the figures of `benchmarks.sequential` where they are."""
    path = folder / "sequential.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    figures, level = document["figures"], document["level"]

    def cases(prefix):
        return {name.removeprefix(prefix): found for name, found in figures.items() if name.startswith(prefix)}

    fair, delays = cases("fair: "), cases("delay: ")
    methods = list(dict.fromkeys(method for found in fair.values() for method in found["ever"]))
    three = figures["three groups"]
    rows = [
        [name, f"{found['looks']:,}", *(number(found["ever"].get(method)) for method in methods)]
        for name, found in fair.items()
    ]
    rows += [
        [f"three groups, {name}", f"{three['looks']:,}", number(found["false"]), *["–"] * (len(methods) - 1)]
        for name, found in three["found"].items()
    ]
    waits = list(dict.fromkeys(method for found in delays.values() for method in found["delay"]))

    def looks(found):
        if found is None:
            return "–"
        return " / ".join("–" if found[key] is None else f"{found[key]:.0f}" for key in ("median", "eighty"))

    delayed = [
        [name, f"{found['fixed_80']:.1f}", *(looks(found["delay"].get(method)) for method in waits)]
        for name, found in delays.items()
    ]
    missed = number(max(found["ever_missed_cut"] for found in figures["coverage"].values()))
    first, wait = next(iter(fair.values())), next(iter(delays.values()))
    return [
        "## Streams", "",
        SEQUENTIAL.format(file=path.name, streams=f"{first['streams']:,}", level=number(level),
                          compared=f"{document['compared']:,}"), "",
        *folded("Streams without a disparity that are ever rejected", ["stream", "looks", *methods], rows),
        SEQUENTIAL_DELAY.format(streams=f"{wait['streams']:,}"), "",
        *folded("Looks until half / 80% are rejected", ["stream", "fixed", *waits], delayed),
        SEQUENTIAL_COVERAGE.format(missed=missed, level=number(level)),
    ]  # fmt: skip


def adjusted_shares(folder):
    """Yield the design, the method, how often it rejects, and whether that is too often, of `benchmarks.adjusted`."""
    path = folder / "adjusted.json"
    document = json.loads(path.read_text()) if path.exists() else {"figures": {}}
    out = []
    for name, found in document["figures"].items():
        level = document["level"]
        limit = level + 3 * np.sqrt(level * (1 - level) / found["runs"])
        for method, count in found["rejected"].items():
            share = count / found["runs"]
            out.append((name, method, share, name.startswith("size") and method != "unadjusted" and share > limit))
    return out


def adjusted(folder):
    """Show the figures of `benchmarks.adjusted` where they are."""
    path = folder / "adjusted.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    texts = {}
    for name, method, share, is_bad in adjusted_shares(folder):
        texts.setdefault(name, {})[method] = f"**{number(share)}**" if is_bad else number(share)
    rows = []
    for name, found in texts.items():
        kind, design, people, *more = name.split(", ")
        shares = [found.get(method, "–") for method in ("unadjusted", "gcm")]
        runs = f"{document['figures'][name]['runs']:,}"
        rows.append([kind, ", ".join([design, *more]), people.removesuffix(" people"), *shares, runs])
    head = ["", "design", "people", "without adjustment", "adjusted", "data sets"]
    text = ADJUSTED.format(file=path.name, level=number(document["level"]))
    return ["## Disparities given covariates", "", text, "", *folded("Share of data sets rejected", head, rows)]


def few_labels(folder):
    """Show the figures of `benchmarks.labelled`."""
    path = folder / "labelled.json"
    if not path.exists():
        return []
    cells = json.loads(path.read_text())["cells"]
    counts = " to ".join(
        f"{n:,}" for n in sorted({min(c["data_sets"] for c in cells), max(c["data_sets"] for c in cells)})
    )
    out = ["## Few labels and a judge", "", LABELLED.format(file=path.name, level=number(ALPHA), counts=counts), ""]
    head = [
        "judge", "rate", "labels", "size", "coverage", "of PPI++", "width", "of PPI++", "of labels alone", "power",
        "of labels alone", "data sets",
    ]  # fmt: skip
    for how in dict.fromkeys(cell["labels_drawn"] for cell in cells):
        rows = []
        for cell in (cell for cell in cells if cell["labels_drawn"] == how):
            error, alone = 3 * np.sqrt(ALPHA * (1 - ALPHA) / cell["data_sets"]), how == "at random"

            def covered(name, own=cell, error=error):
                return f"**{number(own[name])}**" if own[name] < 1 - ALPHA - error else number(own[name])

            size = number(cell["size"])
            rows.append([
                cell["judge"], number(cell["rate"]), cell["labels"],
                f"**{size}**" if cell["size"] > ALPHA + error else size,
                f"{covered('coverage')} ({covered('coverage_of_difference')})",
                f"{covered('coverage_ppi')} ({covered('coverage_ppi_of_difference')})", number(cell["width"]),
                number(cell["width_ppi"]), number(cell["width_alone"]) if alone else "–", number(cell["power"]),
                number(cell["power_alone"]) if alone else "–", f"{cell['data_sets']:,}",
            ])  # fmt: skip
        out += folded(f"Labels drawn {how}", head, rows)
    return out


def exact_labels(folder):
    """Show the figures of `benchmarks.labelled_exact`."""
    path = folder / "labelled_exact.json"
    if not path.exists():
        return []
    cells = json.loads(path.read_text())["cells"]
    tests = {"test": "the test", "normal": "normal", "largest over rates": "largest over rates",
             "of likely rates": "of likely rates", "labels alone": "labels alone"}  # fmt: skip

    def of(n, test, what="size"):
        return [cell[test][what] for cell in cells if sum(cell["labels"][0]) == n]

    power = []
    for n in (10, 20):
        differences = [100 * (np.array(of(n, test, "power")) - of(n, "test", "power"))
                       for test in ("largest over rates", "of likely rates")]  # fmt: skip
        by = " and ".join(f"by {own.min():+.1f} to {own.max():+.1f} points ({own.mean():+.1f} on average)"
                          for own in differences)  # fmt: skip
        by = by.replace("+0.0", "0").replace("-0.0", "0")
        power.append(f"With {n} labels their power differs from the test's {by}.")
    exact = max(max(of(n, test)) for n in (10, 20) for test in ("largest over rates", "of likely rates"))
    text = LABELLED_EXACT.format(
        file=path.name, exact=number(exact), ten=number(max(of(10, "test"))), twenty=number(max(of(20, "test"))),
        power=" ".join(power),
    )  # fmt: skip
    rows = [
        [
            cell["judge"],
            " v ".join(map(number, cell["rates"])),
            " v ".join(" + ".join(map(str, n)) for n in cell["labels"]),
            *(f"{number(cell[test]['size'])} / {number(cell[test]['power'])}" for test in tests),
        ]
        for cell in cells
    ]
    head = ["judge", "rates", "labels in bins", *tests.values()]
    return ["## Exact tests of very few labels", "", text, "", *folded("Size / power", head, rows, left=3)]


def judged_text(cell, *, fair):
    """Size or power, and coverage; bold as on the rest of the page."""
    rejected, covered = cell["rejected"], cell["coverage"]
    # The error of a share of 0 or 1 is not 0.
    too_often = fair and rejected["share"] > ALPHA + 3 * max(rejected["error"], 0.001)
    too_rarely = covered["share"] < 1 - ALPHA - 3 * max(covered["error"], 0.001)
    texts = [
        f"**{share_text(found)}**" if bold else share_text(found)
        for found, bold in ((rejected, too_often), (covered, too_rarely))
    ]
    return " / ".join(texts)


def by_statistic(cells, keys, text):
    """Return the names of the statistics, and rows of one cell per statistic."""
    names = list(dict.fromkeys(cell["statistic"] for cell in cells))
    rows = {}
    for cell in cells:
        rows.setdefault(tuple(cell[key] for key in keys), {})[cell["statistic"]] = text(cell)
    return names, [
        [*(f"{part:,}" if isinstance(part, int) else str(part) for part in key), *(found[name] for name in names)]
        for key, found in rows.items()
    ]


def individual(folder):
    """Show the figures of `benchmarks.individual` where they are."""
    path = folder / "individual.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    tolerance = document["tolerance"]
    names, level = by_statistic(
        document["level"], ("design", "value", "people"),
        lambda cell: judged_text(cell, fair=cell["value"] <= tolerance),
    )  # fmt: skip
    _, ways = by_statistic(
        document["ways"], ("model", "way", "people"),
        lambda cell: f"{cell['value']:.4g}: {judged_text(cell, fair=True)}",
    )  # fmt: skip
    learned = [
        [
            f"{cell['features']} features", "", f"{cell['people']:,}",
            *(share_text(cell[key]) for key in ("coverage_of_own", "above_own", "coverage_of_limit", "rejected")),
            number(cell["mean_own_value"]),
        ]
        for cell in document["learned"]
    ]  # fmt: skip
    rows = [
        [f"{cell['people']:,}", str(cell["copies"]), number(cell["ours"]),
         f"{number(cell['infairness'])} ({number(cell['over_seeds'])})"]
        for cell in document["rows"]
    ]  # fmt: skip
    rates = {cell["people"]: {} for cell in document["infairness"]}
    for cell in document["infairness"]:
        rates[cell["people"]][cell["value"]] = share_text(cell["rejected"])
    values = sorted({cell["value"] for cell in document["infairness"]})
    dropped = document["dropped"]
    return [
        "## Individual fairness", "",
        INDIVIDUAL.format(file=path.name, tolerance=tolerance), "",
        *folded("Rejected / coverage", ["design", "audit value", "people", *names], level),
        INDIVIDUAL_WAYS.format(data_sets=f"{document['ways'][0]['rejected']['data_sets']:,}",
                               many=f"{document['many']:,}"), "",
        *folded("Audit value: rejected / coverage", ["model", "found by", "people", *names], ways),
        INDIVIDUAL_LEARNED.format(data_sets=f"{document['learned'][0]['rejected']['data_sets']:,}",
                                  tolerance=tolerance), "",
        *folded("Learned metrics", ["X", "", "people", "coverage of its value", "bound above it",
                "coverage of the limit's", "rejected at the limit's", "its value"], learned),
        INDIVIDUAL_ROWS.format(tolerance=tolerance,
                               data_sets=f"{document['infairness'][0]['rejected']['data_sets']:,}"), "",
        *folded("Statistic of people counted several times",
                ["people", "times counted", "IndividualFairnessTest", "inFairness"], rows),
        *folded("How often inFairness rejects", ["people", "", *(f"audit value {value}" for value in values)],
                [[f"{n:,}", "", *(found[value] for value in values)] for n, found in rates.items()]),
        INDIVIDUAL_DROPPED.format(
            dropped=share_text(dropped["dropped"]), harmed=share_text(dropped["dropped_although_harmed"]),
            people=f"{dropped['people']:,}", rest=number(dropped["mean_of_the_rest"]),
            means=number(dropped["ratio_of_means"]),
        ), "",
    ]  # fmt: skip


#: How one model is told to the test.
TOLD = (
    "as fitted", "other units", "numbers for yes and no", "no penalty", "no penalty, first categories dropped",
    "searched", "unfair", "unfair, searched",
)  # fmt: skip


def individual_people(folder):
    """Show the figures of `benchmarks.individual_people` where they are."""
    path = folder / "individual_people.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    rows = [
        [
            row["data"], *(f"{row[kind]['rejected']} of {row['samples']}" for kind in ("fair", "unfair")),
            *(number(row["fitted"][told]["statistic"]) for told in TOLD), str(row["fitted"]["impossible"]),
        ]
        for row in document["rows"]
    ]  # fmt: skip
    people = f"{document['rows'][0]['people']:,}"
    said = INDIVIDUAL_PEOPLE.format(file=path.name, people=people)
    header = ["", "fair model rejected", "unfair model rejected", *TOLD, "impossible values"]
    return ["### People in tables of text", "", said, "", *folded("Rejections and statistics", header, rows)]


def coverage_falls_short(document, least=0.9):
    """Name the designs in which the interval holds the population's value less often than was aimed at."""
    cells = [cell for kind in ("blind", "used", "searched") for cell in document[kind] if cell["coverage"]]
    short = [cell for cell in cells if cell["coverage"]["share"] < least]
    designs = [
        f"{cell['model']}, shift {cell['shift']:.2g}, {cell['people']:,} people: {share_text(cell['coverage'])} "
        f"({number(cell['coverage']['error'])}; {cell['coverage']['data_sets']} data sets)"
        for cell in short
    ]
    return INDIVIDUAL_SHORT.format(
        least=number(least), short=len(short) or "none", cells=len(cells), designs="; ".join(designs) or "none"
    )


def individual_evidence(folder):
    """Show the figures of `benchmarks.individual_evidence` where they are."""
    path = folder / "individual_evidence.json"
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    verdicts = ("unfair", "no_trace")
    coins = [[cell["people"], cell["model"], *(share_text(cell[name]) for name in verdicts)]
             for cell in document.get("coins", [])]  # fmt: skip
    directions = [
        [
            cell["model"], f"{cell['shift']:.2g}", f"{cell['people']:,}",
            *(share_text(cell[name]) for name in verdicts),
            *("" if cell[name] is None else number(cell[name]) for name in ("value", "median")),
            *("" if cell.get(name) is None else share_text(cell[name]) for name in ("coverage", "fresh")),
        ]
        for cell in (*document["blind"], *document["used"], *document["searched"])
    ]  # fmt: skip
    planted = [
        [
            cell["model"], str(cell["levels"]), share_text(cell["unfair"]), number(cell["median"]),
        ]
        for cell in document["planted"]
    ]  # fmt: skip
    n_planted = document["planted"][0]["unfair"]["data_sets"]
    return [
        "### Verdicts without a trace, and with one", "",
        INDIVIDUAL_EVIDENCE.format(file=path.name), "",
        *((INDIVIDUAL_COINS.format(data_sets=document["coins"][0]["unfair"]["data_sets"]), "",
           *folded("Coin flips", ["people", "model", "unfair", "no trace"], coins)) if coins else ()),
        INDIVIDUAL_DIRECTIONS.format(many=f"{document['many']:,}"), "", coverage_falls_short(document), "",
        *folded("Models that are blind to a shift, and that use it", ["model", "shift", "people", "unfair", "no trace",
                "value", "median statistic", "coverage", "fresh people"], directions),
        INDIVIDUAL_PLANTED, "",
        *folded(f"A category that is used, {n_planted} samples of {document['planted'][0]['people']} people",
                ["model", "levels", "unfair", "statistic"],
                planted),
    ]  # fmt: skip


def adult_and_compas(_folder):
    return ["### Adult and COMPAS", "", INDIVIDUAL_PAPER, ""]


#: The pages by topic: their titles, what they hold, sections of designs, and sections of further benchmarks.
TOPICS = {
    "rates": ("Rates", ("paper", "rates", "grid", "ratios"), (contradictions,)),
    "groups": ("Several groups and rates", ("families", "highest"), (audits,)),
    "scores": ("Scores, and metrics of classes", ("auc", "average_precision", "balanced_accuracy", "mcc", "classes"),
               (calibration,)),
    "errors": ("Errors, and correlations", ("r2", "mean_squared_error", "log_loss", "cautions"), (correlation,)),
    "people": ("Clusters and weights", ("clusters", "weights", "follow"), (prompts,)),
    "subgroups": ("Subgroups, and inequality of benefits", (), (scans, inequality)),
    "models": ("Selection, two models and streams", (), (model_selection, two_models, sequential)),
    "adjusted": ("Given covariates", (), (adjusted,)),
    "labelled": ("Few labels", (), (few_labels, exact_labels)),
    "individual": ("Individual fairness", (), (individual, individual_people, individual_evidence, adult_and_compas)),
}  # fmt: skip


def render(cells, records, folder):
    """Return each page by its name, with what is stored so far: the summary, how to read the tables, the topics."""
    there = [cell for cell in cells if cell.name in records]
    if not there:
        raise SystemExit("no results are stored yet: run python -m benchmarks.validity")
    methods = [["; ".join(METHODS[method] for method in named), note] for named, note in NOTES]
    reading = READING.format(methods=table(["method", "what it is"], methods), run=_how(there, cells, records))
    pages = {f"validity/{name}.md": topic(name, there, records, folder) for name in TOPICS}
    claims = promises(there, records)
    faced, exceptions = gauntlet(folder)
    summary = [
        INTRODUCTION.format(drawings=pictures(there, records), gauntlet=faced), *kept(claims),
        *limits(there, records, claims, exceptions, folder), "## The tables, by topic", "",
        *(f"- [{title}](validity/{name}.md): {contents(pages[f'validity/{name}.md'])}"
          for name, (title, *_) in TOPICS.items()),
        "", FURTHER, "", "```{toctree}", ":hidden:", ":maxdepth: 1", "",
        *(f"validity/{name}" for name in ("gauntlet", *TOPICS, "reading")), "```", "",
    ]  # fmt: skip
    return {"validity.md": "\n".join(summary), "validity/reading.md": reading, **pages}


def topic(name, cells, records, folder):
    """The page of one topic."""
    title, sections, benchmarks = TOPICS[name]
    out = [f"# {title}: size, power, coverage", "", TOPIC, ""]
    for chosen in sections:
        own = [cell for cell in cells if cell.section == chosen]
        if chosen == "paper":
            out += [line for cell in own for line in paper(cell, records[cell.name])]
        elif own:
            words, text = next((words, text) for section, words, text in SECTIONS if section == chosen)
            out += [f"## {words}", "", text, "", *section(own, records)]
    for benchmark in benchmarks:
        out += benchmark(folder)
    return "\n".join(out).rstrip() + "\n"


def contents(page):
    """The headings of a page, in a row."""
    found = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    return "; ".join(line[0].lower() + line[1:] if line.split()[0].istitle() and line.split()[0] not in NAMES else line
                     for line in found)  # fmt: skip


#: First words of headings that are names.
NAMES = {"Matthews'", "R"}


def _how(there, cells, records):
    versions = sorted({", ".join(f"{k} {v}" for k, v in records[c.name]["versions"].items()) for c in there})
    minutes = sum(records[c.name]["seconds"] for c in there) / 60
    defaults = sorted({cell.default for cell in there})
    assert set(defaults) <= set(METHODS)
    return (
        f"{len(there)} of {len(cells)} designs, {minutes:.0f} minutes of one processor; {'; '.join(versions)}. Seeds, "
        "parameters, errors and the versions behind each design are in the results file."
    )
