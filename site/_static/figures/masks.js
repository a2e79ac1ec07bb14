/* A mask to paint. What is said to a known mistake is what the grader says. */
(() => {
  const figure = document.getElementById("touch-masks");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const length = data.reads.length;
  const says = figure.querySelector(".says");
  const known = Object.values(data.known);
  let mask = [...data.right];

  const cells = [...figure.querySelectorAll("tbody tr")].flatMap((row, i) => [...row.querySelectorAll("td")].slice(0, length).map((cell, j) => {
    cell.innerHTML = '<button type="button"></button>';
    const button = cell.firstChild;
    button.addEventListener("click", () => { mask[i * length + j] = mask[i * length + j] === "1" ? "0" : "1"; draw(); });
    button.addEventListener("keydown", event => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!step) return;
      event.preventDefault();
      const [to, across] = [i + step[0], j + step[1]];
      if (Math.min(to, across) >= 0 && Math.max(to, across) < length) {
        cells.forEach(cell => { cell.tabIndex = -1; });
        cells[to * length + across].tabIndex = 0;
        cells[to * length + across].focus();
      }
    });
    button.tabIndex = i + j ? -1 : 0;
    return button;
  }));

  const controls = figure.querySelector(".controls");
  const presets = [["causal", data.right], ...Object.entries(data.presets).map(([name, words]) => [words, data.known[name].mask])];
  for (const [words, painted] of presets) {
    const button = Object.assign(document.createElement("button"), {type: "button", textContent: words});
    button.addEventListener("click", () => { mask = [...painted]; draw(); });
    controls.append(button);
  }

  /** What somebody should hear of a mask. */
  function verdict(painted) {
    if (painted === data.right) return "The causal mask: each position sees itself and what came before.";
    const mistake = known.find(one => one.mask === painted);
    if (mistake) return mistake.advice;
    const sees = (i, j) => painted[i * length + j] === "1";
    const all = [...data.reads.keys()];
    const cheat = all.find(i => i + 1 < length && sees(i, i + 1));
    if (cheat !== undefined) return `A leak: the position that reads ${data.reads[cheat]} also sees ${data.reads[cheat + 1]}, the very token it has to say.`;
    if (all.some(i => all.some(j => j > i && sees(i, j)))) return "A leak: some position sees a token from further ahead.";
    const blind = all.find(i => !all.some(j => sees(i, j)));
    if (blind !== undefined) return `The position that reads ${data.reads[blind]} sees nothing at all.`;
    return "No leak, but some position misses something that it may see.";
  }
  figure.verdict = verdict;

  function draw() {
    cells.forEach((button, at) => {
      const [i, j] = [Math.floor(at / length), at % length];
      const row = mask.slice(i * length, (i + 1) * length);
      const share = mask[at] === "1" ? 1 / row.filter(entry => entry === "1").length : 0;
      button.setAttribute("aria-pressed", mask[at] === "1");
      button.setAttribute("aria-label", `${data.reads[i]} looks at ${data.reads[j]}`);
      button.textContent = share ? share.toFixed(2).replace(/\.00$/, "") : "–";
      button.style.setProperty("--share", share);
      button.classList.toggle("leak", share > 0 && j > i);
    });
    says.textContent = verdict(mask.join(""));
  }
  figure.classList.add("ready");
  draw();
})();
