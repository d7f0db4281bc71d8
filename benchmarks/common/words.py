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
    "chosen_reference": "a reference chosen by the data",
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
        "size ([defined here](validity/reading.md)), or at .05 in designs that have only that figure, if the method's "
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
by default. This page is the summary; [the tables](#the-tables-by-topic) are on pages of their own.

{drawings}

{gauntlet}"""

LIMITS = "This list is computed from the stored figures, and is as long as they make it."
MISSED = "default intervals miss the true value in at most 5%"
INTERVALS = (
    "- **Default intervals** miss the true value in more than 5% of the data sets, by more than three Monte-Carlo "
    "errors, in {count} cases; at worst in {worst}."
)
APPROXIMATE = (
    "- **Metrics that are no rates**: of {designs} designs of two groups the default rejects fair models in more than "
    "5% of the data sets, by more than three Monte-Carlo errors, in {above}, and in more than 10% in {far}. Designs "
    "that differ only in which group is worse share a fair model: those {above} have {models} of the {of} fair models. "
    "Of the {plain} designs whose names do not say which group is worse, it rejects too often in {plain_above}, and in "
    "more than 10% in {plain_far}. In each design beyond 10%, at least {warned} of the rejections come with a caution "
    "([cautions about means](validity/errors.md))."
)
COVERAGE = (
    "- **Coverage of areas and the like**: where the size is right the default's intervals cover at least {covered} in "
    "{enough} of {of} cases, and at least {least} in all of them."
)
POWER_LOST = "at equal size the default finds at most two points less than that of before"
#: Which group is worse, by the sign of its people less those of the other one.
WORSE = {-1: "where the smaller group is worse", 1: "where the larger one is", 0: "where both are of one size"}
POWER = (
    "- **Power of {what}**: in {less} of {designs} designs the default finds more than two points less, at equal size, "
    "than {before}, the default before ({directions}); at worst {worst}. In {more} it finds at least 15 points more. "
    "Not counted are designs in which the test of before has no p-value at which its size would be 5%."
)
#: The default, what was the default before, and what that is called.
BEFORE = {
    "areas and the like": ("areas", "permutation", "the studentized permutation"),
    "mean losses": ("permutation", "permuted", "the permutations alone"),
}
COVARIATES = (
    "- **Given covariates**, the test rejects too often where its models do not learn the confounding: {worst} at "
    "worst in these designs. No number of people removes such an error ([table](validity/adjusted.md))."
)
OLDER_ANYWHERE = (
    "- **Older figures**: those of {older} of the {designs} designs are from before the second p-value of the "
    "studentized permutation test, and are marked ° in the tables."
)

FURTHER = (
    "[Every test on every fair design](validity/gauntlet.md) has the designs and details of the table above, "
    "and [how to read the tables](validity/reading.md) has definitions and methods. No figure is typed and no mark is "
    "drawn by hand: `python -m benchmarks.validity` computes `benchmarks/results/validity.json`, with its seeds, and "
    "`python -m benchmarks.validity --render` writes these pages and the drawings from that file and from those of the "
    "other benchmarks beside it."
)

TOPIC = (
    "[Summary](../validity.md) · [how to read the tables](reading.md). The tables are folded; click on a title to open "
    "one."
)

READING = """\
# How to read the tables

The tables are folded; click on a title to open one. **Bold figures** are sizes more than three Monte-Carlo errors above
5%, or coverages as far below 95%. A number in brackets behind a size is that of the data sets of a method that saw
fewer than the others.

- *Size*: the share of data sets in which a fair model is rejected. Only the metric under test is equal in the groups.
  Base rates, distributions of scores and everything else differ (the weak null hypothesis), unless the design says
  otherwise.
- *Power at equal size*: the share of unfair models that are detected when the p-value is compared not with .05 but with
  the threshold at which the same method rejects 5% of the fair models of the same design. The plain power, at .05, is
  in parentheses; a method that rejects too many fair models has more of it. A dash: no threshold has that size.
- *Coverage*: the share of 95% intervals that contain the true difference, for equal groups and, after the slash, for
  different ones.

{methods}

## How it was run

{run}
"""

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

CONTRADICTIONS = (
    "An interval that excludes equality, or a margin, belongs to a test that rejects it, and the other way round. "
    "Measured by `python -m benchmarks.contradictions`, stored in `benchmarks/results/{file}`: of {comparisons} "
    "comparisons of {kinds} kinds, {rejected} of them rejected, {contradictions} have an interval that contradicts "
    "the test. To this end intervals are extended to equality or cut there, and the cut can miss a true difference of"
    " 0, or one on the other side. Of two groups all outcomes are enumerated over a grid of rates: the smallest "
    "coverage before and after the cut, and the largest fall at any pair of rates. In a family with Holm's adjustment"
    " the limits have Bonferroni's level, and a rejection by a later step cuts an interval, too: where some groups "
    "differ much and others not at all, three intervals hold together less often. The probability that any of them "
    "misses is at most the familywise error of the test, errors of direction included, plus that of Bonferroni's."
)

SECTIONS = [
    (
        "rates",
        "Rates and F1",
        "Two groups of the sizes named, with base rates far apart. A rate and its complement have one test, and so the "
        "same figures: accuracy and the error rate, precision and false discoveries, and so on.",
    ),
    (
        "grid",
        "False negative rates on a grid",
        "The design names the base rates and the rate. Sizes and powers of the exact tests and of Fisher's are sums "
        "over all outcomes, averaged over sampled denominators; power is against a rate .2 higher in the second group.",
    ),
    (
        "families",
        "Several groups, several rates",
        "Size is the familywise error: how often any comparison of equal groups is significant, whatever else "
        "differs. Power is the average share of different pairs that are detected. *Holm, Shaffer's factors* is the "
        "default for all pairs of groups, and is Holm's adjustment where there are two. Every pattern of equal groups "
        "among four is a design. AUC: .8, .8 and .9, base rates .5, .3 and .4, the positives' standard deviation "
        "twice as large in the second group; mean squared error: of normal, uniform and 1.5 times normal errors; "
        "p-values from studentized permutations.",
    ),
    (
        "highest",
        "Against the highest of five equal groups",
        "The five groups have one rate. Size is the familywise error: how often any group differs significantly from "
        "the one whose rate is the highest in the data.",
    ),
    (
        "auc",
        "Area under the ROC curve",
        "Scores of the first group are normal in both classes. In the second group the positives' standard deviation "
        "is three times as large, or all scores are shifted by three. The area comes last; base rates are .5 unless "
        "named. Where one group is worse, the smaller group's scores have the shape named (the positives' standard "
        "deviation three times as large, or a third; some positives below all negatives; positives distributed like "
        "the largest of several negatives), and power is that against an area lower by .15 (.7), .1 (.9) or .07 (.98) "
        "in that group; 165 people have 15 positives, 1,100 have 100.",
    ),
    (
        "balanced_accuracy",
        "Balanced accuracy",
        "Base rates .7 and .3; different recalls with the same balanced accuracy. Power: against .05 less, of "
        ".98 against .025 less, in the second group unless named.",
    ),
    (
        "mcc",
        "Matthews' correlation coefficient",
        "Base rates .5 and .1, coefficient .5 in both groups. Power: against .3 in the second group, unless named.",
    ),
    (
        "classes",
        "Metrics of classes",
        "True classes have shares .5 and .5 in the first group and .8 and .2 in the second; with three classes .4, .3 "
        "and .3, and .6, .25 and .15. Every class is predicted correctly equally often, so that the metric has the "
        "value named. With 40 people and a value of .95 a group makes about two errors; below ten the package warns. "
        "Power: against .1 less in the smaller group unless named, .15 where that group has fewer than 200 people.",
    ),
    (
        "average_precision",
        "Average precision",
        "Base rates .5 and .2; normal scores, as far apart as gives the value named. Power: against .15 less in the "
        "second group, unless the first is named.",
    ),
    (
        "r2",
        "R squared",
        "Normal numbers in the first group. In the second the numbers have the distribution named and three times the "
        "spread, and so have the errors. Power: against .15 less in the second group, unless the first is named.",
    ),
    (
        "mean_squared_error",
        "Mean squared error",
        "Equal mean squared errors; the distributions of the errors are named. Power: against 1.4 times the loss in "
        "the second group, or, where named, against a loss of the first group that is higher or lower by a factor (1.5 "
        "with 50 people, 1.4 with 200).",
    ),
    (
        "log_loss",
        "Log loss",
        "Equal mean losses: calibrated scores with two Beta distributions; then scores that are always .99 and right "
        "99% of the time, compared with calibrated scores near 0, whose losses are rare and large. Power: as for mean "
        "squared errors.",
    ),
    (
        "cautions",
        "Cautions about means",
        "How often `FairnessTest` rejects means of losses, and with or without a warning that its p-values are "
        "approximate. *Rejected too often*: the designs above in which equal means are rejected in more than 10% of "
        "data sets. *Friendly*: equal means are rejected in about 5% or fewer, or the first group's mean is higher or "
        "lower by a factor (3 with 20 people, 2 with 30, 1.5 with 50, 1.4 with 200). A difference is doubted in the "
        "direction in which missed extreme values would bring it back, and so are true differences of a small skewed "
        "group: a lower mean and a missing tail look alike. In the other direction hardly any is.",
    ),
    (
        "clusters",
        "Clusters",
        "Selection rate .3: people of one cluster share a rate (correlation about .13). AUC .8, base rates .5 and .3, "
        "the positives' standard deviation twice as large in the second group: half of the variance of the scores is "
        "their cluster's. Mean squared error 1, of normal and of uniform errors: people of one cluster share a factor "
        "(correlation of squared errors .14 and .29). Where both groups are in each cluster their shares vary; where "
        "clusters are *composed by their rates*, the groups' rates differ within clusters and are equal overall. Whole "
        "clusters are permuted where each lies in one group, otherwise the signs of their parts are flipped. *Signs*: "
        "signs are flipped everywhere. *Ignored*: the default test without the clusters, which is exact for rates of "
        "independent people.",
    ),
    (
        "weights",
        "Weights",
        "Equal weighted values; the distribution of the weights is named. AUC and mean squared error as with clusters. "
        "Cost: a function of counts in a ScoreMetric, 5 for a miss and 1 for a false alarm, on average .35. *Ignored*: "
        "the default test without weights; where weights depend on the event it tests another hypothesis.",
    ),
    (
        "ratios",
        "Ratios with rare events",
        "Selection rates so small that many data sets show no event in a group and the ratio is 0 or infinite, by "
        'every method of FairnessTest with `disparity="ratio"`. At the margin .8: the one-sided test whether the '
        "ratio is below it, and its one-sided interval. Clusters share a rate (correlation about .02 at .05, .05 at "
        ".1).",
    ),
    (
        "follow",
        "Weights that follow the outcome",
        "Differences of weighted selection rates where people with the event weigh more, or less, as after "
        "post-stratification. Where the rates differ they are .2 and .4, .3 and .2, or .05 and .2.",
    ),
]

OLDER = (
    "The figures of {older} of these {designs} designs, marked °, are older than a part of the p-value of the "
    "studentized permutation: at least that of t or of the normal distribution, for means also after Hall's "
    "transformation. With the larger of all, the default's sizes and powers at .05 are at most those shown, and its "
    "coverages at least."
)

PAPER = (
    "True positive rate .9 in both groups of 200 people, base rates .8 and .2, the design of section 4.2 of DiCiccio "
    "et al. (2020): {data_sets} data sets, {resamples} resamples each. [The page of the paper](../papers/diciccio.md) "
    "has its published figures beside ours, and which standard errors and p-values come near them."
)

PROMPTS = (
    "Measured by `python -m benchmarks.prompts`, stored in `benchmarks/results/{file}` ({data_sets} data sets). A "
    "model answers prompts, each several times: how often answers are right differs between prompts (standard "
    "deviation of the log odds 1.5), and so may the effect of the name in the prompt, whose mean is 0. *Answers*: "
    "every answer is taken for a person. *Within prompts*: prompts are control features, which asks about these "
    "prompts and not about prompts like them. *Clusters*: prompts are clusters, the right choice where prompts are a "
    "sample."
)

CALIBRATION = (
    "Measured by `python -m benchmarks.calibration`, stored in `benchmarks/results/{file}` ({data_sets} data sets). "
    "Two groups whose scores have different distributions, a third of the people in the first, which is calibrated. "
    "The second is calibrated as well (the share rejected is the size), or has half the slope and the right mean, the "
    "wrong shape and the right mean, or one tenth of its people whose scores are .3 too high (the share is the power). "
    "*Between*: have both groups one calibration curve? *Within*: are the second group's scores probabilities? The "
    "package tests both by cumulative differences, `kuiper_calibration` and `calibration_within_groups`; "
    "Kolmogorov and Smirnov's statistic is its largest distance from zero. *Ten bins* of equally many people are "
    "compared by a chi-squared statistic, which for one group is Hosmer and Lemeshow's; the *binned error* is that of "
    "ten bins of equal width, with simulated outcomes."
)
CALIBRATION_READING = (
    "The mean residual does not see a wrong slope or shape. Ten bins see them, and with {people} people reject "
    "calibrated groups in {bins} of the data sets, because the groups' scores differ within a bin; Kuiper's statistic "
    "does not. Its price is power: within a group, Hosmer and Lemeshow's bins find each of these curves more often, as "
    "the rises and falls of a curve cancel in a sum. Between groups it hardly finds the bad tenth, where few people of "
    "the first group have such scores; there the mean residual is the better test."
)

INEQUALITY = (
    "Measured by `python -m benchmarks.inequality`, stored in `benchmarks/results/{file}`: two groups in which an "
    "index of the benefits (prediction minus truth plus one), or the average odds, is equal, and base rates and both "
    "error rates differ. *Ordinary*: true positive rate .75, false positive rate .2 in the first group. *Few errors*: "
    ".95 and .04."
)

SCAN = (
    "Measured by `python -m benchmarks.scan`, stored in `benchmarks/results/{file}`: scans of the {people} people of "
    "Adult, described by nine features, with the predictions of a logistic regression; and of simulated people. False "
    "positives of {runs} runs each; the level is {level}.\n\n- *Global*: true labels and predictions are permuted over "
    "all people, so that nothing differs anywhere; a run that reports any subgroup is false.\n- *Partial*: something "
    "differs. *Explained by sex*: permuted within each sex; a run that reports anything beside sex is false. *Within "
    "strata of sex*: the same, with sex as a control feature; any report is false. *True ones*: simulated people with "
    "four independent features, the first of which doubles the rate; a run that rejects a hypothesis about the others "
    "alone is false. *Contexts*: permuted within each occupation and compared there.\n- *Mean*: log losses and skewed "
    "values, permuted over all people.\n- *Share*: of true hypotheses among those rejected, in the simulated people."
)
SCAN_PLANTED = (
    "Decisions of {flipped} people of a random subgroup of two features are turned around. Where the model's other "
    "errors are permuted over all people, exactly this description is reported in {found} of {runs} runs; in the "
    "predictions as they are, with {others} other subgroups reported on average, in {as_found} of {as_runs}."
)
SCAN_DISCRETE = (
    "Tarone's adjustment counts only the hypotheses that could have had so small a p-value. True positive rates of "
    "people chosen from Adult: how many hypotheses there are, how many count for the smallest p-value, and how many "
    "are significant with it and with Holm's adjustment."
)
SCAN_SPEED = "Seconds of a processor, of scans of all people of Adult with eleven features, where thousands differ."

MODEL_SELECTION = (
    "Measured by `python -m benchmarks.model_selection`, stored in `benchmarks/results/{file}`.\n\n- *Intervals* "
    "({intervals} data sets): how often the interval of `SignificanceFrame` and `make_fairness_scorer` for the largest "
    "disparity contains the true one, how often its worst end is beyond it, and the percentile bootstrap of "
    "fairlearn's `MetricFrame` ({compared} data sets, {resamples} resamples), whose interval never contained "
    "equality.\n- *Audited models* ({out_of_fold} training runs): how often `AuditedClassifier` rejects equalized odds "
    "of a tree, by predictions for people left out and by predictions for the people trained on. *Fair*: features have "
    "the same distribution in both groups, given the label. *Unfair*: they are noisier in one group, which a tree that "
    "has memorized its training people does not show on them. *Fair on average*: a meaningless column happens to be "
    "the group, so that each single model treats the groups differently and all models together do not.\n- *Selection* "
    "({selection} searches over eight candidates in five folds; the more accurate a candidate, the further apart its "
    "selection rates): how often the chosen candidate differs by more than {tolerance}. *Mean disparity* uses the mean "
    "of the folds' disparities as it is. `select_fair` with `tolerance` uses their upper bounds; with `alpha` it "
    "accepts every candidate that is not rejected, which with few people is almost every one."
)

CORRELATION_INTERVALS = (
    "Few people and heavy tails ({data_sets} data sets): how often the test rejects, which is its size where the "
    "correlation is 0, and how often 95% intervals contain the true correlations, of three features all three. "
    "*eps x^2*: the outcome is normal noise times the square of the feature, which is normal unless named. *Sum of*: "
    "feature and noise have the distribution named, and the outcome is a weighted sum of both. *b x + eps x^2*: mean "
    "and spread of the outcome grow with the feature, so that the few largest values dominate, and the intervals cover "
    "too rarely."
)

ADJUSTED = (
    "Measured by `python -m benchmarks.adjusted`, stored in `benchmarks/results/{file}`: how often "
    "`AdjustedFairnessTest` rejects at {level}. Outcome and group depend alike on four covariates, so that groups "
    "differ although nothing differs given the covariates: by smooth curves, by the product of two covariates, by "
    "steps, or decisions of 0 and 1 by the smooth curves. The default models are curves, then boosted trees of what "
    "curves leave. *Confounding that a model does not learn is left in the residuals, and no number of people removes "
    "it*: penalised curves alone do not learn steps, and the size is then far above the level. Power: a "
    "difference that is the same for all, and one that changes its sign with a covariate and is 0 on average."
)

LABELLED = (
    "Measured by `python -m benchmarks.labelled`, stored in `benchmarks/results/{file}`: `LabelledFairnessTest` at "
    "{level}, of the difference of two groups of 1,000 people, of whom 20 to 300 in each have a true label. Judges "
    "are right for half of the people (useless), for 93% (good), for 93% of one group and half of the other, for 7% "
    "(inverted), or give scores that are right about who is more probable and wrong about how probable "
    "(miscalibrated). Size and coverage are of equal rates *of the population*, with {counts} data sets a cell; the "
    "coverage of a difference of 20 points stands in parentheses. *PPI++* is prediction-powered inference with power "
    "tuning, and *labels alone* are Miettinen and Nurminen's limits and Boschloo's test, in the same data sets. "
    "Widths are averages of 200 data sets; power is that of finding 20 points. Figures beyond 3 Monte-Carlo errors "
    "are bold. Where labels are drawn by a plan, labels alone are no random sample, and are not shown. Cells that are"
    " not listed have not been run."
)

LABELLED_EXACT = (
    "Enumerated by `python -m benchmarks.labelled_exact`, stored in `benchmarks/results/{file}`: with 5, 10 or 20 "
    "labels in each group and known shares of the judge's bins, every outcome has a probability, and nothing is drawn. "
    "*Size* is the largest one over a grid of rates of the bins at which the groups' rates are equal; *power* is that "
    "at the rates in the table. Two exact tests were tried: their p-values are the largest probability, over that "
    "grid, of a score statistic as far from 0 (*largest over rates*), or of a probability of that at the most likely "
    "rates which is as small (*of likely rates*). Sizes of both are at most {exact}; that of `LabelledFairnessTest` is "
    "{ten} with 10 labels and {twenty} with 20. {power} With 5 labels there is one bin, and all tests are the same. "
    "*Neither is built in*: what they add with 10 labels they take with 20, they are exact only if shares are known "
    "without error, and one comparison takes up to some seconds."
)

AUDIT = (
    "Measured by `python -m benchmarks.audit`, stored in `benchmarks/results/{file}`: how often an audit of three "
    "sensitive features and all their crossings, by the standard metrics, reports even one false positive. *One "
    "feature matters*: predictions are harsher on one sex; significant disparities by race, age or both are false. "
    "*Base rates differ*: labels depend on race, predictions on the label alone; significant disparities in rates "
    "within the true label, in accuracy and in AUC are false. *Small groups*: twenty groups of thirty people beside a "
    "large one, with skewed scores. The level is {level}. Exact tests stay below it because few people can produce "
    "only few p-values. The Monte-Carlo error stands behind each share."
)
AUDIT_DETECTABLE = (
    "The disparity that an audit says it had an 80% chance of detecting, and the power of the exact test there (the "
    "smaller of both directions). *1 of k*: at the level that Holm's adjustment leaves the smallest of k p-values."
)

INDIVIDUAL = (
    "Measured by `python -m benchmarks.individual`, stored in `benchmarks/results/{file}`. Two groups of people differ "
    "by a shift of the first feature, which the fair metric ignores. The model is logistic, and its audit value is an "
    "integral known to better than 1e-8. The figures: how often `IndividualFairnessTest` rejects it at the tolerance "
    "of {tolerance}, which is the size at audit values up to that and the power beyond; and, after the slash, how "
    "often the two-sided 95% interval contains the value. The two designs were chosen for their tails. In one, few "
    "people are harmed much and the ratios have a long right tail; in the other most people are harmed alike, and the "
    "few who are harmed less form a long left tail, with which the normal distribution rejects too often when people "
    "are few. The ratio of means rejects too often in both, less so with more people. An error rate ratio is a ratio "
    "of few people: where few are misclassified its interval is too short and its test has little power."
)
INDIVIDUAL_WAYS = (
    "For each way of finding unfair examples: its audit value, the size of a test with exactly this tolerance, and the "
    "coverage ({data_sets} data sets). The value is an integral for the logistic regression; for the others it is that "
    "of {many} people outside the test. A fully grown forest is certain about most people and has no loss there: the "
    "mean of ratios of 1e+15 is far from normal, and the test hardly ever rejects."
)
INDIVIDUAL_LEARNED = (
    "A fair metric learned from the sample ({data_sets} data sets). The test is about the metrics that were learned, "
    "one per fold: the interval contains their value, and the lower bound exceeds it, as often as they should. These "
    "are the settings of the paper, without a test for a trace: no interval in this table is about the value of the "
    "metric that would be learned from the whole population ({tolerance}, the tolerance), which is approached slowly: "
    "the last column has the mean of the values of the metrics learned. The default's interval is about that value; "
    "its coverage is in the table of proxies below."
)
INDIVIDUAL_ROWS = (
    "inFairness differentiates the mean loss, so that its steps get shorter as people are added, and starts at a "
    "random place: its statistic for the same people counted several times, with the step that is right for 100 of "
    "them (standard deviation over seeds); how often it rejects an audit value of {tolerance} and of 1.5 ({data_sets} "
    "data sets)."
)
INDIVIDUAL_DROPPED = (
    "The authors' code drops ratios that are not finite. Of a fully grown forest, {dropped} of {people} people are "
    "dropped, {harmed} of them although they are harmed: their loss is 0 before and positive after. The mean of the "
    "rest is {rest}. With everybody, the ratio of mean losses is {means}."
)
INDIVIDUAL_PEOPLE = (
    "Measured by `python -m benchmarks.individual_people`, stored in `benchmarks/results/{file}`: pipelines of one-hot "
    "categories, scaled numbers and logistic regression on tables with text, with every default of "
    "`IndividualFairnessTest`. A column of text gives the sensitive feature away nine times in ten. The fair model has "
    "no weight along the sensitive subspace of its training people; the unfair one has 4 in log odds between the two "
    "values of that column. The first columns say how often each is rejected in samples of {people} other people, who "
    "learn a metric of their own. Then follows the statistic of the fitted model: as it is, with numbers in other "
    "units (one of them negative), with the column written as 0 and 1, without a penalty, without a penalty and the "
    "first categories, and by a search; and of the unfair model by the flow and by a search. The last column counts "
    "unfair examples with values that nobody could have."
)
INDIVIDUAL_EVIDENCE = (
    "Measured by `python -m benchmarks.individual_evidence`, stored in `benchmarks/results/{file}`. The default "
    "metric of `IndividualFairnessTest` is learned only where X holds a trace of the sensitive feature. The "
    "figures: how often a model is called unfair, and how often nothing is tested because there is no trace "
    "(Monte-Carlo errors in parentheses)."
)
INDIVIDUAL_COINS = (
    'The sensitive feature is a coin flip ({data_sets} data sets each): any verdict but "no trace" is one about noise.'
)
INDIVIDUAL_DIRECTIONS = (
    "The sensitive feature shifts one column, or six columns that correlate by .95, by so many standard deviations "
    "within groups. A blind model has no weight on what is shifted. The others have a weight of 1 per standard "
    "deviation; split over six columns, the sum of the weights is that of one column, or the length of the vector "
    "of weights, by which a flow moves people. Weak ones have a weight of 2 on one column, or in sum. The value is "
    'that of the direction of the shift, of {many} people; where it is below the tolerance of 1.25, "unfair" is a '
    "false alarm. The coverage is how often the interval of a sample with a verdict holds this value. *Fresh people*: "
    "how often it holds the value that the learned metrics have for other people, within the error of that value. "
    "Boosted trees and forests are fitted on other people of the same population, and searched (of forests the ratio "
    "of mean losses)."
)
INDIVIDUAL_SHORT = "The coverage is below {least} in {short} of {cells} designs: {designs}."
INDIVIDUAL_PLANTED = (
    "A category of X, the sensitive feature, lowers the log odds by 1.5 for one of its levels; the model is fitted "
    "on 2,000 other people. The statistic is the median."
)
INDIVIDUAL_PAPER = (
    "Four models of Adult and of COMPAS on ten splits, audited as in the paper and by two other fair metrics, are on "
    "[the page of the paper's tables](../papers/maity_tables.md)."
)

SEQUENTIAL = """\
Measured by `python -m benchmarks.sequential`, stored in `benchmarks/results/{file}`. A stream of batches is looked at
after every batch, one of single samples after every sample (queues, where who comes next follows the outcomes so
far). Of {streams} streams in which no groups differ, this share is ever rejected at {level} by
`SequentialFairnessTest` (bets on every sample, or on differences of batch means), and of {compared} of them by exact
tests that are repeated. Where mixes and rates drift, all data so far differ between groups although no batch does."""

SEQUENTIAL_DELAY = """\
How many looks it takes until half, and until 80%, of {streams} streams with a disparity are rejected; "fixed" is the
number of looks whose data give one exact test, made once, a power of 80%. The published recursion bets on pairs, one
sample of each group, and needs groups of one size; Bonferroni's level needs the number of looks beforehand."""

SEQUENTIAL_COVERAGE = """\
The confidence sequence, cut at equality or the margin once that is rejected, ever excluded the true difference in at
most {missed} of streams (rare events, groups of 5 and 500, labels that come late; at most {level} being stated)."""
