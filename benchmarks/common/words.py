"""The prose of doc/validity.md and its pages by topic: methods, sections, and what was published."""

METHODS = {
    "exact": "**exact**",
    "permutation": "**studentized permutation**",
    "permuted": "permutations alone",
    "shaffer": "**Holm, Shaffer's factors**",
    "holm": "Holm",
    "fisher": "Fisher",
    "boschloo_scipy": "Boschloo (SciPy)",
    "score": "score, permuted",
    "score_normal": "score, normal",
    "asymptotic": "normal",
    "bootstrap_t": "studentized bootstrap",
    "unadjusted": "not adjusted",
    "raw_holm": "un-studentized, Holm",
    "welch": "Welch",
    "delong": "DeLong",
    "areas": "**as rates**",
    "likelihood": "empirical likelihood",
    "kdd": "KDD'20 plug-in",
    "raw": "un-studentized",
    "basic_bootstrap": "basic bootstrap",
    "lift": "LiFT",
    "fairlearn": "fairlearn",
    "to_highest": "**to the highest**",
    "chosen_reference": "a reference chosen",
    "signs": "signs",
    "ignored": "ignored",
}

#: The words of the drawings: their titles, what stands on the axis and above the numbers at the right, what somebody
#: who does not see one is told, and how to read it. The counts are those of the drawing.
DRAWN = {
    "size": {
        "title": "How often a fair model is called unfair",
        "axis": "fair models rejected (log scale)",
        "column": "too often",
        "description": "A row for each method and a mark for each design, at the share of fair models that the method "
        "rejects. The grey area is above the nominal 5%.",
        "reading": "Each mark is one simulated design in which the model is fair, so a valid test may be significant "
        "in 5% of the data sets, and a diamond in the grey area marks a method that is wrong more often than that. "
        "The default for rates (exact) is wrong too often in {exact} designs and Welch's test in {welch}; the default "
        "for losses and R squared (studentized permutation) is an approximation, and wrong too often in {permutation} "
        "designs: those with very skewed losses. Areas, average precision and metrics of classes are tested as rates, "
        "without resamples, and are wrong too often in {areas}.",
    },
    "power": {
        "title": "How often an unfair model is noticed, compared with the default",
        "axis": "percentage points of power",
        "column": "median",
        "description": "A row for each method and a mark for each design, at the power of the method minus the power "
        "of the default. Marks left of the line are designs in which the method detects less.",
        "reading": "Each mark is one design in which the model is unfair, and shows how much more often (right) or "
        "less often (left) a method notices it than the default does, in percentage points; a diamond is a loss of "
        "more than 5 points. A test that is wrong too often can always notice more, so methods are compared at equal "
        "size (below), or at .05 in designs that have only that figure, if the method's "
        "size is right there.",
    },
    "coverage": {
        "title": "How often a 95% interval misses the true difference",
        "axis": "intervals that miss the truth (log scale)",
        "column": "too often",
        "description": "A row for each method and a mark for each design, at the share of 95% intervals that do not "
        "contain the true difference. The grey area is above the nominal 5%.",
        "reading": "A 95% interval should miss the true difference in 5% of the data sets, and a diamond in the "
        "grey area marks a method whose intervals miss it more often. The intervals that come with the exact test "
        "miss too often in {exact} designs and the basic bootstrap's in {basic_bootstrap}; the default intervals of "
        "losses and R squared do in {permutation}, and of what is tested as a rate in {areas} (a design counts twice "
        "if it was run with fair and unfair models).",
    },
}

INTRODUCTION = """\
# Size, power and coverage of each test

A good test rarely calls a fair model unfair, often notices an unfair one, and comes with an interval that contains the
true value. All three were measured by simulation, for the tests of this package, for textbook tests and for
the methods of other packages, on the same data. The level is 5% throughout. **Bold** methods are what the package runs
by default. Every mark is one design; the figures behind the marks are in
`benchmarks/results`, with seeds and versions, and `python -m benchmarks.validity --render` makes this page of them.

{drawings}

## What is measured

- **Size**: the share of data sets in which a fair model is rejected. Only the metric under test is equal in the groups.
  Base rates, distributions of scores and everything else differ (the weak null hypothesis), unless the design says
  otherwise.
- **Power at equal size**: the share of unfair models that are detected when the p-value is compared not with .05 but
  with the threshold at which the same method rejects 5% of the fair models of the same design.
- **Coverage**: the share of 95% intervals that contain the true difference, of fair and of unfair models.

A share is marked as too large if it is more than three Monte-Carlo errors above 5%.

{methods}
"""

GAUNTLET = """\
## Every kind of test

![{description}](_static/validity_gauntlet.svg)

Each row is a kind of test and each mark one of {designs} designs in which its null hypothesis is true: groups of 1:100,
rare events, strata of two, weights that follow the outcome, few clusters, an attribute that is noise. {hold} of {cells}
combinations hold: the size is at most .05 (.07 with 20 and 40 clusters, and for areas, F1 and the like if a group has
60 or fewer people), or 90% of the rejections come with a caution; the intervals cover at least .93; and 95% of the
results of harmless designs come without a caution; each within three Monte-Carlo errors. {refused} combinations are
refused with an error. `python -m benchmarks.gauntlet` computes them.
"""

KINDS = """\
## Kinds of test with designs of their own

![{size}](_static/validity_kinds.svg)
![{coverage}](_static/validity_kinds_coverage.svg)

- **Audits** of three features and all their intersections: any false positive counts, where no group differs, one
  feature matters, base rates differ or groups are small.
- **Inequality of benefits**: indices of the benefit (prediction minus truth plus one) that are equal in two groups
  whose base rates and error rates differ.
- **Calibration curves**: both groups are calibrated, with scores of different distributions. Ten bins reject calibrated
  groups if there are many people, because scores differ within a bin. If groups are not calibrated, Kuiper's statistic
  detects a wrong slope or shape that the mean residual misses, and less than bins do within one group.
- **Correlations** of dependent but uncorrelated values; intervals also of correlated ones with heavy tails.
- **Answers to prompts**: prompts differ in difficulty and in the effect of a name, whose mean is 0. Prompts that are a
  sample have to be clusters.
- **Scans**: labels and predictions are permuted over all people, within a sex or within an occupation, so that a report
  of any other subgroup is false.
- **Two models** that change a rate equally in both groups, compared with tests for independent samples, with intervals
  that do not overlap and with two verdicts.
- **Streams** in which no groups differ, looked at after every batch or sample, also if mixes and rates drift or if who
  comes next follows the outcomes. The marks of intervals are of confidence sequences that ever miss.
- **Given covariates** on which group and outcome depend alike by curves, products or steps. Confounding that a model
  does not learn stays in the residuals, and no number of people removes it.
- **Few labels**: 20 to 300 labels for each group of 1,000 and judges that are useless, good, good for one group only,
  inverted or miscalibrated. PPI++ is prediction-powered inference with power tuning.
- **Unknown groups**: designs in which the assumption of the estimate holds; [the guide](guide/unknown_groups.md) has
  the others.
- **Ratios of sums**: claims over premiums, common or rare, with weights and in clusters. If few people carry the sums
  (one person in twenty has a large claim) size and coverage are wrong, and every such data set comes with a caution.
- **Whole distributions** that are equal, with ties, in clusters and in strata. Coverage is that of the band at the
  score that is shown, also where the distributions differ.
- **Several labels** predicted alike in both groups: any false positive of the family, the row of all labels and
  chi-square on the same tables.
- **Weights of strata** given by the user, where rates are equal within strata and strata differ between the groups.
- **Audited models**: decision trees that satisfy equalized odds, tested on people left out or on their training people,
  and the interval for the largest disparity between any two groups.
- **Individual fairness** by a known metric, and by one that is learned where the sensitive feature is a coin flip or
  leaves a trace that the model does not use. Coverage is that of the population's value.

## Intervals and their tests

An interval that excludes equality, or a margin, belongs to a test that rejects it, and the other way round. Of
{comparisons} comparisons of {kinds} kinds, {rejected} of them rejected, {contradictions} have an interval that
contradicts the test (`python -m benchmarks.contradictions`). Intervals are extended to equality or cut there; the cut
lowers the coverage of two groups by at most {falls} at any pair of rates, and the smallest coverage is {after}
({before} without the cut). In a family with Holm's adjustment, where some groups differ much and others not at all,
three intervals hold together in {families} of data sets or more.
"""

CLAIMS = "## What we claim, and whether it holds"
LIMITS = """\
## Where not to trust us

This list is computed from the stored figures.
"""
INTERVALS = (
    "- **Default intervals** miss the true value in more than 5% of the data sets, by more than three Monte-Carlo "
    "errors, in {count} cases; at worst in {worst}."
)
APPROXIMATE = (
    "- **Metrics that are not rates**: of {designs} designs of two groups the default rejects fair models in more than "
    "5% of the data sets, by more than three Monte-Carlo errors, in {above}, and in more than 10% in {far}. In each "
    "design beyond 10%, at least {warned} of the rejections come with a caution."
)
COVERAGE = (
    "- **Coverage of areas and the like**: where the size is right the default's intervals cover at least {covered} in "
    "{enough} of {of} cases, and at least {least} in all of them."
)
POWER = (
    "- **Power of {what}**: in {less} of {designs} designs the default finds more than two points less, at equal size, "
    "than {before}; at worst {worst}. In {more} it finds at least 15 points more."
)
#: The default, another method, and what that is called.
BEFORE = {
    "areas and the like": ("areas", "permutation", "the studentized permutation"),
    "mean losses": ("permutation", "permuted", "the permutations alone"),
}
#: What the package's own methods get wrong in the designs of other benchmarks.
OF_OWN = ("Reject too often in designs of their own", "Intervals that miss too often in designs of their own")

#: What each method is, for the table of methods.
NOTES = [
    (("exact",), "Boschloo's unconditional test, the default for rates"),
    (("boschloo_scipy",), "twice the smaller of the two one-sided tests"),
    (
        ("areas",),
        "the default for AUC, average precision and metrics of classes: tested as rates of the people that they are "
        "worth, corrected for skewness; without resamples",
    ),
    (
        ("permutation",),
        "the default for other metrics: the larger of the p-value of permutations and that by Welch's t (means; also "
        "after Hall's transformation) or by the normal distribution; AUC and balanced accuracy permute within the true "
        "label (beside *as rates* this was the default)",
    ),
    (("permuted",), "the p-value of the permutations of the default, without the others (this was the default)"),
    (
        ("score", "score_normal"),
        "the score statistic, compared with permutations of all labels or with the normal distribution",
    ),
    (
        ("kdd",),
        "all labels permuted, the difference over its plug-in standard error, the p-value of the permutations alone "
        "(DiCiccio et al. 2020); for mean losses, average precision and R squared the default permutes alike",
    ),
    (("raw",), "all labels permuted, the difference itself"),
    (("bootstrap_t",), 'people resampled within groups: `method="bootstrap"`'),
    (("basic_bootstrap",), "the same resamples, the basic interval"),
    (("lift",), "LinkedIn's method: the observed difference over its bootstrap deviation, permuted ones over theirs"),
    (
        ("fairlearn",),
        "the percentile interval of `MetricFrame.difference()`, people of all groups resampled together; that "
        "difference has no sign, so its interval hardly ever contains 0: it is not a test of equality, and not in the "
        "drawings",
    ),
    (("welch", "delong"), "the t test of indicators or losses; the normal test of two areas"),
    (
        ("likelihood",),
        "the empirical likelihood of two areas as means of placements, scaled to DeLong's variances (after Qin and "
        "Zhou 2006); with the studentized bootstrap in designs where the smaller group is the worse one",
    ),
    (("shaffer", "holm"), "adjustments for several comparisons; *not adjusted* has none"),
    (
        ("to_highest", "chosen_reference"),
        '`compare="to_highest"`, adjusted for all pairs of groups, as any of them may be the highest; and the exact '
        "tests against the group with the highest rate in the data as if it had been named before, with Holm's "
        "adjustment for these comparisons alone",
    ),
]
