"""What users give, read in one place: evidence, plain values, data frames and targets."""
