/* The front page works without this: it lets one choose between slips, and between light and dark. */
for (const slips of document.querySelectorAll(".slips")) {
  const list = slips.querySelector("[role=tablist]");
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const choose = (chosen, focus) => {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) chosen.focus();
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const here = tabs.indexOf(tab), last = tabs.length - 1;
      const to = { ArrowRight: here === last ? 0 : here + 1, ArrowLeft: here === 0 ? last : here - 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(tabs[to], true);
    });
  }
  list.hidden = false;
  slips.classList.add("live");
}

const button = document.querySelector("button.mode");
const root = document.documentElement;
const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const say = () => button.setAttribute("aria-pressed", dark());
button.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  try { for (const key of ["mode", "theme"]) localStorage.setItem(key, root.dataset.theme); } catch {}
  say();
});
button.hidden = false;
say();
