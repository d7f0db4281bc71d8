"""DiCiccio et al. (2020): every number, table and figure of "Evaluating fairness using permutation tests"."""

import numpy as np

from benchmarks.designs import correlation
from benchmarks.reproduce import _diciccio_data as data
from benchmarks.reproduce import _diciccio_limits as limits
from benchmarks.reproduce import _diciccio_simulations as simulations
from benchmarks.reproduce import _diciccio_theory as theory
from benchmarks.reproduce import _pictures as pictures
from benchmarks.reproduce._expected import agrees, claims, meanings
from benchmarks.reproduce._pictures import Picture
from benchmarks.reproduce._rows import Found, Row, said

TITLE = "DiCiccio et al. (2020): permutation tests of fairness"
SOURCE = "diciccio"
SEED = 20200823
INTRODUCTION = """\
C. DiCiccio, S. Vasudevan, K. Basu, K. Kenthapadi and D. Agarwal (2020), [Evaluating fairness using permutation
tests](https://doi.org/10.1145/3394486.3403199), show that a permutation test of a metric needs a studentized
statistic, and test logistic regressions on COMPAS and Adult.

Where a number is not reproduced as the text has it, another reading may give it; such readings were looked for after
the numbers were known, and prove nothing. Table 1 joins two scripts with different noise. The share for the bootstrap
fits one-sided p-values, that for the studentized test a pooled standard error; with the error that the paper defines,
the test rejects {plug_in:.1%} of fair models. Two formulas are misprinted: in that of
theorem 1 two denominators are exchanged, and in the proof of theorem 3 a plus is a minus. The variances of sections 2.2
to 3.3 are compared at designs of ours."""
SECTIONS = (
    "Section 2.2: two means",
    "Table 1: correlation",
    "Section 4.2: false negative rates, and Figure 1",
    "Theorems 1 and 2: areas under the ROC curve",
    "Theorem 3: false negative rates",
    "Section 5: the models",
    "Figure 2: every threshold",
    "Figure 3: how many people",
)
MEANS, CORRELATION, RATES, AREAS, THEOREM_3, MODELS, FIGURE_2, FIGURE_3 = SECTIONS
TABLES = {
    MEANS: """\
Normal groups X and Y with equal means. Variances are those of the paper's statistic, the difference of the means times
the root of the people in X: by its formulas, and measured in {means_data_sets:,} data sets of {resamples}
permutations. The un-studentized test rejects too often where the smaller group varies more, and hardly ever where it
varies less; the limit of its rejection rate follows from the two variances.""",
    CORRELATION: """\
A feature x and errors that are uncorrelated with it, but depend on it: normal noise z over x^2 or |x|, {people:,}
people. The share of {studentized_data_sets:,} data sets ({fairtest_data_sets:,} for the other tests) that each test
rejects at 5%, with its Monte-Carlo error; measured by `python -m benchmarks.validity --only correlations`. The paper
describes z / x^2. Of its two published scripts, the one of Algorithm 1 uses that, and the one of FairTest z / |x|.
Ordinary permutations of the errors, without a standard error, are no cure.""",
    RATES: """\
Two groups of {size} people, base rates .8 and .2, false negative rate .1 in both: the share of {rates_data_sets:,} fair
data sets that are rejected at 5% ({rates_resamples:,} resamples, Monte-Carlo error about {rates_error:.4f}), for each
standard error that the difference can be divided by and for each way to count. The last column is the published share,
and which figures of the row reproduce it. The package's default, exact among the positives, rejects {exact:.4f}
of the first {exact_data_sets:,}.""",
    AREAS: """\
A quarter of the people are in group A, base rates .8 and .2, areas .8 in both; positives' scores vary three times as
much in group B. The table has the largest distance (Kolmogorov's) between each distribution and its limit; that of a
permutation distribution is a mean over {permuted} data sets. Even {draws:,} draws from the limit itself would on
average be {noise:.3f} away from it.""",
    THEOREM_3: """\
The same sizes and base rates, false negative rate .1 in both groups. In small samples the permutation distributions are
far from their limits: a group may have few positives and no misses, and rates of few people tie.""",
    MODELS: """\
Areas under the ROC curve of test people in {splits} random splits of 70%, 15% (not used) and 15%. The paper says which
features (all but gender and race, and not Adult's final weight) and how large the parts are, but not how they were
drawn; {compas_people:,} COMPAS records are those with a screening within 30 days and a charge description. Numbers are
as they are, categories one-hot, missing ones a category of Adult, the penalty is scikit-learn's default.""",
    FIGURE_2: """\
The model of one split at {thresholds} thresholds: the difference between men and women, the 95th percentile of the
differences in {trials:,} permutations of all labels, and whether section 5's test (the difference over its bootstrap
deviation, against permuted ones over theirs) and the package's default test are significant at 5%. Ratio: the mean
deviation of bootstraps of {bootstrapped} permuted data sets over the deviation of the permutations, at thresholds from
.1 to .9. The paper takes the latter for the former, and they are approximately equal but where the smaller group is
expected to have fewer than {enough} people on one side of the threshold.""",
    FIGURE_3: """\
The smallest difference that section 5's test finds at any threshold, in {repetitions} random samples of each size: of
Adult's test people, and of COMPAS's training people as in the paper, of whom there are {compas_train:,}. The exponent
is that of the people in a power law, with its standard error: -1/2 of a difference that shrinks with the root of the
people. They shrink if every exponent is below 0 by two standard errors. A minimum over thresholds varies much from
sample to sample.""",
}
PICTURES = {
    "p_values": Picture(
        RATES,
        "P-values of fair data sets",
        "Histograms of the p-values of fair data sets, which would be level at the line if the test were exact; the "
        "share below .05 is orange. Un-studentized permutations and the bootstrap have too many small ones, the exact "
        "test fewer.",
        (pictures.WIDTH, 5.0),
        pictures.p_values,
    ),
    "odds": Picture(
        FIGURE_2,
        "Equalized odds and permutation tests at every threshold",
        "The absolute difference between men and women (solid, with dots where the package's test is significant at "
        "5%) and the 95th percentile of the permutation distribution (dashed), against the threshold.",
        (pictures.WIDTH, 5.2),
        pictures.odds,
    ),
    "smallest": Picture(
        FIGURE_3,
        "Smallest detected difference and number of people",
        "The median of the smallest detected differences, and the range of the middle 80% of the samples, of false "
        "positive rates (solid) and recall (dashed), against the number of people.",
        (pictures.WIDTH, 2.9),
        pictures.smallest,
    ),
}
#: What a full and a quick run compute.
FULL = {
    "means": 500, "resamples": 499, "table": None, "rates": 10_000, "rates_resamples": 1000, "exact": 2000,
    "people": (100, 400, 1600), "draws": 1500, "permuted": 12, "splits": 40, "sizes": 8, "repetitions": 30,
}  # fmt: skip
QUICK = {
    "means": 100, "resamples": 199, "table": 10, "rates": 1000, "rates_resamples": 200, "exact": 100, "people": (400,),
    "draws": 300, "permuted": 6, "splits": 5, "sizes": 3, "repetitions": 2,
}  # fmt: skip
NEAR, ENOUGH = meanings(SOURCE, "real.deviation")
#: How many Monte-Carlo errors a simulation may be from a formula.
ERRORS = 3


def run(*, quick):
    how = QUICK if quick else FULL
    sequences = dict(zip(SECTIONS, np.random.SeedSequence(SEED).spawn(len(SECTIONS)), strict=True))
    parts = [two_means(how, sequences[MEANS]), table_1(how, sequences[CORRELATION]), rates(how, sequences[RATES])]
    parts += [theorems(how, sequences[AREAS], sequences[THEOREM_3]), Found(theory.rows())]
    absent = data.missing()
    if absent and not quick:
        raise FileNotFoundError(f"{' and '.join(absent)}: set SKFAIRTEST_DATA to the folder that has them")
    if absent:
        print(f"diciccio: section 5 is left out, as the data folder (SKFAIRTEST_DATA) lacks {' and '.join(absent)}")
    else:
        parts.append(section_5(how, [sequences[name] for name in (MODELS, FIGURE_2, FIGURE_3)]))
    return Found(
        [row for part in parts for row in part.rows],
        {title: table for part in parts for title, table in part.tables.items()},
        {key: value for part in parts for key, value in part.facts.items()},
        {key: value for part in parts for key, value in part.data.items()},
    )


# Simulations ------------------------------------------------------------------------------------------------


def variance_row(what, formula, measured, error, answers, reading=""):
    """A measured variance beside that of a formula of the paper."""
    apart = f"standard error {error:.2g}, {abs(measured - formula) / error:.1f} of them apart"
    return Row(what, measured, answers, reading, other=formula, within=ERRORS * error, why=apart)


def two_means(how, sequence):
    designs = [simulations.Means((400, 100), deviations) for deviations in ((1.0, 3.0), (3.0, 1.0))]
    rows, table, wrong, shares = [], [], [], []
    for design, child in zip(designs, sequence.spawn(2), strict=True):
        found = simulations.means(design, how["means"], how["resamples"], child)
        label = "deviations {:g} and {:g} in groups of {} and {}".format(*design.deviations, *design.people)
        rows += [
            variance_row(f"2.2: {kind} variance, {label}", formula, *found[kind], "means.variances")
            for kind, formula in (("sampling", design.sampling_variance), ("permutation", design.permutation_variance))
        ]
        errors = [simulations.error_of(found[name], how["means"]) for name in ("un-studentized", "studentized")]
        shares.append(found["studentized"])
        wrong.append([found[f"{name}, higher"] for name in ("un-studentized", "studentized")])
        table.append([
            label, f"{design.sampling_variance:g}, {found['sampling'][0]:.2f}",
            f"{design.permutation_variance:g}, {found['permutation'][0]:.2f}",
            f"{design.limit:.4f}, {found['un-studentized']:.4f} ({errors[0]:.4f})",
            f"{simulations.ALPHA:.4f}, {found['studentized']:.4f} ({errors[1]:.4f})",
        ])  # fmt: skip
    head = ["design", "sampling variance: formula, measured", "permutation variance: formula, measured",
            "un-studentized: limit, rejected (error)", "studentized: limit, rejected (error)"]  # fmt: skip
    facts = {"means_data_sets": how["means"], "resamples": how["resamples"]}
    unstudentized, studentized = np.max(wrong, axis=0)
    half = simulations.ALPHA / 2
    most = half + ERRORS * simulations.error_of(half, how["means"])
    rows += [
        said("2.3: rejections in the wrong direction", studentized <= most < unstudentized,
             f"up to {unstudentized:.3f} un-studentized and {studentized:.3f} studentized, within errors of {half:.3f}",
             answers="means.direction"),
        said("2.3: studentized tests of equal means reject as often as the level", all(
            abs(share - simulations.ALPHA) <= ERRORS * simulations.error_of(simulations.ALPHA, how["means"])
            for share in shares
        ), f"rejects {min(shares):.3f} and {max(shares):.3f} at 5%", answers="means.studentized"),
    ]  # fmt: skip
    return Found(rows, {MEANS: (head, table)}, facts)


#: The claims of Table 1, the design and the test of each.
TABLE_1 = (
    ("table1.uncorrelated/algorithm1", "U(0.00001, 1)", "studentized"),
    ("table1.uncorrelated/fairtest", "U(0.00001, 1)", "fairtest"),
    ("table1.independence/algorithm1", "Exp(1) + 1", "studentized"),
    ("table1.independence/fairtest", "Exp(1) + 1", "fairtest"),
)
#: The noise of the text, and another reading.
NOISES = {"z / x^2": "", "z / |x|": "noise z / |x|, as in the authors' Python script for FairTest"}


def table_1(how, sequence):
    """The figures of `benchmarks.designs.correlation`: those stored, or fewer of them computed anew."""
    if how["table"] is None:
        cells = correlation.stored_table()
    else:
        cells = correlation.table(how["table"], how["resamples"], sequence)
    found = {(cell["feature"], cell["outcome"]): cell for cell in cells if cell["correlation"] == "pearson"}
    rows, shares = [], {}
    for answers, feature, test in TABLE_1:
        for noise, reading in NOISES.items():
            ours, n = (found[feature, noise][test][key] for key in ("size", "data_sets"))
            what = f"Table 1: {feature}, {test}, noise {noise}"
            rows.append(Row(what, ours, answers, reading, n))
            shares[answers, noise] = ours, simulations.error_of(ours, n)
    for answers, claim, too_often in (
        ("table1.uncorrelated", "fairtest.invalid", True), ("table1.independence", "fairtest.biased", False),
    ):  # fmt: skip
        (theirs, error), (ours, own) = (shares[f"{answers}/{test}", "z / x^2"] for test in ("fairtest", "algorithm1"))
        far = theirs > simulations.ALPHA + ERRORS * error if too_often else theirs < simulations.ALPHA - ERRORS * error
        near = ours <= simulations.ALPHA + ERRORS * own
        why = f"{theirs:.4f}, Algorithm 1 {ours:.4f}"
        rows.append(said(f"{claim}: as Table 1 says", far and near, why, answers=claim))
    (valid, error), (power, its) = (shares[f"{name}/algorithm1", "z / x^2"] for name in
                                    ("table1.uncorrelated", "table1.independence"))  # fmt: skip
    holds = valid <= simulations.ALPHA + ERRORS * error and power >= simulations.ALPHA - ERRORS * its
    why = f"rejects {valid:.4f} without correlation, and {power:.4f} without independence"
    rows.append(said("Algorithm 1 is valid, and unbiased for independence", holds, why, answers="algorithm.unbiased"))
    table = [
        [
            *design,
            *("{size:.4f} ({error:.4f})".format_map(cell[test]) for test in ("studentized", "ordinary", "fairtest")),
        ]
        for design, cell in found.items()
    ]
    head = ["feature", "noise", "studentized (this package)", "ordinary permutation", "FairTest's shuffle"]
    first = next(iter(found.values()))
    facts = {
        "people": first["people"],
        **{f"{key}_data_sets": first[key]["data_sets"] for key in ("studentized", "fairtest")},
    }
    return Found(rows, {CORRELATION: (head, table)}, facts)


#: The claims of section 4.2 by the test that they are about.
RATES_OF = {
    "un-studentized": "fnr.unstudentized/rejected", "studentized": "fnr.studentized_rate/rejected",
    "bootstrap": "fnr.bootstrap/rejected",
}  # fmt: skip


def rates(how, sequence):
    n, rng = how["rates"], np.random.default_rng(sequence)
    groups, found = simulations.false_negative_rates(n, how["rates_resamples"], rng)
    both = simulations.SIDES[0]
    shares = {name: {side: float((p <= simulations.ALPHA + 1e-9).mean()) for side, p in sides.items()}
              for name, sides in found.items()}  # fmt: skip
    published = {name: claim for name, answers in RATES_OF.items() for claim in claims(SOURCE) if claim.name == answers}
    plug_in, bootstrap = shares[simulations.PLUG_IN][both], shares[simulations.BOOTSTRAP]
    pooled = shares[simulations.POOLED][both]
    rows = [
        Row(f"4.2: {words}", share, RATES_OF[name], reading, n)
        for words, name, reading, share in (
            ("un-studentized", "un-studentized", "", shares[simulations.RAW][both]),
            ("studentized, with the paper's standard error", "studentized", "", plug_in),
            ("studentized, pooled", "studentized", "a pooled standard error", pooled),
            ("basic bootstrap", "bootstrap", "", bootstrap[simulations.SIDES[1]]),
            ("one-sided bootstrap", "bootstrap", "one-sided p-values (A higher)", bootstrap[simulations.SIDES[2]]),
        )
    ]  # fmt: skip
    off = {name: abs(share - simulations.ALPHA) for name, share in (
        ("un-studentized", shares[simulations.RAW][both]), ("studentized", plug_in),
        ("bootstrap", bootstrap[simulations.SIDES[1]]),
    )}  # fmt: skip
    said_of = "off the level by " + ", ".join(f"{far:.4f} ({name})" for name, far in off.items())
    (closer,), (worse,) = (meanings(SOURCE, name) for name in ("fnr.uniform", "fnr.bootstrap_worse"))
    rows += [
        said("4.2: studentized p-values are much closer to uniform",
             off["un-studentized"] >= closer * off["studentized"], said_of, answers="fnr.uniform"),
        said("4.2: the bootstrap is considerably worse than the studentized test",
             off["bootstrap"] >= worse * off["studentized"], said_of, answers="fnr.bootstrap_worse"),
        said("4.2: the same, by the errors and p-values that give the published numbers",
             abs(bootstrap[simulations.SIDES[2]] - simulations.ALPHA) >= worse * abs(pooled - simulations.ALPHA),
             f"off the level by {abs(pooled - simulations.ALPHA):.4f} (studentized, pooled) and "
             f"{abs(bootstrap[simulations.SIDES[2]] - simulations.ALPHA):.4f} (bootstrap, one-sided)",
             answers="fnr.bootstrap_worse", reading="pooled errors and one-sided p-values, which give the numbers"),
    ]  # fmt: skip
    of = {simulations.RAW: "un-studentized", simulations.BOOTSTRAP: "bootstrap"}
    table = []
    for name, sides in shares.items():
        claim = published[of.get(name, "studentized")]
        near = [side for side, share in sides.items() if agrees(claim, Row(name, share, repetitions=n))]
        table.append([name, *(f"{share:.4f}" for share in sides.values()),
                      f"{claim.printed}: {' and '.join(near) or 'none'}"])  # fmt: skip
    exact = simulations.exact_p_values([each[: how["exact"]] for each in groups])
    drawn = {
        "un-studentized": found[simulations.RAW][both], "studentized, as defined": found[simulations.PLUG_IN][both],
        "basic bootstrap": found[simulations.BOOTSTRAP][simulations.SIDES[1]], "exact (default)": exact,
    }  # fmt: skip
    heights = {name: [round(float(x), 4) for x in 20 * np.histogram(np.minimum(p, 1), 20, (0, 1))[0] / len(p)]
               for name, p in drawn.items()}  # fmt: skip
    highest = 1.05 * max(height for each in heights.values() for height in each[:-1])
    facts = {
        "size": simulations.SIZE, "rates_data_sets": n, "rates_resamples": how["rates_resamples"],
        "rates_error": simulations.error_of(plug_in, n), "plug_in": plug_in,
        "exact": float((exact <= simulations.ALPHA).mean()), "exact_data_sets": len(exact),
    }  # fmt: skip
    head = ["divided by", *simulations.SIDES, "published, and where it fits"]
    picture = {"heights": heights, "highest": round(highest, 4)}
    return Found(rows, {RATES: (head, table)}, facts, {"p_values": picture})


# Theorems ---------------------------------------------------------------------------------------------------


def theorems(how, *sequences):
    tables, last, far = {}, {}, {}
    for kind, title, sequence in zip(("areas", "rates"), (AREAS, THEOREM_3), sequences, strict=True):
        rng, table = np.random.default_rng(sequence), []
        for people in how["people"]:
            found = limits.measured(kind, people, how["draws"], how["draws"], how["permuted"], rng)
            table.append([f"{people:,}", *(f"{each:.3f}" for each in found["distances"])])
        far[kind] = max(found["distances"][2:])
        tables[title] = (["people", *(name for name, *_ in limits.LIMITS)], table)
        last[kind] = found
    (v, w), (printed_v, printed_w) = limits.area_variances(), limits.area_variances(exchanged=True)
    sampling, permutation = (
        {kind: (found[name], found[f"{name}_error"]) for kind, found in last.items()}
        for name in ("sampling", "permutation")
    )
    by_section, (_, by_proof) = limits.rate_variances(), limits.rate_variances(printed=True)
    misprint = "its two denominators exchanged, a misprint"
    rows = [
        variance_row("Theorem 1: v as printed", printed_v, *sampling["areas"], "auc.variances"),
        variance_row("Theorem 1: v, denominators exchanged", v, *sampling["areas"], "auc.variances", misprint),
        variance_row("Theorem 1: w as printed", printed_w, *permutation["areas"], "auc.variances"),
        variance_row("Theorem 1: w, denominators exchanged", w, *permutation["areas"], "auc.variances", misprint),
        variance_row("3.3: sampling variance", by_section[0], *sampling["rates"], "fnr.sampled_variance"),
        variance_row("3.3: permutation variance", by_section[1], *permutation["rates"], "fnr.permuted_variance"),
        variance_row("Proof of theorem 3: the same as printed", by_proof, *permutation["rates"],
                     "proof.fnr_variance"),
        variance_row("Proof of theorem 3, with a plus", by_section[1], *permutation["rates"], "proof.fnr_variance",
                     "a plus for the minus, as in 3.3"),
        *(
            said(f"{where}: studentized {kind} of {how['people'][-1]:,} people are normal but for .05",
                 far[kind] <= 0.05, f"at most {far[kind]:.3f} from the normal distribution", answers=answers)
            for kind, where, answers in (("areas", "3.2.1", "auc.studentized"), ("rates", "3.3", "fnr.studentized"))
        ),
    ]  # fmt: skip
    facts = {
        "permuted": how["permuted"], "draws": how["draws"], "largest": how["people"][-1],
        "noise": float(np.sqrt(np.pi / 2) * np.log(2) / np.sqrt(how["draws"])),
    }  # fmt: skip
    return Found(rows, tables, facts)


# Data -------------------------------------------------------------------------------------------------------

NAMES = pictures.NAMES


def section_5(how, sequences):
    rows, model_table, figure_2, odds, figure_3, smallest, enough, sparse = [], [], [], {}, [], {}, [], []
    facts = {"splits": how["splits"], "thresholds": len(data.THRESHOLDS), "trials": data.TRIALS,
             "bootstrapped": data.BOOTSTRAPPED, "enough": ENOUGH, "repetitions": how["repetitions"]}  # fmt: skip
    slopes, differ, depends, falls = [], [], [], []
    children = zip(*(sequence.spawn(2) for sequence in sequences), strict=True)
    for name, (for_models, for_thresholds, for_sizes) in zip(NAMES, children, strict=True):
        people = data.load(name)
        found, areas = model_rows(name, people, how, for_models)
        rows += found
        model_table.append(areas)
        rng = np.random.default_rng(for_thresholds)
        train, test = data.split(len(people.y), rng)
        X = people.encoded()
        score = data.fitted(X[train], people.y[train]).predict_proba(X)[:, 1]
        own = score[test], people.y[test], people.male[test]
        result, exact = data.tested(data.counted(*own), rng), data.exactly_tested(*own)
        ratios, rare = data.deviation_ratios(data.counted(*own), rng)
        odds[name], table, significant = threshold_tables(name, result, exact, ratios)
        figure_2 += table
        there = np.isin(data.THRESHOLDS.round(2), data.COMPARED) & ~np.isnan(ratios)
        enough += ratios[there & (rare >= ENOUGH)].tolist()
        sparse += ratios[there & (rare < ENOUGH)].tolist()
        facts[f"{name}_people"], facts[f"{name}_test"], facts[f"{name}_train"] = len(people.y), len(test), len(train)
        depends.append((significant.any(axis=1) & ~significant.all(axis=1)).all())
        differ.append((significant[0] != significant[1]).any())
        pool = train if name == "compas" else test
        own = score[pool], people.y[pool], people.male[pool]
        sizes = [min(int(size), len(pool)) for size in np.linspace(950, 4500, how["sizes"])]
        rng = np.random.default_rng(for_sizes)
        drawn = [data.smallest_by_size(*own, size, how["repetitions"], rng) for size in sizes]
        smallest[name], table, exponents = size_tables(name, sizes, drawn)
        figure_3 += table
        slopes += exponents
        ends = result.difference[:, [0, -1]]
        score, y, _ = own
        falls.append(all(
            (np.diff([(score[y == label] >= threshold).mean() for threshold in data.THRESHOLDS]) <= 0).all()
            for label in (0, 1)
        ))  # fmt: skip
        rows += [
            said(f"Figure 2, {NAMES[name]}: the rates are equal at thresholds 0 and 1", (ends == 0).all(),
                 answers="figure2.ends"),
            said(f"Figure 2, {NAMES[name]}: differences are beyond the 95th percentile at some thresholds, not at all",
                 0 < (np.abs(result.difference) > result.percentile).sum() < result.difference.size,
                 answers="figure2.varying"),
        ]  # fmt: skip
    words = f"ratio {min(enough):.2f} to {max(enough):.2f}; in sparse tails {min(sparse):.2f} to {max(sparse):.2f}"
    rows += [
        said("5.1: whether a disparity is significant depends on the threshold", all(depends),
             answers="conclusion.thresholds"),
        said("5.1: no rate rises with the threshold", all(falls), answers="figure2.decrease"),
        said("5.1: and on the metric", all(differ), answers="conclusion.thresholds"),
        said("5: bootstraps of permuted data and permutations have approximately equal deviations",
             min(enough) >= 1 - NEAR and max(enough) <= 1 + NEAR, words, answers="real.deviation"),
        said("Figure 3: more people, smaller detected differences", all(b < -2 * e for b, e in slopes),
             "exponents " + ", ".join(f"{b:.2f} ({e:.2f})" for b, e in slopes), answers="figure3.trend"),
    ]  # fmt: skip
    tables = {
        MODELS: (["data", "columns", "mean area", "standard deviation", "smallest", "largest"],
                 model_table),
        FIGURE_2: (["data", "rate", "above the percentile", "section 5 significant", "exact test significant",
                    "both agree", "ratio"], figure_2),
        FIGURE_3: (["data", "rate", *("smallest size", "largest size"), "exponent (error)"], figure_3),
    }  # fmt: skip
    return Found(rows, tables, facts, {"odds": odds, "smallest": smallest})


def model_rows(name, people, how, sequence):
    """Return the published numbers of the model beside ours, and the row of a table."""
    found = data.areas(people, how["splits"], *sequence.spawn(1))
    why = f"mean of {len(found)} random splits"
    return [
        Row(f"5: records, {NAMES[name]}", len(people.y), f"real.{name}_records/records"),
        Row(
            f"5: area under the ROC curve, {NAMES[name]}",
            round(float(found.mean()), 4),
            f"real.{name}_auc/auc",
            repetitions=len(found),
            deviation=round(float(np.std(found)), 4),
            why=why,
        ),
    ], [
        NAMES[name],
        people.encoded().shape[1],
        *map(float, (found.mean(), found.std(ddof=1), found.min(), found.max())),
    ]


def rounded(values):
    return [None if np.isnan(value) else round(float(value), 5) for value in values]


def threshold_tables(name, result, exact, ratios):
    """Return a picture's figures, a table's rows, and where section 5's test is significant."""
    picture, table = {"thresholds": rounded(data.THRESHOLDS)}, []
    compared = np.isin(data.THRESHOLDS.round(2), data.COMPARED)
    significant = result.p_value <= data.ALPHA
    for place, metric in enumerate(data.METRICS):
        distance, percentile = np.abs(result.difference[place]), result.percentile[place]
        ours = exact[place] <= data.ALPHA
        picture[metric] = {"distance": rounded(distance), "percentile": rounded(percentile), "exact": ours.tolist()}
        ratio = ratios[place, compared]
        table.append([
            NAMES[name], pictures.RATES[metric], f"{(distance > percentile).sum()} of {len(distance)}",
            f"{significant[place].sum()}", f"{ours.sum()}", f"{(significant[place] == ours).sum()}",
            f"{np.nanmin(ratio):.2f} to {np.nanmax(ratio):.2f}",
        ])  # fmt: skip
    return picture, table, significant


def size_tables(name, sizes, drawn):
    """Return a picture's figures, a table's rows, and the exponents of the people with their errors."""
    picture, table, exponents = {"people": sizes}, [], []
    for place, metric in enumerate(data.METRICS):
        own = [each[:, place] for each in drawn]
        low, median, high = (rounded(np.nanquantile(np.array(own), q, axis=1)) for q in (0.1, 0.5, 0.9))
        picture[metric] = {"low": low, "median": median, "high": high}
        exponents.append(data.slope(sizes, own))
        ends = [f"{median[end]:.4f} of {sizes[end]:,}" for end in (0, -1)]
        table.append([NAMES[name], pictures.RATES[metric], *ends, "{:.2f} ({:.2f})".format(*exponents[-1])])
    return picture, table, exponents
