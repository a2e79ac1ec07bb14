"""Where a cell stops for want of another one, a sentence that says which: no traceback helps there.

A name that isn't there because its cell hasn't run, an exercise that is still blank, a training that somebody stopped.
It stays an error of its kind: Run All stops, and nbgrader and nbconvert see what they'd have seen. What is a learner's
own slip is shown as always, with the line.
"""

import ast
import json
import linecache
import os
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cellcheck.authoring.observe import learners_line
from cellcheck.checking.check import NotYet
from cellcheck.checking.in_time import stopped_message
from cellcheck.syntax import syntax_tree

_GO_ON = "or use our version (the last fold above it)"


def speak_in_sentences(symbols: Sequence[str], notebook: Path) -> None:
    """From here on, in a notebook's kernel. Elsewhere only what a check says comes without its frames.

    Args:
        symbols: what the lesson has its learners write.
        notebook: the notebook as it was released; where there is none, only the symbols are known.
    """
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None:
        _hide_the_frames_of_a_check()
        return

    def show(shell: Any, kind: type, error: Any, trace: Any, tb_offset: int | None = None) -> None:
        if isinstance(error, NotYet) and error.has_a_card and _stops_at_a_bare_error():
            return
        sentence = _sentence(error, trace, symbols, notebook)
        if sentence:
            error._render_traceback_ = lambda: [sentence]
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((NameError, NotImplementedError, KeyboardInterrupt, NotYet), show)


def _hide_the_frames_of_a_check() -> None:
    """In Python's own prompt, too, `NotYet` is one sentence. A hook that somebody else has set stays as it is."""
    if sys.excepthook is not sys.__excepthook__:
        return

    def hook(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        if isinstance(error, NotYet):
            print(error, file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = hook


def _stops_at_a_bare_error() -> bool:
    """Whether Run All stops at an error of which nothing is shown: a person's JupyterLab does.

    Its server says which notebook the kernel is for. nbgrader takes a check without an error or a mark for a right one.
    """
    return bool(os.environ.get("JPY_SESSION_NAME")) and "NBGRADER_EXECUTION" not in os.environ


def _sentence(
    error: BaseException, trace: types.TracebackType | None, symbols: Sequence[str], notebook: Path
) -> str | None:
    """What to say instead of a traceback; None where that says it best."""
    if isinstance(error, KeyboardInterrupt):
        return stopped_message(error, learners_line(trace))
    where = _innermost(trace)
    if type(error) is NotImplementedError and where.startswith(tuple(f"{symbol}." for symbol in symbols)):
        return f"`{where.split('.')[0]}` is still blank: write it in its cell above, {_GO_ON}."
    if type(error) is not NameError or not error.name or error.name in _defines(_cell_of(trace)):
        return None  # what the cell itself defines is used too early there: its line says so
    if error.name in symbols:
        return f"`{error.name}` isn't there yet: run its cell above, {_GO_ON}."
    if not where.startswith("<"):
        return None
    defining = [source for source in _code(notebook) if error.name in _defines(source)]
    if not defining:
        return None
    waiting = [source for source in defining if _waits_for_a_guess(source, trace)]
    if waiting:
        return f"`{error.name}` isn't there yet: the cell that begins with {_beginning(waiting[0])} awaits your guess."
    if len(defining) > 1:
        return f"`{error.name}` isn't there yet: run the cells above this one first, from the top."
    return f"`{error.name}` isn't there yet: run the cell that begins with {_beginning(defining[0])}."


def _beginning(source: str) -> str:
    return f"`{source.splitlines()[0].strip()}`"


def _waits_for_a_guess(source: str, trace: types.TracebackType | None) -> bool:
    """Whether a cell has been run without the guess that it asks for: then it made nothing else."""
    cell = _frame_of_the_cell(trace)
    names = cell.f_globals if cell is not None else {}
    return any(name.startswith("guess_") and names.get(name, ...) is None for name in _defines(source))


def _innermost(trace: types.TracebackType | None) -> str:
    """The function of a notebook that it stopped in, with a dot at its end ("Model.forward."); a cell's own is "<".

    Empty where it stopped in a library.
    """
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_globals.get("__name__") != "__main__":
        return ""
    return f"{trace.tb_frame.f_code.co_qualname}."


def _frame_of_the_cell(trace: types.TracebackType | None) -> types.FrameType | None:
    """Where the cell that stopped was."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__") != "__main__":
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None


def _cell_of(trace: types.TracebackType | None) -> str:
    """The code of the cell that stopped."""
    frame = _frame_of_the_cell(trace)
    return "".join(linecache.getlines(frame.f_code.co_filename)) if frame is not None else ""


def _code(notebook: Path) -> Iterator[str]:
    try:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
    except (OSError, ValueError):
        return
    for cell in cells:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def _defines(source: str) -> set[str]:
    """The names that a cell's own lines give a value to, not those within its functions."""
    try:
        waiting: list[ast.AST] = [syntax_tree(source)]
    except SyntaxError:  # a line for the notebook's own ears, such as %matplotlib inline
        return set()
    names: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names
