"""A verdict as a card (HTML) and as plain lines. The same card stands in the notebook and on the feedback page.

Styles are written into the elements, since a notebook keeps no style sheet; every colour has a sign beside it. The
card goes dark where the page says that it is dark, as JupyterLab does; elsewhere it brings its own light ground.
"""

import html
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellcheck.authoring.arrays import is_array, numbers
from cellcheck.checking.compare import near
from cellcheck.checking.judge import (
    FAILED,
    MISSING,
    PARTIAL,
    PASSED,
    AspectResult,
    Evidence,
    Verdict,
    is_ours,
    paragraphs,
)
from cellcheck.checking.words import kind_of, place

MAX_ROWS, MAX_COLUMNS = 8, 8
MAX_TEXT = 300

Tone = tuple[str, str]
"""A colour on light pages, and on dark ones."""

_GOOD, _BAD = ("#1b6e4a", "#6fcf9f"), ("#a02c2c", "#ff9b93")
_LOOK = {
    PASSED: (_GOOD, ("#eef7f2", "#17261e"), "Right"),
    PARTIAL: (("#8a5a00", "#e3b341"), ("#fdf6e7", "#292314"), "Partly right"),
    MISSING: (("#4a5568", "#a9b1bd"), ("#f3f4f6", "#23272e"), "Still blank"),
}
_OURS = (*_LOOK[MISSING][:2], "Ours")
_WRONG = (_BAD, ("#fcf1f0", "#2d1c1c"), "Not yet")
_INK = ("#1f2328", "#e8e6e1")
_GREY = ("#57606a", "#b3b1ac")
_BARE = ' style="background:none"'


def _paint(what: str, tone: Tone, before: str = "") -> str:
    """A style that follows the page; a browser that does not know `light-dark` keeps the first half."""
    light, dark = tone
    return f"{what}:{before}{light};{what}:{before}light-dark({light},{dark})"


_INKED = _paint("color", _INK)
_CODE = re.compile(r"`([^`\n]+)`")


def points(score: float) -> str:
    """3.0 is "3", 1.25 is "1.25"."""
    return f"{score:g}"


def worth(score: float) -> str:
    """ "1 point", "1.25 points"."""
    return f"{points(score)} point{'' if score == 1 else 's'}"


def out_of(score: float, most: float) -> str:
    """ "0.27 of 1 point": the number is the gradebook's, and not a share, so that the two can be compared."""
    return f"{points(score)} of {worth(most)}"


@dataclass(frozen=True)
class Standing:
    """What of an answer that isn't right is worth telling: one thing that is wrong, and what stands already."""

    right: tuple[str, ...] = ()
    """The aspects that hold, as far as they could be looked at."""
    wrong: AspectResult | None = None
    """The one that the message tells of, else the first that fails, the core of the exercise before the rest. None
    where the message says what is wrong: whatever else fails follows from that, or may."""
    later: tuple[str, ...] = ()
    """What else fails. Nobody can say why before that one is right."""
    waits: bool = False
    """Whether the core is among what fails: nothing else can be judged before that."""
    dear: tuple[str, ...] = ()
    """What fails and costs at least half of the points."""

    @property
    def lines(self) -> list[str]:
        """What is told in passing."""
        right = f"Right already: {_listed(self.right)}." if self.right else ""
        later = f"{'Not judged yet' if self.waits else 'Next'}: {_listed(self.later)}."
        dear = f"At least half of the points depend on: {_listed(self.dear)}." if self.dear else ""
        return [line for line in (dear, right, later if self.later else "") if line]


def _listed(names: tuple[str, ...]) -> str:
    """Names of aspects, one after the other; a name may have a comma of its own ("all padding, or none")."""
    return ("; " if any("," in name for name in names) else ", ").join(names)


def standing(verdict: Verdict) -> Standing:
    """What a card says of an answer's aspects, beside its message."""
    if verdict.status not in (PARTIAL, FAILED):  # it is right, or it never got so far that anything could be looked at
        return Standing()
    right = tuple(aspect.name for aspect in verdict.aspects if aspect.passed and aspect.seen)
    dear = tuple(aspect.name for aspect in verdict.aspects if aspect.central and not aspect.passed)
    if verdict.diagnosis or verdict.patients:
        return Standing(right, dear=dear)
    failing = sorted(
        (aspect for aspect in verdict.aspects if not aspect.passed),
        key=lambda aspect: (not aspect.told, not aspect.core),
    )
    if not failing:
        return Standing(right)
    unseen = [aspect for aspect in verdict.aspects if aspect.passed and not aspect.seen]
    later = tuple(aspect.name for aspect in (*failing[1:], *unseen))
    return Standing(right, failing[0], later, any(aspect.core for aspect in failing), dear)


def _look(verdict: Verdict) -> tuple[Tone, Tone, str]:
    """Accent, ground and title. Partly right is what has half of the points."""
    if is_ours(verdict):
        return _OURS
    nearly = verdict.status != PARTIAL or 2 * verdict.score >= verdict.max_score
    return _LOOK.get(verdict.status, _WRONG) if nearly else _WRONG


def plain(verdict: Verdict) -> str:
    """The card as lines of text."""
    title = _look(verdict)[2]
    lines = [f"{verdict.symbol}: {title.lower()}, {out_of(verdict.score, verdict.max_score)}"]
    if verdict.status != PASSED:
        lines += [f"  {paragraph}" for paragraph in paragraphs(verdict.message)]
    if verdict.status == PASSED:
        lines += [f"  [x] {aspect.name}" for aspect in verdict.aspects]
    stands = standing(verdict)
    if stands.wrong is not None:
        lines.append(f"  [ ] {_asked_for(stands.wrong)}")
    lines += [f"  {line}" for line in (_company(verdict), *stands.lines) if line]
    if verdict.printed:
        lines.append(f"  It printed: {verdict.printed}")
    return "\n".join(lines)


def card(verdict: Verdict) -> str:
    """The card as one self-contained HTML element, readable on light and dark pages."""
    accent, ground, title = _look(verdict)
    sign = {"Right": "&#10003;", "Still blank": "&#9675;", "Ours": "&#9675;"}.get(title, "&#9656;")
    parts = [
        f'<div style="font-weight:600;{_paint("color", accent)}">{sign} {title}'
        f' <span style="{_INKED};font-weight:400">&nbsp;<code style="background:none;{_INKED}">'
        f"{html.escape(verdict.symbol)}</code>&nbsp; "
        f"{out_of(verdict.score, verdict.max_score)}</span></div>"
    ]
    if verdict.status not in (MISSING, PASSED):
        parts += [
            f'<p style="margin:8px 0;max-width:42em;font-size:16px;line-height:1.45;overflow-wrap:anywhere">'
            f"{_prose(paragraph)}</p>"
            for paragraph in paragraphs(verdict.message)
        ]
    if verdict.status == MISSING:
        parts.append(f'<div style="margin-top:4px">{_prose(verdict.message)}</div>')
    elif verdict.status == PASSED:
        parts.append(_held(verdict))
    else:
        parts.append(_standing(standing(verdict), _company(verdict)))
    if verdict.evidence is not None:
        parts.append(_evidence(verdict.evidence))
    if verdict.printed:
        parts.append(
            f'<details style="margin-top:8px"><summary>What it printed</summary>'
            f'<pre tabindex="0" style="{_INKED};background:none;overflow-x:auto">'
            f"{html.escape(verdict.printed)}</pre></details>"
        )
    # What learners wrote may hold dollar signs: the classes tell MathJax, old and new, that they aren't formulas.
    return (
        f'<div role="group" class="tex2jax_ignore mathjax_ignore" '
        f'aria-label="{title}: {html.escape(verdict.symbol)}" style="'
        f"{_paint('border-left', accent, '4px solid ')};{_paint('background', ground)};{_INKED};"
        f"padding:10px 14px;border-radius:4px;margin:4px 0;font-family:system-ui,sans-serif;"
        f'font-size:14px;line-height:1.5">{"".join(parts)}</div>'
    )


def _prose(text: str) -> str:
    """Sentences; what stands between backticks is code."""
    return _CODE.sub(rf'<code style="background:none;{_INKED}">\1</code>', html.escape(text))


def _company(verdict: Verdict) -> str:
    """That others made the same mistake."""
    project = verdict.reported_in
    return f"You're in good company: the same slip has been reported in {project}." if project else ""


def _asked_for(aspect: AspectResult) -> str:
    return f"{aspect.name}. What is asked for: {aspect.meaning}" if aspect.meaning else aspect.name


def _held(verdict: Verdict) -> str:
    """A sign and a name for each aspect of a right answer. What a name means is shown on hover."""
    return f'<div style="margin-top:6px">{"".join(map(_sign, verdict.aspects))}</div>' if verdict.aspects else ""


def _sign(aspect: AspectResult) -> str:
    sign, tone, state = ("&#10003;", _GOOD, "holds") if aspect.passed else ("&#10007;", _BAD, "fails")
    name, meaning = html.escape(aspect.name), html.escape(aspect.meaning)
    hover = f' title="{meaning}"' if meaning else ""
    return (
        f'<span style="display:inline-block;margin:2px 14px 2px 0"{hover}><span style="{_paint("color", tone)}" '
        f'role="img" aria-label="{state}">{sign}</span> {name}</span>'
    )


def _standing(stands: Standing, company: str) -> str:
    wrong = ""
    if stands.wrong is not None:
        meaning = f" What is asked for: {html.escape(stands.wrong.meaning)}" if stands.wrong.meaning else ""
        wrong = f'<div style="margin-top:6px;font-size:13px">{_sign(stands.wrong)}{meaning}</div>'
    grey = "".join(f"<div>{html.escape(line)}</div>" for line in (company, *stands.lines) if line)
    return wrong + (f'<div style="margin-top:6px;font-size:13px;{_paint("color", _GREY)}">{grey}</div>' if grey else "")


def _evidence(evidence: Evidence) -> str:
    tables = _tables(evidence.expected, evidence.got)
    if not tables:
        return ""
    beside = [(name, value, _numbers(value)) for name, value in evidence.beside.items()]
    tables += "".join(
        _box(name, _text(value)) if entries is None or not entries.size else _table(name, entries, None)
        for name, value, entries in beside
    )
    what = html.escape(f"{evidence.called or place(evidence.path)}, seen {evidence.label}")
    return (
        f'<div style="margin-top:10px"><div style="font-size:13px">{what[:1].upper()}{what[1:]}:</div>'
        f'<div tabindex="0" style="display:flex;flex-wrap:wrap;gap:24px;overflow-x:auto">{tables}</div></div>'
    )


def _tables(expected: Any, got: Any) -> str:
    left, right = _numbers(expected), _numbers(got)
    if left is None and _fractions(expected) is not None and _fractions(got) is not None:
        left, right = _fractions(expected), _fractions(got)
    if left is None and isinstance(expected, str | list | tuple | dict) and _is_plain(expected):
        return _box("expected", _text(expected)) + _box("yours", _text(got))
    if left is None or left.size == 0:
        return ""
    if right is None or right.size == 0:
        return _table("expected", left, None) + _box("yours", html.escape(kind_of(got)))
    if left.shape != right.shape:
        return _table("expected", left, None) + _table("yours", right, None)
    wrong = ~near(left, right)
    chosen = _slice(wrong)
    # Cells as wide as the widest of both: the eye goes from one to the other.
    width = max(_widest(left, chosen), _widest(right, chosen))
    return _table("expected", left, None, chosen, width) + _table("yours", right, wrong, chosen, width)


def _widest(entries: np.ndarray, chosen: tuple[int, ...]) -> int:
    """How many letters the longest of the numbers has that a table shows."""
    shown = np.atleast_2d(entries[chosen] if entries.ndim > 2 else entries)[:MAX_ROWS, :MAX_COLUMNS]
    return max((len(f"{number:.3g}") for number in shown.flatten()), default=0)


def _is_plain(value: Any) -> bool:
    """Text, numbers and lists of those: what reads well as Python writes it."""
    if isinstance(value, dict):
        return all(_is_plain(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float)


def _text(value: Any) -> str:
    written = repr(value) if _is_plain(value) and value is not None else kind_of(value)
    written = written if len(written) <= MAX_TEXT else f"{written[:MAX_TEXT]} ..."
    return f'<code style="background:none;{_INKED};overflow-wrap:anywhere">{html.escape(written)}</code>'


def _numbers(value: Any) -> np.ndarray | None:
    return numbers(value).astype(np.float64) if is_array(value) else None


def _fractions(value: Any) -> np.ndarray | None:
    """A list of fractions, or of such lists of one length: as Python writes them, one gets lost in the digits."""
    rows = value if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple) else [value]
    regular = all(isinstance(row, list | tuple) and len(row) == len(rows[0]) > 0 for row in rows)
    if not regular or not all(isinstance(number, float) for row in rows for number in row):
        return None
    return np.array(value, dtype=np.float64)


def _slice(wrong: np.ndarray) -> tuple[int, ...]:
    """Which matrix of a stack of matrices to show: the first with something wrong in it."""
    if wrong.ndim <= 2 or not wrong.any():  # the numbers may agree where only the dtype does not
        return ()
    return tuple(int(i) for i in np.argwhere(wrong)[0][:-2])


def _table(
    title: str, entries: np.ndarray, wrong: np.ndarray | None, chosen: tuple[int, ...] = (), width: int = 0
) -> str:
    shape = entries.shape
    if entries.ndim > 2 and not chosen:
        chosen = (0,) * (entries.ndim - 2)
    if entries.ndim <= 2:
        chosen = ()
    matrix = entries[chosen] if chosen else entries
    marks = None if wrong is None else (wrong[chosen] if chosen else wrong)
    matrix = matrix.reshape(1, -1) if matrix.ndim < 2 else matrix
    marks = None if marks is None else marks.reshape(matrix.shape)
    finite = np.abs(matrix[np.isfinite(matrix)])
    largest = float(finite.max()) if finite.size else 1.0
    rows = []
    for i in range(min(matrix.shape[0], MAX_ROWS)):
        cells = [
            _cell(float(matrix[i, j]), largest, marks is not None and bool(marks[i, j]), width)
            for j in range(min(matrix.shape[1], MAX_COLUMNS))
        ]
        more = "<td>&hellip;</td>" if matrix.shape[1] > MAX_COLUMNS else ""
        rows.append(f"<tr{_BARE}>{''.join(cells)}{more}</tr>")
    if matrix.shape[0] > MAX_ROWS:
        rows.append(f"<tr{_BARE}><td>&hellip;</td></tr>")
    index = f", entry {list(chosen)}" if chosen else ""
    title = f"{title} {shape}{index}"
    return _box(
        title,
        f'<table aria-label="{html.escape(title)}" '
        f'style="border-collapse:separate;border-spacing:2px;margin:0;{_INKED}">{"".join(rows)}</table>',
    )


def _cell(number: float, largest: float, wrong: bool, width: int) -> str:
    """A number on its shade; a wrong one has a frame as well, and a cross in its corner."""
    strength = min(abs(number) / largest, 1.0) if np.isfinite(number) and largest else 0.0
    hue = (0, 114, 178) if number >= 0 else (213, 94, 0)
    # Opaque: a notebook paints table rows of its own. A dark ground bears more of the hue before its ink gets faint.
    ground = (_mixed(hue, (255, 255, 255), 0.06 + 0.36 * strength), _mixed(hue, (38, 41, 46), 0.06 + 0.5 * strength))
    frame = _paint("border", _BAD, "2px solid ") if wrong else "border:2px solid transparent"
    cross = '<span style="position:absolute;top:-3px;right:1px;font-size:11px;font-weight:700"> &#10007;</span>'
    text = f"{number:.3g}".replace("-", "&minus;") + (cross if wrong else "")
    least = f";min-width:{width}ch" if width else ""
    return (
        f'<td style="{_paint("background", ground)};{frame};padding:2px 10px;position:relative{least};'
        f'text-align:right;font-variant-numeric:tabular-nums;font-size:13px">{text}</td>'
    )


def _mixed(hue: tuple[int, int, int], ground: tuple[int, int, int], share: float) -> str:
    """A colour that is `share` hue and the rest ground."""
    return "#" + "".join(f"{round(base + (tone - base) * share):02x}" for tone, base in zip(hue, ground, strict=True))


def _box(title: str, content: str) -> str:
    return f'<div><div style="font-size:12px;margin:6px 0 2px">{html.escape(title)}</div>{content}</div>'
