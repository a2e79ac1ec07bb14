"""The experiments that a lesson and the tests of its claims share, one module a lesson.

An experiment takes the learner's functions as arguments: it never brings its own solution along.
"""
