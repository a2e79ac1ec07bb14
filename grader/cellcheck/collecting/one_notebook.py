"""The one notebook in a file that somebody uploads: the notebook itself, or a zip file such as `submit` makes."""

from pathlib import Path
from tempfile import TemporaryDirectory

from cellcheck.collecting.downloads import DownloadReader
from cellcheck.collecting.file_names import is_notebook
from cellcheck.errors import GraderError

ZIP = b"PK\x03\x04"


def notebook_in(data: bytes) -> bytes:
    """The notebook's bytes. A zip file is read within the limits of one learner's.

    Raises:
        GraderError: for a zip file that can't be read, or that holds no notebook or several.
    """
    if not data.startswith(ZIP):
        return data
    with TemporaryDirectory() as folder:
        upload, spool = Path(folder, "upload"), Path(folder, "spool")
        upload.mkdir()
        spool.mkdir()
        (upload / "upload.zip").write_bytes(data)
        files = DownloadReader(spool).read(upload)
        notebooks = [one for one in files if is_notebook(one.name)]
        problem = next((one.problem for one in (*notebooks, *files) if one.problem), "")
        if len(notebooks) == 1 and not notebooks[0].problem:
            return notebooks[0].data
        if problem:
            raise GraderError(f"There is something wrong with the zip file. {problem}")
        raise GraderError(f"There are {len(notebooks) or 'no'} notebooks in the zip file, and there should be one.")
