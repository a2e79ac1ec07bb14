"""Errors whose message is one sentence for a person, with what to do next."""


class GraderError(Exception):
    """Anything that stops a command; the command line prints its message and exits with 2.

    A notebook shows the message alone, without a traceback.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class MissingProtection(UserWarning):
    """This machine lacks a protection against what a submission's code may do; the message says which."""
