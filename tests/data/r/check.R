# What R says of the CSV of a results file, for tests/it/values_of_r.rs and docs/statistics.md:
#
#     cargo bench-compare report results.json --format csv | Rscript check.R > values.csv

# Without colClasses, R takes a column in which every text is empty for logical values, and shows NA.
csv <- read.csv(file("stdin"), colClasses = c(configuration = "character"))
csv$name <- trimws(paste(csv$filename, csv$configuration))
levels <- c(0.95, 0.99, 0.999)
percent <- function(d) (exp(-d) - 1) * 100
averages <- function(d) { all <- outer(d, d, "+") / 2; sort(all[lower.tri(all, diag = TRUE)]) }

# Where magnitudes are tied or zero, wilcox.test leaves the exact test for a normal approximation. So the distribution of
# the mid-ranks is computed here, and estimate and intervals are read from the averages.
exact_p <- function(d) {
  d <- d[d != 0]
  ranks <- 2 * rank(abs(d))
  p <- 1
  for (rank in ranks) p <- (c(p, rep(0, rank)) + c(rep(0, rank), p)) / 2
  v <- sum(ranks[d > 0]) + 1
  min(1, 2 * sum(p[1:v]), 2 * sum(p[v:length(p)]))
}
interval <- function(d, level) {
  all <- averages(d)
  k <- max(1, qsignrank((1 - level) / 2, length(d)))
  c(all[k], all[length(all) + 1 - k])
}

judge <- function(name) {
  rows <- csv[csv$name == name, ]
  old <- rows[rows$binary == "old", ]
  new <- rows[rows$binary == "new", ]
  d <- log(new$time / old$time)
  tied <- any(d == 0) || anyDuplicated(abs(d)) > 0
  test <- function(level) suppressWarnings(wilcox.test(d, exact = TRUE, conf.int = TRUE, conf.level = level))
  ends <- sapply(levels, function(level) if (tied) interval(d, level) else test(level)$conf.int[1:2])
  ends <- percent(ends[2:1, ])
  rates <- t.test(new$rate, old$rate)
  data.frame(
    name, pairs = length(d), tied,
    p = if (tied) exact_p(d) else test(0.95)$p.value,
    estimate = percent(if (tied) median(averages(d)) else test(0.95)$estimate),
    low = ends[1, 1], high = ends[2, 1],
    half_95 = diff(ends[, 1]) / 2, half_99 = diff(ends[, 2]) / 2, half_999 = diff(ends[, 3]) / 2,
    # As benchmark/compare.R has it.
    old_mean = mean(old$rate), new_mean = mean(new$rate),
    welch_t = rates$statistic, welch_df = rates$parameter, welch_p = rates$p.value,
    welch_accuracy = diff(rates$conf.int[1:2]) / 2 / mean(old$rate) * 100
  )
}
values <- do.call(rbind, lapply(unique(csv$name), judge))
for (column in names(values)[sapply(values, is.double)]) values[[column]] <- sprintf("%.15g", values[[column]])
write.csv(values, quote = FALSE, row.names = FALSE)
