"""`cellcheck demo`: the whole way from a released lesson to a graded class, in a fresh course."""
