/* Temperature, then top-k, then top-p, as in the lesson's generate. */
(() => {
  const figure = document.getElementById("touch-sampling");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const rows = [...figure.querySelectorAll("tbody tr")];
  const says = figure.querySelector(".says");
  const inputs = [...figure.querySelectorAll("input")];

  const softmax = logits => {
    const top = Math.max(...logits);
    const powers = logits.map(logit => Math.exp(logit - top));
    const total = powers.reduce((sum, power) => sum + power);
    return powers.map(power => power / total);
  };

  /** The probabilities that are left. */
  function left(temperature, k, p) {
    let logits = data.logits.map(logit => logit / temperature);
    const least = [...logits].sort((a, b) => b - a)[Math.min(k, logits.length) - 1];
    logits = logits.map(logit => logit < least ? -Infinity : logit);
    const shares = softmax(logits);
    const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]);
    let before = 0;
    for (const [place, at] of order.entries()) {
      if (place && before >= p) logits[at] = -Infinity;
      before += shares[at];
    }
    return softmax(logits);
  }
  figure.left = left;

  let shares;
  function draw() {
    const [temperature, k, p] = inputs.map(input => Number(input.value));
    inputs.forEach(input => { input.nextElementSibling.textContent = input.value; });
    shares = left(temperature, k, p);
    rows.forEach((row, at) => {
      const cells = row.querySelectorAll("td");
      cells[1].innerHTML = `<span class="bar" style="--share:${shares[at].toFixed(4)}"></span>${shares[at].toFixed(3)}`;
      cells[2].textContent = "";
      row.classList.toggle("dropped", shares[at] === 0);
    });
    const kept = shares.filter(share => share > 0).length;
    says.textContent = `${kept === shares.length ? `All ${kept} words` : kept === 1 ? "One word" : `${kept} of ${shares.length} words`} can be drawn;`
      + ` “${data.words[0]}” has ${shares[0].toFixed(3)}.`;
  }
  figure.querySelector("button").addEventListener("click", () => {
    const drawn = shares.map(() => 0);
    for (let count = 0; count < 20; count++) {
      let left = Math.random();
      drawn[shares.findIndex(share => (left -= share) < 0)]++;
    }
    rows.forEach((row, at) => { row.querySelectorAll("td")[2].textContent = "•".repeat(drawn[at] || 0); });
    says.textContent = `Drawn: ${drawn.map((count, at) => count ? `${data.words[at]} ${count}` : "").filter(Boolean).join(", ")}.`;
  });
  figure.querySelector(".controls").addEventListener("input", draw);
  figure.classList.add("ready");
  draw();
})();
