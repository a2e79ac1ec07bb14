"""`cellcheck package`: a lesson's grader as a file that another system runs."""
