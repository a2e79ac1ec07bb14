"""What every plot of the course returns: a figure, and the same in words."""

import html
import io
from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure with its text alternative.

    As the last line of a cell (or handed to `display`) it shows the figure, and under it a line
    that unfolds into the same thing in words. Where there is no notebook, it prints the words.
    """

    figure: Figure
    text: str

    def __repr__(self) -> str:
        return self.text

    def png(self) -> bytes:
        """The figure as the bytes of a PNG file."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png")
        return buffer.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import display  # there is one wherever this is called

        image = {"image/png": self.png(), "text/plain": self.text}
        display(image, raw=True, metadata={"image/png": {"alt": self.text}})
        folded = f"<details><summary>In words</summary><pre>{html.escape(self.text)}</pre></details>"
        display({"text/html": folded, "text/plain": self.text}, raw=True)
