# Ten-fold predictions of ranger: Rscript ranger.R IN.csv OUT.csv TREES SEED FACTORS THREADS
# IN has the columns fold and target; names of numbers begin with n, of factors with c.
# ranger 0.14 takes no missing cells: numbers become the median of the rows to grow on,
# missing categories are a level of their own.
suppressMessages(library(ranger))
told <- commandArgs(trailingOnly = TRUE)
if (length(told) == 0) {
  cat(as.character(packageVersion("ranger")))
  quit()
}
table <- read.csv(told[1], check.names = FALSE, stringsAsFactors = FALSE)
fold <- table$fold
numeric <- "number" %in% names(table)
target <- if (numeric) table$number else factor(table$target)
rows <- table[, setdiff(names(table), c("fold", "target", "number")), drop = FALSE]
factors <- startsWith(names(rows), "c")
for (column in which(factors)) {
  codes <- rows[[column]]
  codes[is.na(codes)] <- -1
  rows[[column]] <- factor(codes)
}
found <- rep(NA_real_, nrow(rows))
for (number in sort(unique(fold))) {
  inside <- fold != number
  own <- rows
  for (column in which(!factors)) {
    middle <- median(own[[column]][inside], na.rm = TRUE)
    own[[column]][is.na(own[[column]])] <- if (is.na(middle)) 0 else middle
  }
  model <- ranger(
    x = own[inside, , drop = FALSE], y = target[inside],
    num.trees = as.integer(told[3]), seed = as.integer(told[4]),
    respect.unordered.factors = told[5], num.threads = as.integer(told[6])
  )
  said <- predict(model, own[!inside, , drop = FALSE])$predictions
  found[!inside] <- if (numeric) said else as.integer(as.character(said))
}
write.csv(data.frame(found), told[2], row.names = FALSE)
