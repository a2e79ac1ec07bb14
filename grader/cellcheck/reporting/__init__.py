"""`cellcheck report --html`: a page about a whole class."""
