"""Small data sets, made from a seed, each with the baselines that a shortcut reaches on it."""
