"""What a lesson downloads is here before it is executed: a learner may go on with less, a solution may not."""

import importlib
import importlib.util

from cellcheck.building.origins import downloads_of
from cellcheck.errors import GraderError
from cellcheck.repository import Repository


def insist_on_downloads(repository: Repository, lesson: str) -> None:
    """Fetches each file of the course's list of downloads that the lesson's code names, where it isn't here yet.

    The course says how, in its module `downloads`: `downloaded(name)` returns the file's path, or raises an OSError
    whose message says what to do.

    Raises:
        GraderError: when a file can't be had, or would not be found by the cells, which run in another folder.
    """
    names = downloads_of(repository, lesson)
    module = f"{repository.package.rpartition('.')[0]}.downloads"
    if not names or importlib.util.find_spec(module) is None:
        return
    downloaded = importlib.import_module(module).downloaded
    for name in names:
        try:
            path = downloaded(name)
        except OSError as problem:
            raise GraderError(f"{lesson} is not executed without what it downloads: {problem}") from problem
        if not path.is_absolute():
            raise GraderError(
                f"{lesson} is not executed, since its cells run in a folder of their own, where {path} would not be "
                "found: name its folder by the full path."
            )
