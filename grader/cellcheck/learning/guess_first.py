"""Guess first: a cell that asks for a guess (`guess_loss = None`) runs once there is one, and not before.

Only where a person sits before the notebook: whoever grades or builds it wants to see what it shows.
"""

import ast
import os
import re
import sys
from typing import Any

from cellcheck.syntax import syntax_tree

ASK = (
    "What do you think? Write your guess in place of None, and run this cell again: it runs once there is one.\n"
    'No idea? Write "?", and be surprised.'
)
_LINE = re.compile(r"^(?P<start>guess_\w+ = )(?P<words>[^#\n]*[^#\s])(?=\s*(?:#|$))")
_NAME = re.compile(r"guess_\w+")


def ask_first() -> None:
    """From here on, in a notebook's kernel that a person uses; elsewhere this does nothing."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None or not _somebody_reads(shell):
        return
    shell.input_transformers_cleanup[:] = [t for t in shell.input_transformers_cleanup if t is not in_quotes]
    shell.input_transformers_cleanup.append(in_quotes)
    shell.ast_transformers[:] = [t for t in shell.ast_transformers if not isinstance(t, Asking)]
    shell.ast_transformers.append(Asking())


def _somebody_reads(shell: Any) -> bool:
    """VS Code and Jupyter's server say which notebook the kernel is for; Colab has a package of its own."""
    named = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return bool(named or "google.colab" in sys.modules) and "NBGRADER_EXECUTION" not in os.environ


def in_quotes(lines: list[str]) -> list[str]:
    """A guess in words needs no quotes, and no more does a question mark, which IPython would take for its own.

    >>> in_quotes(["guess_winner = Adam  # or SGD\\n", "guess_higher = on its own\\n", "guess_share = 0.5\\n"])
    ["guess_winner = 'Adam'  # or SGD\\n", "guess_higher = 'on its own'\\n", 'guess_share = 0.5\\n']
    >>> in_quotes(["guess_share = ?  # a share"])
    ["guess_share = '?'  # a share"]
    >>> in_quotes(["guess_deep = pre-norm", "guess_learners = Ida and Jon", "guess_no = None", "guess_share = -1 / 2"])
    ["guess_deep = 'pre-norm'", "guess_learners = 'Ida and Jon'", 'guess_no = None', 'guess_share = -1 / 2']
    """
    return [_LINE.sub(_quoted, line) for line in lines]


def _quoted(match: re.Match[str]) -> str:
    words = match["words"]
    is_a_word = words not in ("None", "True", "False") and re.fullmatch(r"[^\W\d][\w .-]*|\?", words) is not None
    return f"{match['start']}{words!r}" if is_a_word else match[0]


class Asking(ast.NodeTransformer):
    """Leaves of a cell whose guess is still None nothing but that, and a question."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        """A cell's lines; see `ask_first`."""
        unguessed = [line for line in cell.body if _is_no_guess(line)]
        if unguessed:
            cell.body = [*unguessed, *syntax_tree(f"print({ASK!r})").body]
        return cell


def _is_no_guess(line: ast.stmt) -> bool:
    """Whether it is `guess_a = None`, or `guess_a, guess_b = 1, None`."""
    if not isinstance(line, ast.Assign):
        return False
    targets = [name for target in line.targets for name in getattr(target, "elts", [target])]
    values = getattr(line.value, "elts", [line.value])
    guesses = all(isinstance(name, ast.Name) and _NAME.fullmatch(name.id) for name in targets)
    return guesses and any(isinstance(value, ast.Constant) and value.value is None for value in values)
