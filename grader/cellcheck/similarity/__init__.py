"""`cellcheck similar`: which answers in a class are alike, for a person to look at."""
