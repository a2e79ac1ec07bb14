// Opening a lesson: first all that Python needs comes into the browser's cache, and the page says how far it is.
"use strict";

for (const list of document.querySelectorAll(".run-here")) {
  const { base, files } = JSON.parse(list.dataset.files);
  const bar = list.querySelector("progress");
  const status = list.querySelector("[role=status]");
  const total = files.reduce((sum, [, size]) => sum + size, 0);
  const mega = (bytes) => (bytes / 1e6).toFixed(0);

  async function open(link) {
    let here = 0;
    bar.hidden = false;
    bar.max = total;
    const told = (name) => {
      bar.value = here;
      status.textContent = `Loading Python for ${link.textContent}: ${mega(here)} of ${mega(total)} MB (${name})`;
    };
    const waiting = [...files];
    const take = async () => {
      for (let file = waiting.shift(); file; file = waiting.shift()) {
        const [name] = file;
        told(name);
        const answer = await fetch(new URL(base + name, document.baseURI));
        if (!answer.ok) throw new Error(`${name} could not be loaded`);
        for (const reader = answer.body.getReader(); ;) {
          const { done, value } = await reader.read();
          if (done) break;
          here += value.length;
          told(name);
        }
      }
    };
    try {
      await Promise.all([take(), take(), take(), take()]);
      status.textContent = "Python is here. Opening the lesson …";
      location.href = link.href;
    } catch (error) {
      status.textContent = `${error.message}. Is there a network? Choose the lesson to try again.`;
    }
  }

  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-lesson]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab loads by itself
    event.preventDefault();
    open(link);
  });

  const asked = new URLSearchParams(location.search).get("open");
  const link = asked && list.querySelector(`a[data-lesson="${CSS.escape(asked)}"]`);
  if (link) {
    history.replaceState(null, "", location.pathname); // who comes back does not open it again
    open(link);
  }
}
