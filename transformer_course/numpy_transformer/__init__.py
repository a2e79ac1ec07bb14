"""A Transformer in NumPy alone, with every gradient worked out by hand: what learners write in lesson 9.

Nothing below this folder imports a library that differentiates. `training` and `tasks` are given; the rest is theirs.
"""
