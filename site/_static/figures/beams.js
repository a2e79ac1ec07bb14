/* The steps that the course's own beam search took, one after the other. */
(() => {
  const figure = document.getElementById("touch-beams");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const says = figure.querySelector(".says");
  const drawn = [...figure.querySelectorAll("svg [data-text]")];
  const body = figure.querySelector("tbody");
  const head = figure.querySelector("thead th:last-child");
  const controls = figure.querySelector(".controls");
  controls.innerHTML = `<fieldset><legend>Beams</legend>${Object.keys(data.widths).map(width =>
    `<label><input type="radio" name="beams" value="${width}"${width === "2" ? " checked" : ""}> ${width}</label>`).join("")}</fieldset>
    <button type="button" data-by="-1">Step back</button> <button type="button" data-by="1">Next step</button>`;
  const [back, next] = controls.querySelectorAll("button");
  let width = "2", at = 0;
  const code = text => `<code>${text}</code>`;
  const chance = text => data.chances[text].toFixed(2);

  function draw() {
    const {steps, answer} = data.widths[width];
    const past = steps.slice(0, at);
    const made = new Set(["", ...past.flatMap(step => step.made)]);
    const kept = new Set(["", ...past.flatMap(step => step.kept)]);
    const now = new Set(at ? past[at - 1].kept : [""]);
    for (const group of drawn) {
      const text = group.dataset.text;
      group.classList.toggle("unseen", !made.has(text));
      group.classList.toggle("dropped", made.has(text) && !kept.has(text));
      group.classList.toggle("kept", kept.has(text));
      group.classList.toggle("now", now.has(text));
      group.classList.toggle("answer", at === steps.length && text === answer);
    }
    head.textContent = width === "1" ? "the best is kept" : `the ${width} best are kept`;
    body.innerHTML = steps.map((step, place) => `<tr${place < at ? "" : ' class="unseen"'}><th scope="row">step ${place + 1}</th>
      <td>${step.made.map(text => `${code(text)} ${chance(text)}`).join(", ")}</td>
      <td>${step.kept.map(text => code(text) + (step.ended.includes(text) ? " (ended)" : "")).join(", ")}</td></tr>`).join("");
    back.disabled = at === 0;
    next.disabled = at === steps.length;
    const ended = past.flatMap(step => step.ended);
    says.innerHTML = !at ? "Nothing has been written yet. One prefix, the empty one, is about to be extended."
      : at < steps.length ? `Step ${at}: ${past[at - 1].made.length} extensions, and the best are kept: ${past[at - 1].kept.map(code).join(", ")}.`
      : `${ended.length === 1 ? "One answer has" : `${ended.length} answers have`} ended: ${ended.map(text => `${code(text)} ${chance(text)}`).join(", ")}. `
        + `${width === "1" ? "One beam finds" : `${width} beams find`} ${code(answer)}.`;
  }
  controls.addEventListener("click", ({target}) => {
    if (!target.dataset.by) return;
    at = Math.max(0, Math.min(data.widths[width].steps.length, at + Number(target.dataset.by)));
    draw();
    if (target.disabled) (target === next ? back : next).focus();
  });
  controls.addEventListener("change", ({target}) => { width = target.value; at = 0; draw(); });
  figure.classList.add("ready");
  draw();
})();
