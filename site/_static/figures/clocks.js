/* Four clocks with two hands each. All numbers are the course's: the rows of its encoding, the blocks of its matrices. */
(() => {
  const figure = document.getElementById("touch-clocks");
  const data = JSON.parse(figure.querySelector("script").textContent);
  const clocks = [...figure.querySelectorAll(".clocks svg")];
  const rows = [...figure.querySelectorAll("tbody tr")];
  const says = figure.querySelector(".says");
  const [p, k] = ["p", "k"].map(name => figure.querySelector(`input[name=${name}]`));
  const two = number => (Math.round(number * 100) / 100 || 0).toFixed(2);

  function draw() {
    const [at, by] = [Number(p.value), Number(k.value)];
    p.nextElementSibling.textContent = at;
    k.nextElementSibling.textContent = by;
    const [here, there] = [data.encoding[at], data.encoding[at + by]];
    let off = 0;
    clocks.forEach((clock, pair) => {
      const [cosine, sine] = data.shifts[by][pair];
      const points = row => [row[2 * pair], row[2 * pair + 1]];
      for (const [name, [x, y]] of [["here", points(here)], ["there", points(there)]]) {
        const hand = clock.querySelector(`.${name}`);
        hand.setAttribute("x2", 38 * x);
        hand.setAttribute("y2", -38 * y);
      }
      const [x, y] = points(here);
      const turned = [cosine * x + sine * y, -sine * x + cosine * y];
      off = Math.max(off, ...turned.map((entry, at) => Math.abs(entry - points(there)[at])));
      const cells = rows[pair].querySelectorAll("td");
      cells[0].textContent = points(here).map(two).join(", ");
      cells[1].textContent = `${two(cosine)}, ${two(sine)} / ${two(-sine)}, ${two(cosine)}`;
      cells[2].textContent = turned.map(two).join(", ");
    });
    figure.off = off;
    says.textContent = `p = ${at}, k = ${by}: the turn takes position ${at} to position ${at + by}, and it is the same at every p.`;
  }
  figure.querySelector(".controls").addEventListener("input", draw);
  figure.classList.add("ready");
  draw();
})();
