"""Pictures that move: a few frames as a GIF that runs once and stays at its end, with a static twin under it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.plots.picture import Picture
from transformer_course.plots.style import CARD, FAINT, FRAME, INK, drawing

PALE, LIT, DONE = "#eef1f4", "#cfe3f2", "#e4e2da"


@dataclass(frozen=True)
class Moving:
    """Frames, one after the other, and the static picture that holds all of them.

    A notebook shows the frames as a GIF, which every notebook can play, and the static twin below it. Where there is
    no notebook, it prints the twin's words.
    """

    frames: Sequence[Figure]
    twin: Picture

    def __repr__(self) -> str:
        return self.twin.text

    def gif(self, milliseconds: int = 900) -> bytes:
        """The frames as the bytes of a GIF file that runs once; the last frame stays."""
        from PIL import Image  # comes with matplotlib

        images = []
        for frame in self.frames:
            buffer = io.BytesIO()
            frame.savefig(buffer, format="png")
            images.append(Image.open(buffer).convert("RGB").quantize(48, dither=Image.Dither.NONE))
        result = io.BytesIO()
        images[0].save(result, format="GIF", save_all=True, append_images=images[1:], duration=milliseconds)
        return result.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        words = f"An animation; the picture below it shows the same, all steps at once.\n{self.twin.text}"
        image = {"image/gif": self.gif(), "text/plain": words}
        display(image, raw=True, metadata={"image/gif": {"alt": words}})
        display(self.twin)


def decoding_steps(sources: Sequence[str], written: Sequence[str], *, end: str = ".", title: str = "") -> Moving:
    """Answers that grow by a token a step, a row each; a row that has ended is padded, and waits for the others.

    `written` holds the answers as texts, with their end mark and padding, all of one length.

    >>> decoding_steps(["ab", "c"], ["ba.", "c._"])
    step by step: source, then one token a step
    ab: b a . (ends at step 3)
    c: c . _ (ends at step 2)
    """
    columns = max(len(row) for row in written)
    ends = [row.index(end) + 1 if end in row else None for row in written]
    frames = [_grid(sources, written, ends, step, columns, end, title) for step in range(columns + 1)]
    words = [title or "step by step: source, then one token a step"]
    for source, row, place in zip(sources, written, ends, strict=True):
        words.append(f"{source}: {' '.join(row)} ({f'ends at step {place}' if place else 'is cut off'})")
    return Moving(frames, Picture(frames[-1], "\n".join(words)))


def _grid(
    sources: Sequence[str],
    written: Sequence[str],
    ends: Sequence[int | None],
    step: int,
    columns: int,
    end: str,
    title: str,
) -> Figure:
    left = 0.5 + 0.45 * max(len(source) for source in sources)
    with drawing(1.0 + 0.45 * (left + columns), 1.1 + 0.45 * len(sources)) as (figure, (axes,)):
        axes.set_xlim(0, left + columns + 0.2)
        axes.set_ylim(len(sources) + 0.15, -0.75)
        axes.set_axis_off()
        axes.set_title(title or f"step {step}")
        for column in range(columns):
            axes.text(left + column + 0.5, -0.35, str(column + 1), ha="center", va="center", size=9, color="#5c616a")
        for row, (source, answer) in enumerate(zip(sources, written, strict=True)):
            axes.text(left - 0.3, row + 0.5, source, ha="right", va="center", family="DejaVu Sans Mono")
            for column, token in enumerate(answer):
                over = ends[row] is not None and column >= int(np.asarray(ends[row]))
                shown = column < step
                new = column == step - 1 and not over
                colour = LIT if new else DONE if shown and over else PALE if shown else CARD
                edge, width = (FRAME, 2.0) if shown and token == end else (FAINT, 0.8)
                axes.add_patch(
                    Rectangle((left + column + 0.05, row + 0.05), 0.9, 0.9, facecolor=colour, edgecolor=edge, lw=width)
                )
                if shown:
                    axes.text(left + column + 0.5, row + 0.5, token, ha="center", va="center", color=INK)
    return figure
