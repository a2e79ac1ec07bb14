/* Finds passages, and shows them with the words that were asked for. See grader/cellcheck/publishing/searching.py. */
(() => {
  const KINDS = {exercise: ["Exercise", 1.6], glossary: ["Glossary", 1.5], lesson: ["Lesson", 1.2], library: ["Library", 0.4], page: ["Guide", 1]};
  const COMMON = new Set("a an and are as at be but by for from how i in is it its not of on or that the this to was what when which who why with you your".split(" "));
  const SHOWN = 25, AROUND = 110;

  const stem = word => word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, "") : word;
  // "causal_mask" and "CausalSeq2Seq" are found by their parts too.
  const words = text => (text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).map(stem);
  const index = (window.passages || []).map(([kind, title, page, address, text]) => {
    const counts = new Map();
    for (const word of words(text)) counts.set(word, (counts.get(word) || 0) + 1);
    return {kind, title, page, address, text, counts, titled: words(title), paged: words(page), plain: words(`${title} ${text}`).join(" ")};
  });
  const having = new Map(); // of each word, the entries that have it somewhere
  index.forEach(({counts, titled, paged}, at) => {
    for (const word of new Set([...counts.keys(), ...titled, ...paged])) (having.get(word) || having.set(word, []).get(word)).push(at);
  });

  const begins = (word, asked) => word === asked ? 1 : asked.length > 2 && word.startsWith(asked) ? 0.6 : 0;
  function weight(entry, asked) {
    const most = list => Math.max(0, ...list.map(word => begins(word, asked)));
    let inText = 0;
    for (const [word, count] of entry.counts) inText = Math.max(inText, begins(word, asked) * Math.min(3, count));
    return 9 * most(entry.titled) + 2 * most(entry.paged) + inText;
  }

  /** The weights of a word, for all entries. */
  function weights(asked) {
    const all = new Float64Array(index.length);
    for (const [word, places] of having) {
      if (begins(word, asked)) for (const at of places) all[at] ||= weight(index[at], asked);
    }
    return all;
  }

  /** The passages that have the words, the best first. */
  function search(query) {
    const all = words(query);
    const asked = all.filter(word => !COMMON.has(word));
    const wanted = asked.length ? asked : all;
    if (!wanted.length) return [];
    const columns = wanted.map(weights);
    const rare = columns.map(column => Math.log(1 + index.length / (1 + column.filter(value => value > 0).length)));
    const phrase = all.join(" ");
    return index.map((entry, at) => {
      const found = columns.filter(column => column[at] > 0).length;
      let score = columns.reduce((sum, column, each) => sum + column[at] * rare[each], 0) / Math.sqrt(entry.titled.length + 3);
      if (all.length > 1 && entry.plain.includes(phrase)) score += 12;
      if (entry.titled.join(" ") === phrase && entry.kind !== "library") score += 60; // who wants the library names more of it
      return {entry, score: score * KINDS[entry.kind][1] * (found / wanted.length) ** 3};
    }).filter(({score}) => score > 0).sort((a, b) => b.score - a.score).map(({entry}) => entry);
  }

  /** The text around the words, as nodes. */
  function excerpt({kind, text}, query) {
    const asked = words(query).filter(word => !COMMON.has(word));
    const places = [...text.matchAll(/[\p{L}\p{N}]+/gu)]
      .filter(match => words(match[0]).some(word => asked.some(one => begins(word, one))))
      .map(match => [match.index, match.index + match[0].length]);
    const near = place => places.filter(([at]) => at >= place && at < place + 2 * AROUND).length;
    const best = places.reduce((found, [at]) => near(at) > near(found) ? at : found, places[0]?.[0] ?? 0);
    let from = kind === "exercise" ? 0 : Math.max(0, best - AROUND / 2), // an exercise begins with what it does
       to = Math.min(text.length, from + 2.4 * AROUND);
    while (from > 0 && text[from - 1] !== " ") from--;
    while (to < text.length && text[to] !== " ") to++;
    const nodes = [from > 0 ? "… " : ""];
    let done = from;
    for (const [begin, end] of places.filter(([begin, end]) => begin >= from && end <= to)) {
      const mark = document.createElement("mark");
      mark.textContent = text.slice(begin, end);
      nodes.push(text.slice(done, begin), mark);
      done = end;
    }
    nodes.push(text.slice(done, to), to < text.length ? " …" : "");
    return nodes;
  }

  const field = document.getElementById("search-words");
  const summary = document.getElementById("search-summary");
  const results = document.getElementById("search-results");

  function show(query) {
    const found = search(query);
    const count = Math.min(found.length, SHOWN);
    summary.textContent = !query.trim() ? "" : !found.length ? `Nothing has these words: ${query}`
      : found.length > SHOWN ? `The best ${SHOWN} of ${found.length} passages` : `${count} passage${count === 1 ? "" : "s"}`;
    results.replaceChildren(...found.slice(0, SHOWN).map(entry => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = entry.address;
      link.textContent = entry.title;
      const where = document.createElement("span");
      where.className = "where";
      where.textContent = [KINDS[entry.kind][0], entry.page === entry.title ? "" : entry.page].filter(Boolean).join(" · ");
      const text = document.createElement("p");
      text.append(...excerpt(entry, query));
      item.className = entry.kind;
      item.append(link, " ", where, text);
      return item;
    }));
  }

  window.search = search;
  field.value = new URLSearchParams(location.search).get("q") || "";
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
      show(field.value);
    }, 120);
  });
  field.form.addEventListener("submit", event => { event.preventDefault(); show(field.value); });
  show(field.value);
})();
