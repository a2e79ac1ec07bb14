"""A notebook in JupyterLab, as a person uses it: find a cell, write into it, run it, look at what comes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Browser, Locator, Page, expect

SECONDS = 1000
expect.set_options(timeout=300 * SECONDS)  # two busy cores may take their time
PATIENCE = (20, 60, 300)
"""Seconds to wait for what an action does, before it is done again: it may be lost while a page still opens."""

RAN = re.compile(r"^\[\d+\]:$")
A_KERNEL = re.compile(r"^(?!\s*(No Kernel)?\s*$)")

# The lowest contrast between a text and what is painted behind it, with the text, of all texts within an element.
CONTRAST = """root => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const behind = element => { for (let e = element; e; e = e.parentElement) {
    const ground = rgba(getComputedStyle(e).backgroundColor); if (ground[3] === 255) return ground; }
    return rgba('Canvas'); };
  let worst = [21, ''];
  for (const e of [root, ...root.querySelectorAll('*')]) {
    const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join('').trim();
    if (!text || !e.checkVisibility() || ['STYLE', 'SCRIPT', 'TITLE'].includes(e.tagName)) continue;
    const [a, b] = [luminance(rgba(getComputedStyle(e).color)), luminance(behind(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < worst[0]) worst = [contrast, text];
  }
  return worst;
}"""


@dataclass(frozen=True)
class Notebook:
    """A notebook that is open on a page."""

    page: Page

    @classmethod
    def on(cls, page: Page) -> Notebook:
        """The notebook on this page, once its cells and its kernel are there.

        Before they are, JupyterLab shows one empty cell, and calls the kernel that it hasn't got idle.
        """
        expect(page.locator(".jp-Notebook .jp-Cell").nth(1)).to_be_attached(timeout=300 * SECONDS)
        expect(page.locator(".jp-KernelName")).to_have_text(A_KERNEL, timeout=300 * SECONDS)
        expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
            "data-status", "idle", timeout=300 * SECONDS
        )
        _unfold(page.locator(".jp-CodeCell").first)
        return cls(page)

    def cell(self, text: str) -> Locator:
        """The first code cell that holds a text."""
        return self.page.locator(".jp-CodeCell", has=self.page.locator(".jp-InputArea-editor", has_text=text)).first

    def write(self, text: str, source: str) -> Locator:
        """Replaces what stands in a cell."""
        cell = self.cell(text)
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(source)
        return cell

    def run(self, text: str) -> Locator:
        """Runs a cell, and gives it back when it is done."""
        cell = self.cell(text)

        def press() -> None:
            cell.scroll_into_view_if_needed()
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")

        self._until_it_runs(cell, press)
        expect(cell.locator(".jp-InputPrompt")).to_have_text(RAN, timeout=300 * SECONDS)
        return cell

    def run_all(self) -> None:
        """Chooses Run > Run All Cells, and waits until nothing runs any more."""
        self._until_it_runs(self.page.locator(".jp-CodeCell").first, lambda: self.menu("Run", "Run All Cells"))
        expect(self.page.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(0, timeout=300 * SECONDS)

    def _until_it_runs(self, cell: Locator, act: Callable[[], None]) -> None:
        """Does it again where nothing happened: a notebook that has just opened may take the focus away."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        _until(act, lambda seconds: expect(prompt).not_to_have_text(before, timeout=seconds * SECONDS))

    def save(self) -> None:
        """Saves the notebook, and waits until it is saved."""
        self.page.keyboard.press("ControlOrMeta+S")
        expect(self.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")).to_have_count(0, timeout=300 * SECONDS)

    def menu(self, *names: str) -> None:
        """Chooses an entry of the menu bar, as in `menu("Run", "Run All Cells")`."""
        self.page.get_by_role("menuitem", name=names[0], exact=True).click()
        for name in names[1:]:
            self.page.get_by_role("menuitem", name=name, exact=True).click()


def _unfold(cell: Locator) -> None:
    """Opens a cell of which JupyterLab shows one line, as the set-up cell: only then it says when it has run."""
    folded, shown = cell.locator(".jp-Placeholder-content"), cell.locator(".jp-InputArea-editor")
    expect(folded.or_(shown).first).to_be_visible(timeout=300 * SECONDS)

    def unfold() -> None:
        if folded.count():
            folded.click()

    _until(unfold, lambda seconds: expect(shown).to_be_visible(timeout=seconds * SECONDS))


def _until(act: Callable[[], None], happens: Callable[[int], None]) -> None:
    """Acts, and again where nothing happened within so many seconds."""
    for seconds in PATIENCE:
        act()
        try:
            happens(seconds)
            return
        except AssertionError:
            if seconds == PATIENCE[-1]:
                raise


def new_page(browser: Browser) -> Page:
    """A page that JupyterLab opens afresh: no tab of an earlier page comes back and is taken for the one meant."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(300 * SECONDS)
    page.route(
        "**/lab/api/workspaces/**",
        lambda route: route.continue_() if route.request.method == "GET" else route.fulfill(status=204),
    )
    return page


def worst_contrast(element: Locator) -> tuple[float, str]:
    """The lowest contrast of a text with its ground in an element, and that text."""
    contrast, text = element.evaluate(CONTRAST)
    return float(contrast), str(text)
