"""A learner's own folder: which lessons there are, how far they are, and how to begin one anew.

Nothing here needs torch or nbgrader: the start page and `cellcheck progress` answer at once.
"""
