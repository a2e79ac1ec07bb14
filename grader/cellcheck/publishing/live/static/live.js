// An exercise in a page: a text to write, and the real check. Python comes when somebody begins, not before.
"use strict";

for (const exercise of document.querySelectorAll(".live-exercise")) {
  const setup = JSON.parse(exercise.dataset.live);
  const text = exercise.querySelector("textarea");
  const [check, again] = exercise.querySelectorAll("button");
  const status = exercise.querySelector("[role=status]");
  const card = exercise.querySelector(".live-card");
  const released = text.value;
  const base = new URL(setup.base, document.baseURI).href;
  const key = `live ${setup.lesson} ${setup.symbol} ${setup.version}`;
  let worker, began, clock;

  const stored = (act) => {
    try { return act(localStorage); } catch { return null; } // a browser may keep nothing
  };
  text.value = stored((store) => store.getItem(key)) ?? released;
  exercise.querySelector(".live-tools").hidden = false;
  text.readOnly = false;

  const fit = () => { text.rows = Math.max(setup.rows, text.value.split("\n").length + 1); };
  fit();

  function end() {
    clearInterval(clock);
    check.textContent = "Check it";
    check.dataset.busy = "";
  }

  function stop(sentence) {
    worker?.terminate();
    worker = undefined;
    end();
    status.textContent = sentence;
  }

  function python() {
    if (worker) return worker;
    began = performance.now();
    worker = new Worker(new URL(setup.worker, document.baseURI));
    worker.onmessage = ({ data }) => told[data.kind](data);
    worker.onerror = () => stop("Python could not be loaded. Is there a network? Press the button to try again.");
    worker.postMessage(asked());
    return worker;
  }

  const asked = (more) => ({ base, packages: setup.packages, wheels: setup.wheels, ...more });
  const told = {
    stage({ stage }) {
      const loading = stage !== "your answer";
      status.textContent = loading ? `Loading ${stage} (${setup.size} in all, the first time only) …` : "Checking …";
    },
    ready() {
      if (check.dataset.busy) return;
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      status.textContent = `Python is here, after ${seconds} s. Nothing you write leaves this page.`;
    },
    verdict(said) {
      end();
      status.textContent = said.right ? "Right." : "Not yet: see below.";
      card.innerHTML = said.html; // what a visitor typed is escaped there, as in a notebook
      card.dataset.diagnosis = said.diagnosis ?? "";
      card.dataset.right = said.right;
    },
    failed({ why }) {
      stop(`Python stopped: ${why}. Press the button to try again.`);
    },
  };

  text.addEventListener("focus", python, { once: true });
  text.addEventListener("input", () => {
    stored((store) => store.setItem(key, text.value));
    fit();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      check.click();
    } else if (event.key === "Enter") {
      event.preventDefault(); // the next line begins below this one
      const line = text.value.slice(0, text.selectionStart).split("\n").pop();
      const deeper = line.trimEnd().endsWith(":") ? "    " : "";
      insert("\n" + line.match(/^ */)[0] + deeper);
    }
  });

  function insert(what) {
    if (document.execCommand?.("insertText", false, what)) return; // can be undone
    text.setRangeText(what, text.selectionStart, text.selectionEnd, "end");
    text.dispatchEvent(new Event("input"));
  }

  check.addEventListener("click", () => {
    if (check.dataset.busy) {
      stop("Stopped. The next check loads Python again.");
      return;
    }
    const there = python();
    check.dataset.busy = "yes";
    check.textContent = "Stop";
    there.postMessage(asked({ lesson: setup.lesson, symbol: setup.symbol, text: text.value }));
  });

  again.addEventListener("click", () => {
    stored((store) => store.removeItem(key));
    text.value = released;
    card.replaceChildren();
    fit();
    text.focus();
  });
}
