"""Errors whose message is one sentence for a person, with what to do next."""


class GraderError(Exception):
    """Anything that stops a command; the command line prints its message and exits with 2."""
