"""Draws the two pictures that stand for the course elsewhere, the README's and the one that a link's preview shows; and
for instructors the page about a class.

    python -m environment.pictures    # or: make pictures

The two show an answer with a slip and the card that the grader makes of it, as the front page does. The class is made
up; its answers are known mistakes, and what comes of them is real. All are drawn by a browser (Chromium) and are
committed. What stands on each is written into its file, and a test holds it to that.
"""

from __future__ import annotations

import html
import io
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from cellcheck.checking.cards import plain
from cellcheck.checking.check import Checker
from cellcheck.checking.judge import Verdict
from cellcheck.exporting import Mark
from cellcheck.gradebook.feedback import titled
from cellcheck.publishing.front import Slip
from cellcheck.reporting.class_page import page
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson
from cellcheck.tables import mistakes
from transformer_course.lessons import TITLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
STYLE = (ROOT / "site" / "_static" / "front.css").as_uri()
README, PREVIEW = ROOT / "docs" / "card.png", ROOT / "site" / "_static" / "preview.png"
CLASS = ROOT / "docs" / "class.png"
LEARNERS = 24
MISTAKE = ("05_causal_masks", "causal_mask", "one_step_too_far")
KEPT = "card"
"""Under this name a picture keeps what its card says."""
CLAIM = "Build a Transformer. Be told exactly what's wrong."
COLOURS = 96
_PAGE = """<!DOCTYPE html><html data-theme="light"><meta charset="utf-8">
<link rel="stylesheet" href="{style}">
<style>body {{ padding: {padding}; }} .panels {{ margin: 0; box-shadow: none; }} h1 {{ font-size: 3.2rem; }}
.preview {{ display: grid; align-items: center; grid-template-columns: 27rem 1fr; gap: 3rem; padding: 0 3.5rem;
width: 1200px; height: 630px; }}</style>
{body}</html>"""


def said() -> str:
    """What the card on the pictures says."""
    lesson, symbol, name = MISTAKE
    (mistake,) = [mistake for mistake in load_lesson(lesson)[symbol].mistakes if mistake.name == name]
    return plain(Checker(lesson).verdict(symbol, mistake.implementation))


def class_results() -> dict[str, Result]:
    """A class whose learners got further or less far, each with a known mistake now and then."""
    lesson, checker = load_lesson(MISTAKE[0]), Checker(MISTAKE[0])
    judged: dict[tuple[str, int], Verdict] = {}
    results = {}
    for learner in range(LEARNERS):
        verdicts = []
        for turn, exercise in enumerate(lesson.exercises):
            made = (5 * learner + 3 * turn) % 7 - (0 if learner < LEARNERS / 4 else 4)
            made = min(max(made, 0), 3, len(exercise.mistakes))  # 0: all is right
            if (exercise.symbol, made) not in judged:
                right = next(iter(exercise.variants.values()))
                answers = [right, *(mistake.implementation for mistake in exercise.mistakes)]
                judged[exercise.symbol, made] = checker.verdict(exercise.symbol, answers[made])
            verdicts.append(judged[exercise.symbol, made])
        results[f"learner {learner + 1}"] = Result("", lesson.name, tuple(verdicts), (), 0.0)
    return results


def class_page() -> str:
    """The page about that class."""
    results, begin = class_results(), datetime(2026, 3, 1, 8)
    marks = [
        Mark(name, "", "", "", "", result.max_score, result.score, submitted=begin + timedelta(hours=place**2 / 9))
        for place, (name, result) in enumerate(results.items())
    ]
    return page(titled(MISTAKE[0]), marks, results, load_lesson(MISTAKE[0]), begin + timedelta(hours=48))


def said_of_the_class() -> str:
    """What stands on the picture of the class: how often each mistake was made."""
    made = mistakes(class_results(), load_lesson(MISTAKE[0]))
    return "\n".join(f"{each.title}, {each.mistake}: {len(each.who)}" for each in made)


def draw() -> None:
    """Draws them all."""
    from playwright.sync_api import sync_playwright

    slip = Slip.of(*MISTAKE)
    panel = (
        f'<div class="panels"><div class="slip"><pre class="answer"><code>{slip.code}</code></pre>'
        f'<p class="checked"><code>check({slip.symbol})</code></p>{slip.card}</div></div>'
    )
    front = f'<div class="preview"><div><h1>{html.escape(CLAIM)}</h1><p>{html.escape(TITLE)}</p></div>{panel}</div>'
    kept = PngInfo()
    kept.add_text(KEPT, said())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for path, body, size, scale in ((README, panel, (640, 400), 2), (PREVIEW, front, (1200, 630), 1)):
            sheet = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=scale)
            file = ROOT / "site" / "_static" / "picture.html"  # a page of its own, or the browser reads no style sheet
            padding = "0" if path == PREVIEW else "8px"
            file.write_text(_PAGE.format(style=STYLE, padding=padding, body=body), "utf-8")
            sheet.goto(file.as_uri())
            drawn = Image.open(io.BytesIO(sheet.screenshot(full_page=path == README))).convert("RGB")
            drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(path, "PNG", optimize=True, pnginfo=kept)
            file.unlink()
        _draw_class(browser)
        browser.close()


def _draw_class(browser: Browser) -> None:
    kept = PngInfo()
    kept.add_text(KEPT, said_of_the_class())
    sheet = browser.new_page(viewport={"width": 960, "height": 1000})
    sheet.set_content(class_page())
    drawn = Image.open(io.BytesIO(sheet.screenshot())).convert("RGB")
    drawn.quantize(48, dither=Image.Dither.NONE).save(CLASS, "PNG", optimize=True, pnginfo=kept)


if __name__ == "__main__":
    draw()
