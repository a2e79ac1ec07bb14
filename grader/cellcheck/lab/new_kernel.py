"""What each kernel runs as it starts (`PYTHONSTARTUP`): before the set-up cell, a missing name says to run that one.

The set-up cell puts sentences of its own in place of this one (`cellcheck.checking.in_a_sentence`). The kernel may be
one of another Python, without the course: nothing is imported here but what any kernel has.
"""


def _speak_before_the_set_up() -> None:
    import os
    import sys
    from typing import Any

    notebook = os.environ.get("JPY_SESSION_NAME", "")
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    try:
        with open(notebook, encoding="utf-8") as file:
            is_a_lesson = "Set-up: run this cell first" in file.read()
    except (OSError, ValueError):
        return
    if getattr(shell, "kernel", None) is None or not is_a_lesson:
        return

    def show(shell, kind, error, trace, tb_offset=None):  # type: ignore[no-untyped-def]
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None and trace.tb_frame.f_globals.get("__name__") == "__main__":
            sentence = (
                f"`{error.name}` isn't there yet: the kernel has just started, and remembers nothing. Run the first "
                "cell, the set-up, then the cells above this one."
            )
            error._render_traceback_ = lambda: [sentence]
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((NameError,), show)


_speak_before_the_set_up()
del _speak_before_the_set_up
