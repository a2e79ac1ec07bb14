"""What hand-written pages show of the real thing: the attacks that are tried."""

import ast
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cellcheck.errors import GraderError
from cellcheck.syntax import syntax_tree


class Attacks(SphinxDirective):
    """`{attacks} FOLDER`: what is tried in that folder of tests, read from the tests' names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One definition list: a file's docstring, and its tests."""
        folder = Path(self.env.relfn2path(self.arguments[0])[1])
        attacks = nodes.definition_list()
        for file in sorted(folder.glob("test_*.py")):
            self.env.note_dependency(str(file))
            tree = syntax_tree(file.read_text("utf-8"))
            names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
            tried = nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", said(name))) for name in names))
            title = re.sub(r"`([^`]*)`", r"\1", (ast.get_docstring(tree) or file.stem).split("\n\n")[0])
            attacks += nodes.definition_list_item("", nodes.term("", title), nodes.definition("", tried))
        if not attacks.children:
            raise GraderError(f"There are no tests in {folder}.")
        return [attacks]


def said(name: str) -> str:
    """A test's name as a sentence.

    >>> said("test_an_endless_loop_costs_one_exercise")
    'An endless loop costs one exercise'
    """
    return name.removeprefix("test_").replace("_", " ").capitalize()
