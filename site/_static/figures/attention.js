/* Three words: whose query it is, and its four numbers. */
(() => {
  const figure = document.getElementById("touch-attention");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const queries = data.queries.map(query => [...query]);
  let asks = data.asks;

  /** softmax(query · keys / root of d), and the mix of the values. */
  function attend(query) {
    const scores = data.keys.map(key => key.reduce((sum, entry, at) => sum + entry * query[at], 0));
    const divided = scores.map(score => score / Math.sqrt(query.length));
    const top = Math.max(...divided);
    const powers = divided.map(score => Math.exp(score - top));
    const total = powers.reduce((sum, power) => sum + power);
    const weights = powers.map(power => power / total);
    const output = data.values[0].map((_, at) => weights.reduce((sum, weight, row) => sum + weight * data.values[row][at], 0));
    return {scores, divided, weights, output};
  }
  figure.attend = attend;

  const controls = figure.querySelector(".controls");
  controls.innerHTML = `<fieldset><legend>Who asks?</legend>${data.words.map((word, at) =>
    `<label><input type="radio" name="asks" value="${at}"${at === asks ? " checked" : ""}> ${word}</label>`).join("")}</fieldset>
    <fieldset><legend>Its query</legend>${queries[asks].map((_, at) =>
    `<input type="number" step="0.5" min="-9" max="9" aria-label="number ${at + 1} of the query" data-at="${at}">`).join("")}
    <button type="button">As it was</button></fieldset>`;
  const entries = [...controls.querySelectorAll("[data-at]")];
  const rows = [...figure.querySelectorAll("tbody tr")];
  const says = figure.querySelector(".says");
  const short = number => String(Math.round(number * 100) / 100);

  function draw() {
    const query = queries[asks];
    const {scores, divided, weights, output} = attend(query);
    entries.forEach((entry, at) => { if (document.activeElement !== entry) entry.value = query[at]; });
    rows.forEach((row, at) => {
      const cells = row.querySelectorAll("td");
      cells[1].textContent = short(scores[at]);
      cells[2].textContent = short(divided[at]);
      cells[3].innerHTML = `<span class="bar" style="--share:${weights[at].toFixed(4)}"></span>${weights[at].toFixed(2)}`;
      row.classList.toggle("asks", at === asks);
    });
    const most = data.words[weights.indexOf(Math.max(...weights))];
    says.innerHTML = `<em>${data.words[asks]}</em> asks (${query.map(short).join(", ")}), looks most at <em>${most}</em>, and gets
      ${output.map(entry => entry.toFixed(2)).join(" and ")}.`;
  }
  controls.addEventListener("input", ({target}) => {
    if (target.name === "asks") asks = Number(target.value);
    else queries[asks][target.dataset.at] = Number(target.value) || 0;
    draw();
  });
  controls.querySelector("button").addEventListener("click", () => { queries[asks] = [...data.queries[asks]]; draw(); });
  figure.classList.add("ready");
  draw();
})();
