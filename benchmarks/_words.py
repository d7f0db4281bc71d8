"""The prose of doc/validity.md: methods, sections, and what was published."""

METHODS = {
    "exact": "**exact**",
    "permutation": "**studentized permutation**",
    "shaffer": "**Holm, Shaffer's factors**",
    "holm": "Holm",
    "fisher": "Fisher",
    "boschloo_scipy": "Boschloo (SciPy)",
    "score": "score, permuted",
    "score_normal": "score, normal",
    "max_t": "max-T",
    "asymptotic": "normal",
    "bootstrap_t": "studentized bootstrap",
    "unadjusted": "not adjusted",
    "raw_holm": "un-studentized, Holm",
    "welch": "Welch",
    "delong": "DeLong",
    "kdd": "KDD'20 plug-in",
    "raw": "un-studentized",
    "basic_bootstrap": "basic bootstrap",
    "lift": "LiFT",
    "fairlearn": "fairlearn",
    "signs": "signs",
    "ignored": "ignored",
}

INTRODUCTION = """\
# How often each test is right

Measured by `python -m benchmarks.validity`, which stores every figure in `benchmarks/results/validity.json`; this
page is written from that file by `python -m benchmarks.validity --render`. The level is 5 % throughout. What the
package runs by default is in bold in the heads of the tables. **Bold figures** are sizes more than three Monte-Carlo
errors above 5 %, or coverages as far below 95 %.

- *Size*: the share of data sets in which a fair model is rejected. Only the metric that is tested is equal in the
  groups; base rates, score laws and everything else differ (the weak null hypothesis), unless the design says
  otherwise.
- *Power at equal size*: the share of unfair models that a method finds when its p-value is compared not with .05 but
  with the threshold at which it rejects 5 % of the fair ones of the same design. The plain power, at .05, is in
  parentheses: a method that rejects too many fair models buys it. A dash: no threshold has that size.
- *Coverage*: the share of 95 % intervals that hold the true difference, for equal groups and, after the stroke, for
  different ones.

The methods:

- *exact*: Boschloo's unconditional test, the default for rates. *Boschloo (SciPy)* is twice the smaller of the two
  one-sided tests.
- *studentized permutation*: the default for other metrics; AUC and balanced accuracy permute within the true label.
- *score, permuted* and *score, normal*: the score statistic against permutations of all labels, and against the
  normal law.
- *KDD'20 plug-in*: all labels permuted, the difference over its plug-in standard error (DiCiccio et al. 2020). For
  mean losses, average precision and R squared it is what runs by default. *un-studentized*: all labels permuted, the
  bare difference.
- *studentized bootstrap* and *basic bootstrap*: people resampled within groups; the former is `method="bootstrap"`.
- *LiFT*: LinkedIn's scheme, which divides the observed difference by its bootstrap deviation and the permuted ones by
  theirs.
- *fairlearn*: the percentile interval of `MetricFrame.difference()`, people of all groups resampled together. As the
  difference has no sign there, 0 is hardly ever inside: it is no test of equality, and covers the (absolute)
  difference only where there is one.
- *Welch*, *DeLong*: the t test of the event's indicators or of losses, and the normal test of two areas.
"""

#: Published for the first section's design, 10,000 simulations (DiCiccio et al. 2020, section 4.2).
PUBLISHED = {"raw": ".1216", "kdd": ".0486", "basic_bootstrap": ".1078"}

SECTIONS = [
    (
        "rates",
        "Rates and F1",
        "Two groups of the sizes named, base rates far apart. The same test, hence the same figures, for a rate and "
        "its complement: true and false positives' rate with false and true negatives', precision with false "
        "discoveries, negative predictive value with false omissions, accuracy with errors.",
    ),
    (
        "grid",
        "False negative rates on a grid",
        "Base rates and the rate are in the design's name. The sizes and powers of the exact tests and Fisher's are "
        "sums over all outcomes, averaged over drawn denominators; the power is against a rate .2 higher in the "
        "second group.",
    ),
    (
        "families",
        "Several groups, several rates",
        "Familywise error: how often any comparison of equal groups is rejected, whatever else differs. Power: the "
        "average share of different pairs that are found. *Holm, Shaffer's factors*: the default for all pairs of "
        "groups, which is Holm's adjustment where there are two. Every pattern of equal ones among four groups is a "
        "design. AUC: .8, .8 and .9, base rates .5, .3 and .4, the positives' "
        "standard deviation twice as large in the second group; mean squared error: of normal, uniform and 1.5 times "
        "of normal errors; p-values from studentized permutations, max-T from bootstrap samples.",
    ),
    (
        "auc",
        "Area under the ROC curve",
        "Scores of the first group are normal in both classes; those of the second as the design says (the positives'"
        " standard deviation three times as large, or all scores shifted by three). Then the area. Base rates .5 "
        "unless named.",
    ),
    (
        "balanced_accuracy",
        "Balanced accuracy",
        "Base rates .7 and .3; the same balanced accuracy from different recalls.",
    ),
    (
        "mcc",
        "Matthews' correlation coefficient",
        "Base rates .5 and .1, coefficient .5 in both groups.",
    ),
    (
        "classes",
        "Metrics of classes",
        "True classes have shares .5 and .5 in the first group, .8 and .2 in the second; of three classes .4, .3 and "
        ".3, and .6, .25 and .15. All classes are predicted rightly equally often, as often as gives the value named. "
        "With 40 people and a value of .95 a group makes about two errors: what rests on fewer than ten is cautioned. "
        "Power: of .1 less in the smaller group, .15 where that has fewer than 200 people.",
    ),
    (
        "average_precision",
        "Average precision",
        "Base rates .5 and .2, normal scores that are as far apart as gives the value named. Power: of .15 less in the "
        "second group.",
    ),
    (
        "r2",
        "R squared",
        "Normal numbers in the first group; in the second numbers with the law named, three times as far apart, and so "
        "are the errors. Power: of .15 less in the second group.",
    ),
    (
        "mean_squared_error",
        "Mean squared error",
        "Equal mean squared errors of errors with the laws named.",
    ),
    (
        "log_loss",
        "Log loss",
        "Equal mean losses: calibrated scores with two Beta laws, then scores that are always .99 and right 99 % of "
        "the time against calibrated ones near 0, whose losses are rare and large.",
    ),
    (
        "clusters",
        "Clusters",
        "Selection rate .3: people of one cluster share a rate (correlation about .13). AUC .8 with base rates .5 and "
        ".3, the positives' standard deviation twice as large in the second group: half of the variance of their "
        "scores is their cluster's. Mean squared error 1 of normal and of uniform errors: people of one cluster share "
        "a factor (correlation of squared errors .14 and .29). Where both groups are in each cluster, their shares "
        "vary, and where clusters are composed by their rates, the groups' rates differ in each cluster and are equal "
        "overall. Whole clusters are permuted where each lies in one group, otherwise the signs of their parts are "
        "flipped. *Signs*: signs are flipped everywhere. *Ignored*: the default test of people as if they were "
        "independent, exact for rates.",
    ),
    (
        "weights",
        "Weights",
        "Equal weighted values; weights with the law named. AUC and mean squared error as with clusters; cost: a "
        "function of counts in a ScoreMetric, 5 for the missed and 1 for false alarms, on average .35. *Ignored*: the "
        "default test without weights, exact for rates, which asks another question where weights depend on the event.",
    ),
    (
        "ratios",
        "Ratios with rare events",
        "Selection rates of which many data sets show none in a group, so that their ratio is 0 or infinite, by every "
        'method of FairnessTest with `disparity="ratio"`. At the margin .8 of the one-sided test whether the ratio is '
        "below it, and its one-sided interval. Clusters share a rate (correlation about .02 at .05, .05 at .1).",
    ),
    (
        "follow",
        "Weights that follow the outcome",
        "Differences of weighted selection rates, where those with the event weigh more or less, as after "
        "post-stratification; rates .2 and .4, .3 and .2, and .05 and .2 where they differ.",
    ),
]

PAPER = (
    "True positive rate .9 in both groups of 200 people, base rates .8 and .2: {data_sets} data sets, {resamples} "
    "resamples each. The published figures are those of DiCiccio et al. (2020), section 4.2, for an un-studentized "
    "and a studentized permutation test and a bootstrap. The paper's studentized test is set beside the plug-in "
    "statistic that it describes, and its bootstrap beside the basic interval; which standard error and which "
    "interval were really run is not known here."
)

MODEL_SELECTION = (
    "Measured by `python -m benchmarks.model_selection`, stored in `benchmarks/results/{file}`. First, {intervals} "
    "data sets: how often the interval that `SignificanceFrame` and `make_fairness_scorer` give for the largest "
    "disparity holds the true one, how often its worst end is beyond it, and the percentile bootstrap of fairlearn's "
    "`MetricFrame` ({compared} data sets, {resamples} resamples), which held equality in none of them. Then "
    "{out_of_fold} training runs: how often equalized odds of the tree is rejected by `AuditedClassifier`, on "
    "predictions for people left out, and on predictions for the people trained on. *Fair*: features have the same "
    "distribution in both groups, given the label. *Unfair*: they are noisier in one group; a tree that has learnt its "
    "people by heart shows nothing of that in sample. *Fair on average*: a column that means nothing is the group, so "
    "that every single model treats groups differently and all models together do not; rejecting such a model is right "
    "about the model and wrong about the way it is trained. Last, {selection} searches over eight candidates, the "
    "more accurate the further apart their rates of selection are, in five folds: how often the one that is taken "
    "differs by more than {tolerance}. *Mean disparity* takes the mean of the folds' disparities as it is, and the "
    "luck of the folds with it. `select_fair` by `tolerance` takes their upper bounds; by `alpha` it takes whatever "
    "is not rejected, which with few people is almost everything."
)

CORRELATION_INTERVALS = (
    "Few people and heavy tails ({data_sets} data sets): how often the test rejects, which is its size where the "
    "correlation is 0, and how often the 95 % intervals contain the true correlations, those of three features "
    "together. *eps x^2*: the outcome is normal noise times the square of the feature, which is normal unless "
    "named. *Sum of*: feature and noise have the distribution named, and the outcome is a weighted sum of both. *b x "
    "+ eps x^2*: mean and spread of the outcome grow with the feature; few people with the largest values decide "
    "there, and the intervals cover too rarely. The last two columns are contradictions between interval and p-value: "
    "the first must not occur; the second does where max-T rejects a feature only by stepping down, as Holm may (here "
    "Holm's rows are compared at the level of their intervals)."
)

AUDIT = (
    "Measured by `python -m benchmarks.audit`, stored in `benchmarks/results/{file}`: how often an audit of three "
    "sensitive features and all their crossings, by the standard metrics, reports even one false positive. *One "
    "feature matters*: predictions are harsher on one sex; false are findings by race, age and both. *Base rates "
    "differ*: labels depend on race, predictions on the label alone; false are findings in rates within the "
    "true label, in "
    "accuracy and in AUC. *Small groups*: twenty groups of thirty people beside a large one, with skewed scores. The "
    "level is {level}. Exact tests, adjusted for their number, stay below it where few people can reach only few "
    "p-values. Behind each share is the error of so few data sets."
)
AUDIT_DETECTABLE = (
    "The size that an audit calls detectable for a rate of the others and two groups: the "
    "power of the exact test there, where .8 is meant, the smaller of both directions. *1 of k*: at the level that "
    "Holm's adjustment leaves the smallest of k p-values."
)

INDIVIDUAL = (
    "Measured by `python -m benchmarks.individual`, stored in `benchmarks/results/{file}`. People are two groups "
    "whose first feature is shifted, which is what the fair metric leaves free. First, a logistic model whose audit "
    "value is an integral and known to better than 1e-8: how often `IndividualFairnessTest` rejects it at the "
    "tolerance of {tolerance}, which is the size at that value and below and the power beyond it; and, after the "
    "stroke, how often the two-sided 95 % interval holds the value. The two designs were chosen for their tails: in "
    "one few people are harmed much and ratios have a long right tail; in the other most are harmed alike, and those "
    "who are harmed less are a long left tail, with which the normal distribution rejects too often when people are "
    "few. The ratio of means rejects too often in both, the less the more people there are. An error rate ratio is a "
    "ratio of few people: its interval is too short, and the test has little power, where few are misclassified."
)
INDIVIDUAL_WAYS = (
    "However unfair examples are found: the audit value of that very map, the size of a test with just this "
    "tolerance, and the coverage ({data_sets} data sets). Of the logistic regression the value is an integral, of the "
    "others it is that of {many} people who are not tested. A forest that is grown out is sure of most people and "
    "has no loss there: of a mean of ratios of 1e+15 the normal law knows nothing, and what is left is a test that "
    "hardly rejects."
)
INDIVIDUAL_LEARNED = (
    "A fair metric that is learned from the sample ({data_sets} data sets). What is tested is the map of the metric "
    "that was learned, or of those of the folds: its value is held by the interval, and the lower bound is above it "
    "as rarely as it should be, with cross-fitting, and nearly so without. A logistic model makes one number of a "
    "metric, so that there is little in which it could be fitted to the people tested. The audit value of the metric "
    "that would be learned from everybody there is ({tolerance}, the tolerance) is another one; no interval here is "
    "about it, and it is reached slowly: the mean of the values of the metrics learned is in the last column."
)
INDIVIDUAL_ROWS = (
    "inFairness differentiates the mean loss, so that its steps are shorter the more people there are, and starts at "
    "a random place: its statistic of the same people, counted several times, with the step that is right for 100 of "
    "them (standard deviation over seeds); its rejections of an audit value of {tolerance} and of 1.5 ({data_sets} "
    "data sets)."
)
INDIVIDUAL_DROPPED = (
    "The authors' code drops ratios that are not finite. Of a forest that is grown out, {dropped} of {people} people "
    "are dropped, {harmed} although they are harmed: their loss is 0 before and not after. The mean of the rest is "
    "{rest}. With everybody the ratio of mean losses is {means}, and the geometric mean of ratios {log}."
)
INDIVIDUAL_PEOPLE = (
    "Measured by `python -m benchmarks.individual_people`, stored in `benchmarks/results/{file}`: pipelines of one-hot "
    "categories, scaled numbers and logistic regression on tables with text, and every default of "
    "`IndividualFairnessTest`. A column of text gives the sensitive feature away nine times in ten. The fair model has "
    "no weight along the sensitive subspace of the people that it was fitted on, the unfair one has 4 in log odds "
    "between the two values of that column. How often either is rejected in samples of {people} other people, who "
    "learn a metric of their own; then the statistic of the fitted model as it is, with numbers in other units (one of "
    "them negative), with the column written as 0 and 1, without a penalty, and without a penalty and without the "
    "first categories; by a search; and of the unfair model by the flow and by a search. The last column counts "
    "values of unfair examples that nobody could have."
)
INDIVIDUAL_TABLES = (
    "The tables of the paper, with models trained as in the authors' scripts on their splits of Adult and COMPAS "
    "(`python -m benchmarks.individual_tables`, stored in `{file}`): the lower bound T_n, its standard deviation "
    "over 10 splits, and in how many splits the loss ratio is beyond {tolerance}. A metric is learned from the "
    "people tested, as in the paper; on other folds of them; or on the training people. On Adult everything is "
    "rejected that the paper rejects, SenSR never. On COMPAS SenSR and Project are fair by the metric that they "
    "know, the training people's, and that of a thousand other people is another one: there the paper never "
    "rejects SenSR. Adult's flow has {adult} steps, as in the paper's text; with 200, as in the published code, "
    "it finds less. The published row Project may be that of another model: ours without the projection, after "
    "200 steps, has its figures."
)
