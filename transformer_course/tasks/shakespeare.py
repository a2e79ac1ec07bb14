"""Scenes from Shakespeare's plays, 1.1 million characters: downloaded once, never part of the course.

Source: the text that A. Karpathy put together for "The Unreasonable Effectiveness of Recurrent Neural Networks", 2015;
the plays are in the public domain.
"""

from transformer_course.downloads import downloaded


def shakespeare() -> str:
    """The whole text, from "First Citizen:" on.

    Raises:
        transformer_course.downloads.NotAvailable: when the file isn't here and can't be downloaded;
            the message says what to do.
    """
    return downloaded("tinyshakespeare/input.txt").read_text(encoding="utf-8")
