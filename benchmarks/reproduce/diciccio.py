"""DiCiccio et al. (2020): every number, table and figure of "Evaluating fairness using permutation tests"."""

import json

import numpy as np

from benchmarks import correlation
from benchmarks.reproduce import _diciccio_data as data
from benchmarks.reproduce import _diciccio_limits as limits
from benchmarks.reproduce import _diciccio_pictures as pictures
from benchmarks.reproduce import _diciccio_simulations as simulations
from benchmarks.reproduce._pictures import Picture
from benchmarks.reproduce._rows import Found, Row

TITLE = "DiCiccio et al. (2020): permutation tests of fairness"
SEED = 20200823
INTRODUCTION = """\
C. DiCiccio, S. Vasudevan, K. Basu, K. Kenthapadi and D. Agarwal (2020), [Evaluating fairness using permutation
tests](https://doi.org/10.1145/3394486.3403199), show that a permutation test of a metric needs a studentized
statistic, and test logistic regressions on COMPAS and Adult. Everything in the paper that has a number, a table or a
figure is recomputed here. Shares of simulated data sets come out if they are within three standard errors of both
simulations, variances within four of ours.

Where a number does not come out, another reading of the paper does, and is the next row. Its Table 1 joins two scripts
with different noise. Its share for the bootstrap is that of one-sided p-values, its share for the studentized test fits
a pooled standard error, or one with a miss and a hit added; with the error that the paper defines, the test rejects
{plug_in:.1%} of fair models. Two of its formulas are misprinted: in that of theorem 1 two denominators are exchanged,
and in the proof of theorem 3 a plus is a minus.

A statement holds here if the values themselves are as it says."""
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
rejects at 5 %, with its Monte-Carlo error; measured by `python -m benchmarks.correlation`. The paper describes z / x^2.
Of its two published scripts, the one of Algorithm 1 uses that, and the one of FairTest z / |x|. Ordinary permutations
of the errors, without a standard error, are no cure.""",
    RATES: """\
Two groups of {size} people, base rates .8 and .2, false negative rate .1 in both: the share of {rates_data_sets:,} fair
data sets that are rejected at 5 % ({rates_resamples:,} resamples, Monte-Carlo error about {rates_error:.4f}), for each
standard error that the difference can be divided by and for each way to count. The last column is the published share
within three standard errors of one in its row. The package's default, exact among the positives, rejects {exact:.4f}
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
Areas under the ROC curve of test people in {splits} random splits of 70 %, 15 % (not used) and 15 %, by which features
the model has. The paper names neither its split nor its features; {compas_people:,} COMPAS records are those with a
screening within 30 days and a charge description. Numbers are as they are, categories one-hot, missing ones a category
of Adult, the penalty is scikit-learn's default.""",
    FIGURE_2: """\
The model of one split at {thresholds} thresholds: the difference between men and women, the 95th percentile of the
differences in {trials:,} permutations of all labels, and whether section 5's test (the difference over its bootstrap
deviation, against permuted ones over theirs) and the package's default test are significant at 5 %. Ratio: the
bootstrap deviation over that of the permutations, at thresholds from .1 to .9. The paper calls the two approximately
equal; as base rates differ they are not, which is why permuted differences need their own standard errors.""",
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
    "areas": Picture(
        AREAS,
        "Areas: distributions and their limits",
        "Left: the difference of areas varies more in the data (blue, solid limit) than under permutation (orange, "
        "dashed limit). Right: studentized, both follow the standard normal distribution. {largest:,} people.",
        (pictures.WIDTH, 2.7),
        pictures.distributions,
    ),
    "rates": Picture(
        THEOREM_3,
        "False negative rates: distributions and their limits",
        "Left: the difference of false negative rates varies less in the data (blue, solid limit) than under "
        "permutation (orange, dashed limit). Right: studentized, both follow the standard normal distribution. "
        "{largest:,} people.",
        (pictures.WIDTH, 2.7),
        pictures.distributions,
    ),
    "odds": Picture(
        FIGURE_2,
        "Equalized odds and permutation tests at every threshold",
        "The absolute difference between men and women (solid, with dots where the package's test is significant at 5 "
        "%) and the 95th percentile of the permutation distribution (dashed), against the threshold.",
        (pictures.WIDTH, 5.2),
        pictures.odds,
    ),
    "smallest": Picture(
        FIGURE_3,
        "Smallest detected difference and number of people",
        "The median of the smallest detected differences, and the range of the middle 80 % of the samples, of false "
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
    "draws": 300, "permuted": 6, "splits": 2, "sizes": 3, "repetitions": 2,
}  # fmt: skip
#: The bootstrap and the permutation deviation are "approximately equal" (section 5) if their ratio is so near to 1.
NEAR = 0.1


def run(*, quick):
    how = QUICK if quick else FULL
    sequences = dict(zip(SECTIONS, np.random.SeedSequence(SEED).spawn(len(SECTIONS)), strict=True))
    parts = [two_means(how, sequences[MEANS]), table_1(how, sequences[CORRELATION]), rates(how, sequences[RATES])]
    parts += [theorems(how, sequences[AREAS], sequences[THEOREM_3])]
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
        {key: value for part in parts for key, value in part.pictures.items()},
    )


# Simulations ------------------------------------------------------------------------------------------------


def share_row(what, published, ours, n, why="", *, explained=False):
    """A published share of 10,000 data sets beside ours."""
    within = simulations.distance_allowed(published, ours, n)
    error = f"Monte-Carlo error {simulations.error_of(ours, n):.4f}"
    return Row(what, published, round(ours, 4), round(within, 4), f"{error}; {why}" if why else error, explained)


def variance_row(what, published, measured, error, why="", *, explained=False):
    """A variance by a formula beside a measured one."""
    said = f"standard error {error:.2g}, {abs(measured - published) / error:.1f} of them apart"
    return Row(what, published, measured, 4 * error, f"{said}; {why}" if why else said, explained)


def two_means(how, sequence):
    designs = [simulations.Means((400, 100), deviations) for deviations in ((1.0, 3.0), (3.0, 1.0))]
    rows, table = [], []
    for design, child in zip(designs, sequence.spawn(2), strict=True):
        found = simulations.means(design, how["means"], how["resamples"], child)
        label = "deviations {:g} and {:g} in groups of {} and {}".format(*design.deviations, *design.people)
        rows += [
            variance_row(f"2.2: sampling variance, {label}", design.sampling_variance, *found["sampling"]),
            variance_row(f"2.2: permutation variance, {label}", design.permutation_variance, *found["permutation"]),
        ]
        errors = [simulations.error_of(found[name], how["means"]) for name in ("un-studentized", "studentized")]
        table.append([
            label, f"{design.sampling_variance:g}, {found['sampling'][0]:.2f}",
            f"{design.permutation_variance:g}, {found['permutation'][0]:.2f}",
            f"{design.limit:.4f}, {found['un-studentized']:.4f} ({errors[0]:.4f})",
            f"{simulations.ALPHA:.4f}, {found['studentized']:.4f} ({errors[1]:.4f})",
        ])  # fmt: skip
    head = ["design", "sampling variance: formula, measured", "permutation variance: formula, measured",
            "un-studentized: limit, rejected (error)", "studentized: limit, rejected (error)"]  # fmt: skip
    facts = {"means_data_sets": how["means"], "resamples": how["resamples"]}
    return Found(rows, {MEANS: (head, table)}, facts)


#: The published shares of Table 1 and the design and test of each.
TABLE_1 = (
    ("uncorrelated, Algorithm 1", 0.0428, "U(0.00001, 1)", "studentized"),
    ("uncorrelated, FairTest", 0.7508, "U(0.00001, 1)", "fairtest"),
    ("independence, Algorithm 1", 0.0501, "Exp(1) + 1", "studentized"),
    ("independence, FairTest", 0.0099, "Exp(1) + 1", "fairtest"),
)
#: The noise of the script behind each test's published shares.
SCRIPTS = {"studentized": ("z / x^2", "R"), "fairtest": ("z / |x|", "Python")}


def table_1(how, sequence):
    """The figures of `benchmarks.correlation`: those stored, or fewer of them computed anew."""
    if how["table"] is None:
        cells = json.loads(correlation.RESULTS.read_text())["cells"]
    else:
        cells = list(correlation.simulate(how["table"], how["table"], how["resamples"], sequence))
    found = {(cell["feature"], cell["outcome"]): cell for cell in cells if cell["correlation"] == "pearson"}
    rows = []
    for what, published, feature, test in TABLE_1:
        noise, script = SCRIPTS[test]
        (other,) = set(correlation.NOISES) - {noise}
        ours, n = (found[feature, noise][test][key] for key in ("size", "data_sets"))
        why = f"noise {noise}, as in the {script} script; with {other} {found[feature, other][test]['size']:.4f}"
        rows.append(share_row(f"Table 1: {what}", published, ours, n, why))
    table = [
        [
            *design,
            *("{size:.4f} ({error:.4f})".format_map(cell[test]) for test in ("studentized", "ordinary", "fairtest")),
        ]
        for design, cell in found.items()
    ]
    head = ["feature", "noise", "studentized (this package)", "ordinary permutation", "FairTest's shuffle"]
    first = next(iter(found.values()))
    facts = {"people": first["people"], **{f"{test}_data_sets": first[test]["data_sets"] for test in SCRIPTS}}
    return Found(rows, {CORRELATION: (head, table)}, facts)


PUBLISHED = {"un-studentized": 0.1216, "studentized": 0.0486, "bootstrap": 0.1078}


def rates(how, sequence):
    n, rng = how["rates"], np.random.default_rng(sequence)
    groups, found = simulations.false_negative_rates(n, how["rates_resamples"], rng)
    both = simulations.SIDES[0]
    shares = {name: {side: float((p <= simulations.ALPHA + 1e-9).mean()) for side, p in sides.items()}
              for name, sides in found.items()}  # fmt: skip
    plug_in, pooled = shares[simulations.PLUG_IN], shares[simulations.POOLED]
    bootstrap = shares[simulations.BOOTSTRAP]
    rows = [
        share_row("4.2: un-studentized", PUBLISHED["un-studentized"], shares[simulations.RAW][both], n),
        share_row("4.2: studentized, with the paper's standard error", PUBLISHED["studentized"], plug_in[both], n,
                  "the errors that come near are in the table below", explained=True),
        share_row("4.2: studentized, with a pooled standard error", PUBLISHED["studentized"], pooled[both], n),
        share_row("4.2: bootstrap, two-sided", PUBLISHED["bootstrap"], bootstrap[simulations.SIDES[1]], n,
                  f"counted by distance {bootstrap[both]:.4f}", explained=True),
        share_row("4.2: bootstrap, one-sided (A higher)", PUBLISHED["bootstrap"], bootstrap[simulations.SIDES[2]], n),
    ]  # fmt: skip
    of = {simulations.RAW: "un-studentized", simulations.BOOTSTRAP: "bootstrap"}
    table = []
    for name, sides in shares.items():
        published = PUBLISHED[of.get(name, "studentized")]
        near = [side for side, share in sides.items()
                if abs(share - published) <= simulations.distance_allowed(published, share, n)]  # fmt: skip
        table.append([name, *(f"{share:.4f}" for share in sides.values()),
                      f"{published:.4f}: {' and '.join(near) or 'none'}"])  # fmt: skip
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
        "rates_error": simulations.error_of(PUBLISHED["studentized"], n), "plug_in": plug_in[both],
        "exact": float((exact <= simulations.ALPHA).mean()), "exact_data_sets": len(exact),
    }  # fmt: skip
    head = ["divided by", *simulations.SIDES, "published, and where it fits"]
    picture = {"heights": heights, "highest": round(highest, 4)}
    return Found(rows, {RATES: (head, table)}, facts, {"p_values": picture})


# Theorems ---------------------------------------------------------------------------------------------------


def theorems(how, *sequences):
    tables, drawn, last = {}, {}, {}
    for kind, title, sequence in zip(("areas", "rates"), (AREAS, THEOREM_3), sequences, strict=True):
        rng, table = np.random.default_rng(sequence), []
        for people in how["people"]:
            found = limits.measured(kind, people, how["draws"], how["draws"], how["permuted"], rng)
            table.append([f"{people:,}", *(f"{each:.3f}" for each in found["distances"])])
        tables[title] = (["people", *(name for name, *_ in limits.LIMITS)], table)
        variances = {"areas": limits.area_variances, "rates": limits.rate_variances}[kind]()
        scale = float(np.sqrt(max(variances)))
        drawn[kind], last[kind] = {"scale": scale, "limits": variances, "bars": found["bars"]}, found
    (v, w), (printed_v, printed_w) = limits.area_variances(), limits.area_variances(exchanged=True)
    misprint, changed = "its two denominators are exchanged", "with the denominators changed back"
    sampling, permutation = (
        {kind: (found[name], found[f"{name}_error"]) for kind, found in last.items()}
        for name in ("sampling", "permutation")
    )
    by_section = limits.rate_variances()
    rows = [
        variance_row("Theorem 1: v as printed", printed_v, *sampling["areas"], misprint, explained=True),
        variance_row(f"Theorem 1: v {changed}", v, *sampling["areas"]),
        variance_row("Theorem 1: w as printed", printed_w, *permutation["areas"], misprint, explained=True),
        variance_row(f"Theorem 1: w {changed}", w, *permutation["areas"]),
        variance_row("3.3: variance of the sampling distribution", by_section[0], *sampling["rates"]),
        variance_row("3.3: variance of the permutation distribution", by_section[1], *permutation["rates"]),
        variance_row("Proof of theorem 3: the same as printed", limits.printed_in_the_proof(), *permutation["rates"],
                     "it has a minus between its two parts; with a plus it is that of 3.3", explained=True),
    ]  # fmt: skip
    facts = {
        "permuted": how["permuted"], "draws": how["draws"], "largest": how["people"][-1],
        "noise": float(np.sqrt(np.pi / 2) * np.log(2) / np.sqrt(how["draws"])),
    }  # fmt: skip
    return Found(rows, tables, facts, drawn)


# Data -------------------------------------------------------------------------------------------------------

NAMES = pictures.NAMES
AREAS_PUBLISHED = {"compas": (6167, 0.7005), "adult": (48_842, 0.9087)}
#: Features of other readings of the paper, and whether all are standardised.
OTHERS = {
    "compas": {
        "without the description of the charge": (data.COMPAS[:-1], False),
        "age group, priors, degree and description of the charge": (
            ["age_cat", "priors_count", "c_charge_degree", "c_charge_desc"], False,
        ),
    },
    "adult": {"all, standardised": (None, True)},
}  # fmt: skip


def section_5(how, sequences):
    rows, model_table, figure_2, odds, figure_3, smallest, held = [], [], [], {}, [], {}, []
    facts = {"splits": how["splits"], "thresholds": len(data.THRESHOLDS), "trials": data.TRIALS,
             "repetitions": how["repetitions"]}  # fmt: skip
    slopes, differ, depends = [], [], []
    children = zip(*(sequence.spawn(2) for sequence in sequences), strict=True)
    for name, (for_models, for_thresholds, for_sizes) in zip(NAMES, children, strict=True):
        people = data.load(name)
        found = model_rows(name, people, how, for_models)
        rows += found[0]
        model_table += found[1]
        rng = np.random.default_rng(for_thresholds)
        train, test = data.split(len(people.y), rng)
        X = people.encoded()
        score = data.fitted(X[train], people.y[train]).predict_proba(X)[:, 1]
        own = score[test], people.y[test], people.male[test]
        result, exact = data.tested(data.counted(*own), rng), data.exactly_tested(*own)
        odds[name], table, significant, ratios = threshold_tables(name, result, exact)
        figure_2 += table
        held.append(ratios)
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
        rows.append(said(f"Figure 2, {NAMES[name]}: the rates are equal at thresholds 0 and 1", (ends == 0).all()))
    low, high = min(min(each) for each in held), max(max(each) for each in held)
    rows += [
        said("5.1: whether a disparity is significant depends on the threshold", all(depends)),
        said("5.1: and on the metric", all(differ)),
        said("5: bootstrap and permutation deviations are approximately equal", low >= 1 - NEAR and high <= 1 + NEAR,
             f"ratio {low:.2f} to {high:.2f}"),
        said("Figure 3: more people, smaller detected differences", all(b < -2 * e for b, e in slopes),
             "exponents " + ", ".join(f"{b:.2f} ({e:.2f})" for b, e in slopes)),
    ]  # fmt: skip
    tables = {
        MODELS: (["data", "features", "columns", "mean area", "standard deviation", "smallest", "largest"],
                 model_table),
        FIGURE_2: (["data", "rate", "above the percentile", "section 5 significant", "exact test significant",
                    "both agree", "ratio"], figure_2),
        FIGURE_3: (["data", "rate", *("smallest size", "largest size"), "exponent (error)"], figure_3),
    }  # fmt: skip
    return Found(rows, tables, facts, {"odds": odds, "smallest": smallest})


def said(what, holds, why=""):
    return Row(what, "holds", "holds" if holds else "does not hold", why=why)


def model_rows(name, people, how, sequence):
    """Return the published numbers of the model beside ours, and a table of the features that the model may have."""
    readings = {"all": (None, False)} | OTHERS[name]
    table, shares = [], {}
    for (label, (columns, standardized)), child in zip(readings.items(), sequence.spawn(len(readings)), strict=True):
        found = np.array(data.areas(people, columns, how["splits"], child, standardized=standardized))
        shares[label] = found
        width = people.encoded(columns).shape[1]
        table.append([NAMES[name], label, width, *(float(f(found)) for f in (np.mean, _deviation, np.min, np.max))])
    records, area = AREAS_PUBLISHED[name]
    found = shares["all"]
    deviation = max(_deviation(found), 0.002)  # of few splits it is not known
    why = f"mean of {len(found)} random splits, standard deviation {deviation:.4f}, of which two are allowed"
    return [
        Row(f"5: records, {NAMES[name]}", records, len(people.y), 0.0),
        Row(f"5: area under the ROC curve, {NAMES[name]}", area, round(float(found.mean()), 4),
            round(max(2 * deviation, 0.05 if len(found) < 10 else 0.0), 4), why),
    ], table  # fmt: skip


def _deviation(values):
    return float(np.std(values, ddof=1))


def rounded(values):
    return [None if np.isnan(value) else round(float(value), 5) for value in values]


def threshold_tables(name, result, exact):
    """Return a picture's figures, a table's rows, where section 5's test is significant, and ratios of deviations."""
    picture, table, ratios = {"thresholds": rounded(data.THRESHOLDS)}, [], []
    significant = result.p_value <= data.ALPHA
    for place, metric in enumerate(data.METRICS):
        distance, percentile = np.abs(result.difference[place]), result.percentile[place]
        ours = exact[place] <= data.ALPHA
        picture[metric] = {"distance": rounded(distance), "percentile": rounded(percentile), "exact": ours.tolist()}
        varies = (result.bootstrap_deviation[place] > 0) & (result.permutation_deviation[place] > 0)
        inner = varies & (data.THRESHOLDS >= 0.1) & (data.THRESHOLDS <= 0.9)
        ratio = result.bootstrap_deviation[place][inner] / result.permutation_deviation[place][inner]
        ratios += [float(ratio.min()), float(ratio.max())]
        table.append([
            NAMES[name], pictures.RATES[metric], f"{(distance > percentile).sum()} of {len(distance)}",
            f"{significant[place].sum()}", f"{ours.sum()}", f"{(significant[place] == ours).sum()}",
            f"{ratio.min():.2f} to {ratio.max():.2f}",
        ])  # fmt: skip
    return picture, table, significant, ratios


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
