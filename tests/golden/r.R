# What R says of two groups' rates. Run by hand where R is at hand, with Debian's r-base-core and r-cran-epir:
#   Rscript tests/golden/r.R > tests/golden/r.json
suppressPackageStartupMessages(library(epiR))

number <- function(x) if (is.infinite(x)) "\"inf\"" else sprintf("%.15g", x)
numbers <- function(x) paste0("[", paste(sapply(x, number), collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{", paste(sprintf("\"%s\": %s", names(fields), unlist(fields)), collapse = ", "), "}")
}

# Two groups: events and people of each.
tables <- list(
  c(2, 10, 15, 25), c(7, 12, 1, 14), c(0, 9, 6, 11), c(45, 100, 60, 110), c(1, 6, 40, 60), c(20, 400, 9, 60),
  c(500, 1000, 560, 1000), c(3, 3, 1, 4), c(120, 3000, 95, 1500), c(1198, 2691, 557, 1835)
)
of_two <- function(t) {
  counts <- matrix(c(t[1], t[2] - t[1], t[3], t[4] - t[3]), nrow = 2)
  two <- fisher.test(counts)
  object(
    table = numbers(t), p_value = number(two$p.value),
    p_less = number(fisher.test(counts, alternative = "less")$p.value),
    p_greater = number(fisher.test(counts, alternative = "greater")$p.value),
    odds_ratio = number(two$estimate), odds_ratio_interval = numbers(two$conf.int),
    wilson = numbers(prop.test(t[1], t[2], correct = FALSE)$conf.int)
  )
}

# Strata: the departments of Berkeley (women admitted, women, men admitted, men), all of them and without the first.
departments <- rbind(
  c(89, 108, 512, 825), c(17, 25, 353, 560), c(202, 593, 120, 325), c(131, 375, 138, 417), c(94, 393, 53, 191),
  c(24, 341, 22, 373)
)
of_strata <- function(rows) {
  counts <- array(0, c(2, 2, nrow(rows)))
  for (k in seq_len(nrow(rows)))
    counts[, , k] <- c(rows[k, 1], rows[k, 2] - rows[k, 1], rows[k, 3], rows[k, 4] - rows[k, 3])
  exact <- mantelhaen.test(counts, exact = TRUE)
  large <- mantelhaen.test(counts)
  # epi.2by2 has the exposed in rows.
  epi <- epi.2by2(aperm(counts, c(2, 1, 3)), method = "cohort.count")
  equal <- epi$massoc.detail$bOR.homog
  object(
    strata = paste0("[", paste(apply(rows, 1, numbers), collapse = ", "), "]"),
    p_value = number(exact$p.value), mantel_haenszel = number(large$estimate), interval = numbers(large$conf.int),
    breslow_day = number(equal$test.statistic[1]), breslow_day_p = number(equal$p.value[1])
  )
}

# The same people judged twice: how often both, only the first, only the second, neither was right.
judged <- c(794, 86, 150, 570)
mcnemar <- object(
  table = numbers(judged), p_value = number(binom.test(judged[2], judged[2] + judged[3])$p.value),
  statistic = number(mcnemar.test(matrix(judged, 2), correct = FALSE)$statistic),
  corrected = number(mcnemar.test(matrix(judged, 2))$statistic)
)

cat("{\n")
cat(sprintf(" \"source\": \"%s; epiR %s; tests/golden/r.R\",\n", R.version.string, packageVersion("epiR")))
cat(" \"rates\": [\n  ", paste(sapply(tables, of_two), collapse = ",\n  "), "\n ],\n", sep = "")
cat(" \"strata\": [\n  ", of_strata(departments), ",\n  ", of_strata(departments[-1, ]), "\n ],\n", sep = "")
cat(" \"mcnemar\": ", mcnemar, "\n}\n", sep = "")
