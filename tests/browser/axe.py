"""What axe-core finds on a page: texts that can't be read, pictures without words, buttons without names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOOKS = """() => {
  const grounds = new Map(), shown = new Map();
  const ground = element => {
    if (!element) return "";
    if (!grounds.has(element)) {
      const style = getComputedStyle(element);
      const { backgroundColor, backgroundImage, opacity, filter, position, mixBlendMode } = style;
      const own = [backgroundColor, backgroundImage, opacity, filter, position, mixBlendMode];
      grounds.set(element, `${own} on ${ground(element.parentElement)}`);
    }
    return grounds.get(element);
  };
  return [...document.body.querySelectorAll("*")].filter(element => {
    const text = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!(text || element.matches("input, select, textarea")) || !element.checkVisibility()) return false;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const look = `${[color, fontSize, fontWeight, textShadow]} on ${ground(element)}`;
    shown.set(look, (shown.get(look) ?? 0) + 1);
    return shown.get(look) <= 2;
  });
}"""
"""Of all texts with the same colours, letters and grounds, the first two: the contrast of the others is theirs."""

AXE = """async every => {
  const only = { resultTypes: ["violations"] };
  if (every) return (await axe.run(document, only)).violations;
  const contrast = "color-contrast";
  const others = await axe.run(document, { ...only, rules: { [contrast]: { enabled: false } } });
  const looks = await axe.run({ include: (%s)() }, { ...only, runOnly: [contrast] });
  return [...others.violations, ...looks.violations];
}"""


def violations(page: Page, *, every: bool = False) -> list[str]:
    """What axe finds on a page, of whatever weight; the contrast of each look or, which takes long, of `every` text."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(Axe().axe_script)
    report = page.evaluate(AXE % LOOKS, every)
    return [f"{violation['id']}: {node['html'][:200]}" for violation in report for node in violation["nodes"]]
