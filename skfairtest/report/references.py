"""What an audit was computed with: each method that was used, in a sentence, and who described it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skfairtest.report.record import AuditPart, AuditRecord
from skfairtest.report.sentences import Setup

__all__ = ["METHODS", "Method", "methods_used"]


@dataclass(frozen=True)
class Method:
    """One method.

    Parameters
    ----------
    when : str
        What an audit has if it was used: one of the words that `_traits` yields.
    says : str
        What was done.
    citation : str
        Who described it.
    """

    when: str
    says: str
    citation: str


#: In the order in which a reader meets them: what decides, intervals, adjustment, what could have been seen.
METHODS = (
    Method(
        "exact unconditional",
        "Rates of two groups: Boschloo's exact test. Fisher's p-value orders all outcomes, and its law is "
        "maximised over the rate that both groups would share. Nothing is drawn at random.",
        "R. D. Boschloo (1970). Raised conditional level of significance for the 2 x 2-table when testing the"
        " equality of two probabilities. Statistica Neerlandica 24, 1-35.",
    ),
    Method(
        "exact conditional",
        "Rates given how many people show the event in all groups together: Fisher's exact law, over several "
        "strata the law of their sum. Nothing is drawn at random.",
        "R. A. Fisher (1935). The logic of inductive inference. Journal of the Royal Statistical Society 98, 39-82.",
    ),
    Method(
        "exact margin",
        "Rates with a margin: exact tests ordered by the score at the margin, maximised over what is not known.",
        "I. S. F. Chan (1998). Exact tests of equivalence and efficacy with a non-zero lower bound for "
        "comparative studies. Statistics in Medicine 17, 1403-1413. R. L. Berger and D. D. Boos (1994). P "
        "values maximized over a confidence set for the nuisance parameter. Journal of the American "
        "Statistical Association 89, 1012-1016.",
    ),
    Method(
        "score",
        "Rates of many people: the score test, which approximates the exact one.",
        "O. Miettinen and M. Nurminen (1985). Comparative analysis of two rates. Statistics in Medicine 4, 213-226.",
    ),
    Method(
        "inverted interval",
        "Beyond a margin, averages over strata and functions of rates, such as F1, are tested by the level at which "
        "their interval reaches the margin.",
        "J. Neyman (1937). Outline of a theory of statistical estimation based on the classical theory of "
        "probability. Philosophical Transactions of the Royal Society A 236, 333-380.",
    ),
    Method(
        "permutation",
        "Permuted labels: each permuted disparity is divided by its own standard error, which makes the test "
        "valid for the equality of the metric alone, and not only of everything at once.",
        "C. DiCiccio, S. Vasudevan, K. Basu, K. Kenthapadi and D. Agarwal (2020). Evaluating fairness using "
        "permutation tests. KDD, 1467-1477.",
    ),
    Method(
        "sign flipping",
        "Clusters with people of both sides: the signs of each cluster's part of the difference are flipped at random, "
        "and each flipped disparity is divided by its own standard error.",
        "J. Hemerik, J. J. Goeman and L. Finos (2020). Robust testing in generalized linear models by sign flipping "
        "score contributions. Journal of the Royal Statistical Society B 82, 841-864.",
    ),
    Method(
        "permutation of everybody",
        "Metrics that look at all groups at once: everybody's labels are permuted.",
        "E. J. G. Pitman (1937). Significance tests which may be applied to samples from any populations. "
        "Supplement to the Journal of the Royal Statistical Society 4, 119-130.",
    ),
    Method(
        "normal",
        "Disparities divided by their standard errors are compared with the normal law.",
        "A. Wald (1943). Tests of statistical hypotheses concerning several parameters when the number of "
        "observations is large. Transactions of the American Mathematical Society 54, 426-482.",
    ),
    Method(
        "bootstrap",
        "Bootstrap: people are drawn again within their groups.",
        "P. Hall (1992). The Bootstrap and Edgeworth Expansion. Springer.",
    ),
    Method(
        "roc_auc",
        "Standard errors of areas under ROC curves.",
        "E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or more "
        "correlated receiver operating characteristic curves: a nonparametric approach. Biometrics 44, "
        "837-845.",
    ),
    Method(
        "linearized",
        "People with weights or in clusters: standard errors are linearized.",
        "D. A. Binder (1983). On the variances of asymptotically normal estimators from complex surveys. "
        "International Statistical Review 51, 279-292.",
    ),
    Method(
        "strata",
        "Averages over strata weigh each stratum by what it says about the disparity.",
        "N. Mantel and W. Haenszel (1959). Statistical aspects of the analysis of data from retrospective "
        "studies of disease. Journal of the National Cancer Institute 22, 719-748.",
    ),
    Method(
        "interval",
        "Intervals of differences and ratios of rates.",
        "O. Miettinen and M. Nurminen (1985). Comparative analysis of two rates. Statistics in Medicine 4, 213-226.",
    ),
    Method(
        "interval of a function",
        "Intervals of differences and ratios of functions of rates, such as F1: the limits of both values are"
        " combined.",
        "G. Y. Zou and A. Donner (2008). Construction of confidence limits about effect measures: a general "
        "approach. Statistics in Medicine 27, 1693-1702.",
    ),
    Method(
        "interval of a stratified difference",
        "Intervals of differences averaged over strata.",
        "T. Sato (1989). On the variance estimator for the Mantel-Haenszel risk difference. Biometrics 45, 1323-1324.",
    ),
    Method(
        "interval of a stratified ratio",
        "Intervals of ratios averaged over strata.",
        "S. Greenland and J. M. Robins (1985). Estimation of a common effect parameter from sparse follow-up "
        "data. Biometrics 41, 55-68.",
    ),
    Method(
        "interval by the delta method",
        "Intervals of functions of rates, or of ratios to everyone, over strata: the delta method, after half a "
        "person is added to each count.",
        "A. Agresti (2013). Categorical Data Analysis, third edition. Wiley.",
    ),
    Method(
        "interval by standard errors",
        "Intervals of other disparities: the estimate plus and minus a critical value, that of the permutations "
        "where there are any, times the standard error.",
        "E. Chung and J. P. Romano (2013). Exact and asymptotically robust permutation tests. Annals of Statistics "
        "41, 484-507.",
    ),
    Method(
        "rate",
        "Intervals of the rate of one group.",
        "E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal "
        "of the American Statistical Association 22, 209-212.",
    ),
    Method(
        "several groups together",
        "Comparisons with several groups together (everyone, everyone else, the rest of a parent group) take the people"
        " in these as a random sample; numbers chosen group by group make the count of events another than binomial.",
        "W. Hoeffding (1956). On the distribution of the number of successes in independent trials. Annals of "
        "Mathematical Statistics 27, 713-721.",
    ),
    Method(
        "holm",
        "P-values adjusted for the number of questions, so that even one false concern is rare (Holm).",
        "S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 65-70.",
    ),
    Method(
        "shaffer",
        "P-values adjusted for the number of hypotheses, so that even one false concern is rare (Holm). All pairs of "
        "groups count as often as they can be equal at once (Shaffer).",
        "S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 65-70. J. P. Shaffer (1986). Modified sequentially rejective multiple test procedures. Journal "
        "of the American Statistical Association 81, 826-831.",
    ),
    Method(
        "bonferroni",
        "P-values multiplied by the number of questions (Bonferroni).",
        "O. J. Dunn (1961). Multiple comparisons among means. Journal of the American Statistical Association"
        " 56, 52-64.",
    ),
    Method(
        "fdr_bh",
        "P-values adjusted so that few of the concerns are false, on average (Benjamini and Hochberg).",
        "Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate: a practical and powerful "
        "approach to multiple testing. Journal of the Royal Statistical Society B 57, 289-300.",
    ),
    Method(
        "fdr_by",
        "P-values adjusted so that few of the concerns are false, on average, however they depend on each "
        "other (Benjamini and Yekutieli).",
        "Y. Benjamini and D. Yekutieli (2001). The control of the false discovery rate in multiple testing "
        "under dependency. Annals of Statistics 29, 1165-1188.",
    ),
    Method(
        "detectable",
        "The smallest detectable disparity, by normal approximation where it is not the power of an exact test.",
        "J. L. Fleiss, B. Levin and M. C. Paik (2003). Statistical Methods for Rates and Proportions, section"
        " 4.2. Wiley.",
    ),
)


def methods_used(record: AuditRecord) -> list[Method]:
    """Name the methods that the numbers of a record come from, and no others."""
    had = {trait for part in record.parts for trait in _traits(part)}
    if record.verdict.n_comparisons > 1:  # one comparison has nothing to be adjusted for
        had.add(str(record.verdict.adjust))
    return [method for method in METHODS if method.when in had]


def _traits(part: AuditPart) -> Iterator[str]:
    """Yield what decides which methods were used in one grouping."""
    facts, comparisons = part.facts, part.comparisons
    for metric, stratum, law in zip(comparisons["metric"], comparisons["stratum"], comparisons["method"], strict=True):
        pooled = stratum is None and bool(part.control)
        if metric in facts.everybody:
            yield "permutation of everybody"
            continue
        yield _law(facts, metric, law, pooled=pooled)
        if pooled:
            yield "strata"
        if law != "bootstrap":
            yield _interval(facts, metric, pooled=pooled)
    shown = set(part.by_group["metric"])
    if part.pools_groups:
        yield "several groups together"
    if facts.people:
        yield "linearized"
    elif "roc_auc" in shown:
        yield "roc_auc"
    if any(_counted(facts, metric) for metric in shown):
        yield "rate"
    if comparisons["minimum_detectable"].notna().any():
        yield "detectable"


def _counted(facts: Setup, metric: str) -> bool:
    """Whether the metric is a rate, and people count alike: its laws come from counts."""
    return metric in facts.words and not facts.people


def _law(facts: Setup, metric: str, law: str, *, pooled: bool) -> str:
    """Name the method of a p-value."""
    if law == "exact unconditional" and facts.edges is not None:
        return "exact margin"
    if law != "asymptotic":
        return law
    if not _counted(facts, metric):
        return "normal"
    return "inverted interval" if facts.edges is not None and (pooled or metric in facts.functions) else "score"


def _interval(facts: Setup, metric: str, *, pooled: bool) -> str:
    """Name the method of the interval of a disparity."""
    if not _counted(facts, metric):
        return "interval by standard errors"
    kind, function = facts.disparity_of(metric), metric in facts.functions
    to_everyone = facts.compare == "to_overall" and kind == "ratio"
    if (function and to_everyone) or (pooled and (function or to_everyone)):
        return "interval by the delta method"
    if pooled:
        return f"interval of a stratified {kind}"
    return "interval of a function" if function else "interval"
