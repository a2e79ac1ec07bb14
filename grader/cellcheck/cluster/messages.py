"""What crosses the network: JSON, as bytes. The cluster can carry any Python object; nothing of a learner's is one.

- An order is what is the same for a whole run: a `Job`, and which code must judge.
- Works are submissions that were read, without their owners' names.
- Answers are what came of them: results with their drafts, and failures.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from cellcheck.batch import Job, Work
from cellcheck.errors import GraderError
from cellcheck.gradebook.draft import Draft, Drafted
from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import SourceCell
from cellcheck.running.intake import Unreadable
from cellcheck.running.limits import Limits
from cellcheck.running.result import Failure, Result
from cellcheck.syllabus import load_lesson


@dataclass(frozen=True)
class Order:
    """What a worker must know to grade a run's submissions."""

    run: str
    """A name for the run, which no other has."""
    job: Job
    code: str
    """The digest of the course's and the grader's modules."""
    versions: Mapping[str, str]
    """Those of Python and the packages on which a verdict may depend."""

    def to_bytes(self) -> bytes:
        """The message."""
        assignment = self.job.assignment
        assert assignment is not None
        lesson = None if assignment.lesson is None else assignment.lesson.name
        cells = {
            title: {name: asdict(cell) for name, cell in notebook.items()}
            for title, notebook in assignment.notebooks.items()
        }
        fields = {
            "run": self.run,
            "code": self.code,
            "versions": dict(self.versions),
            "seed": self.job.seed,
            "lesson": self.job.lesson,
            "limits": asdict(self.job.limits),
            "assignment": {
                "name": assignment.name,
                "lesson": lesson,
                "notebooks": cells,
                "files": _texts(assignment.files),
                "skipped": assignment.skipped,
                "several": assignment.several,
            },
        }
        return json.dumps(fields).encode()

    @classmethod
    def from_bytes(cls, message: bytes) -> Self:
        """The order in the message.

        Raises:
            GraderError: when the lesson is not known here.
        """
        fields = json.loads(message)
        content = fields["assignment"]
        cells = {
            title: {name: _cell(cell) for name, cell in notebook.items()}
            for title, notebook in content["notebooks"].items()
        }
        lesson = None if content["lesson"] is None else load_lesson(content["lesson"])
        assignment = Assignment(
            content["name"], cells, lesson, _bytes(content["files"]), content["skipped"], several=content["several"]
        )
        job = Job(fields["seed"], fields["lesson"], limits=Limits(**fields["limits"]), assignment=assignment)
        return cls(fields["run"], job, fields["code"], fields["versions"])


def of_works(works: Sequence[Work]) -> bytes:
    """The submissions as a message. Their names, which say whose they are, stay here."""
    return json.dumps([_of_work(work) for work in works]).encode()


def works(message: bytes) -> list[Work]:
    """The submissions in a message."""
    return [_work(work) for work in json.loads(message)]


def of_answers(answers: Sequence[Drafted | Failure]) -> bytes:
    """What came of submissions, in their order, as a message."""
    return json.dumps([_of_answer(answer) for answer in answers]).encode()


def answers(message: bytes, names: Sequence[str]) -> list[Drafted | Failure]:
    """What came of the submissions that are called so here.

    Raises:
        GraderError: when the message says something else.
    """
    try:
        return [_answer(answer, name) for answer, name in zip(json.loads(message), names, strict=True)]
    except (ValueError, KeyError, TypeError) as error:
        raise GraderError(f"A worker's answer makes no sense ({type(error).__name__}: {error}).") from error


def _of_work(work: Work) -> dict[str, Any]:
    notebooks = {
        title: {"unreadable": str(data)} if isinstance(data, Unreadable) else {"data": _text(data)}
        for title, data in work.notebooks.items()
    }
    return {"notebooks": notebooks, "files": _texts(work.files), "titles": sorted(work.titles)}


def _work(work: Mapping[str, Any]) -> Work:
    notebooks = {
        title: Unreadable(notebook["unreadable"]) if "unreadable" in notebook else b64decode(notebook["data"])
        for title, notebook in work["notebooks"].items()
    }
    return Work("", notebooks, _bytes(work["files"]), frozenset(work["titles"]))


def _of_answer(answer: Drafted | Failure) -> dict[str, Any]:
    if isinstance(answer, Failure):
        return {"failure": answer.message}
    result, draft = answer.result, answer.draft
    return {
        "result": result.to_json(),
        "cells": result.cells,
        "notebooks": dict(draft.notebooks),
        "scores": [[*key, score] for key, score in draft.scores.items()],
        "blank": sorted(draft.blank),
        "cards": dict(draft.cards),
        "answers": dict(draft.answers),
    }


def _answer(answer: Mapping[str, Any], name: str) -> Drafted | Failure:
    if "failure" in answer:
        return Failure(name, answer["failure"])
    cells = tuple((int(number), float(seconds)) for number, seconds in answer["cells"])
    result = replace(Result.from_json(answer["result"]), notebook=name, cells=cells)
    scores = {(title, cell): score for title, cell, score in answer["scores"]}
    blank = frozenset((title, cell) for title, cell in answer["blank"])
    return Drafted(result, Draft(answer["notebooks"], scores, blank, answer["cards"], answer["answers"]))


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _text(data) for name, data in files.items()}


def _bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: b64decode(text) for name, text in files.items()}


def _cell(fields: Mapping[str, Any]) -> SourceCell:
    """A cell from its fields: JSON has lists where a cell has tuples."""
    tags = fields["tags"]
    return SourceCell(**{**fields, "hidden": tuple(fields["hidden"]), "tags": None if tags is None else tuple(tags)})
