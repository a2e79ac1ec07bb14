"""Finding and reading entries: a file of code and, if there is one, a file of weights. Nothing in them is run here.

Weights are safetensors, which hold numbers and nothing else: never pickle.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.numpy

from cellcheck.authoring.contest import Contest
from cellcheck.errors import GraderError
from cellcheck.leaderboard.entry_files import MAX_HEADER, EntryRefused, files_of

MAX_TENSORS = 2_000
_KINDS = "bif"


@dataclass(frozen=True)
class ContestEntry:
    """What was handed in."""

    name: str
    code: bytes
    weights: Mapping[str, np.ndarray] | None = None
    """None where the engine is to train it."""

    @property
    def digest(self) -> str:
        """The same for the same entry, whoever handed it in."""
        hashed = hashlib.sha256(self.code)
        for name, array in sorted((self.weights or {}).items()):
            hashed.update(repr((name, array.dtype, array.shape)).encode() + array.tobytes())
        return hashed.hexdigest()


def find_entries(places: Iterable[Path], contest: Contest, lesson: str) -> dict[str, Path]:
    """The folders of entries, by the name of whoever made them.

    A place is an entry's own folder, or holds one for each name: `NAME/LESSON/entry/` as in nbgrader's `submitted/`,
    `NAME/entry/`, or `NAME/`.

    Raises:
        GraderError: when a place can't be read, or two entries have one name.
    """
    folders: dict[str, Path] = {}
    for place in places:
        try:
            there = list(_in(place, contest, lesson))
        except OSError as error:
            raise GraderError(f"{error.filename or place} can't be read: {error.strerror}.") from error
        for name, folder in there:
            if name in folders:
                raise GraderError(f"There are two entries called {name}: {folders[name]} and {folder}. Rename one.")
            folders[name] = folder
    return folders


def _in(place: Path, contest: Contest, lesson: str) -> Iterator[tuple[str, Path]]:
    if not place.is_dir():
        raise GraderError(f"There is no folder {place}.")
    if os.path.lexists(place / contest.code):
        own = place.resolve()
        yield (own.parent.name if own.name == contest.folder else own.name), place
        return
    for folder in sorted(place.iterdir()):
        if folder.name.startswith(".") or not (folder.is_dir() or folder.is_symlink()):
            continue
        inside = (folder / lesson / contest.folder, folder / contest.folder, folder)
        chosen = next((path for path in inside if os.path.lexists(path / contest.code)), None)
        left = next((path for path in inside[:2] if os.path.lexists(path)), None)  # it lacks its code: say so
        entry = chosen or left
        if entry is not None:
            steps = [folder, *(folder / part for part in entry.relative_to(folder).parents), entry]
            link = next((step for step in steps if step.is_symlink()), None)
            yield folder.name, link or entry  # a link is refused when it is read


def read_entry(name: str, folder: Path, contest: Contest) -> ContestEntry:
    """What was handed in, as far as it may be read.

    Raises:
        Refused: when it is no entry.
    """
    if folder.is_symlink():
        raise EntryRefused(f"{folder.name} is a link: ask for the folder itself.")
    files = files_of(folder, contest)
    code, stored = files[contest.code], files.get(contest.weights)
    try:
        code.decode("utf-8")
    except UnicodeDecodeError:
        raise EntryRefused(f"{contest.code} isn't text in UTF-8: save it as Python code.") from None
    return ContestEntry(name, code, None if stored is None else read_weights(stored, contest))


def read_weights(data: bytes, contest: Contest) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file.

    Raises:
        Refused: when it isn't one, or holds more than an entry may have.
    """
    if data.startswith((b"PK", b"\x80")):
        raise EntryRefused(
            f"{contest.weights} is a pickle, as torch.save writes it, which could run code: use safetensors.torch."
        )
    try:
        if int.from_bytes(data[:8], "little") > MAX_HEADER:
            raise ValueError("a header that is too large")
        arrays: dict[str, np.ndarray] = safetensors.numpy.load(data)
    except Exception:  # the library has errors of its own, one for each way to damage a file
        raise EntryRefused(
            f"{contest.weights} can't be read: write it with safetensors.torch.save_file, with numbers in float32."
        ) from None
    return checked(arrays, contest, contest.weights)


def checked(weights: Mapping[str, object], contest: Contest, where: str) -> dict[str, np.ndarray]:
    """Weights that may be anything, once they are known to be arrays, and few enough.

    Raises:
        Refused: when they aren't.
    """
    arrays = {name: array for name, array in weights.items() if isinstance(array, np.ndarray)}
    if len(arrays) < len(weights) or any(array.dtype.kind not in _KINDS for array in arrays.values()):
        raise EntryRefused(f"{where} holds something other than plain numbers, or far too many: use float32.")
    if len(arrays) > MAX_TENSORS:
        raise EntryRefused(f"{where} holds {len(arrays):,} tensors, and {MAX_TENSORS:,} are allowed.")
    most, size = contest.allowance.parameters, count(arrays)
    if size > most:
        raise EntryRefused(f"The model has {size:,} parameters, and {most:,} are allowed: make it smaller.")
    return {
        name: array.astype(np.float32) if array.dtype == np.float16 else np.ascontiguousarray(array)
        for name, array in arrays.items()
    }


def shared(arrays: Mapping[str, np.ndarray]) -> list[list[str]]:
    """The names of arrays that hold the same numbers, together: what several layers share has several names.

    Arrays of one number repeated, such as biases of zero, are the same by chance, and each stands alone.
    """
    names: dict[tuple[str, ...] | tuple[str, tuple[int, ...], bytes], list[str]] = {}
    for name, array in arrays.items():
        plain = array.size == 0 or bool((array == array.flat[0]).all())
        names.setdefault((name,) if plain else (str(array.dtype), array.shape, array.tobytes()), []).append(name)
    return list(names.values())


def count(arrays: Mapping[str, np.ndarray]) -> int:
    """How many numbers there are; those that several names share, once."""
    return sum(arrays[names[0]].size for names in shared(arrays))
