/* Copy buttons on code, Ctrl+K for the search, and a fold that opens when a link leads into it. */
(() => {
  const copy = async text => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement("textarea"), {value: text}); // a page from a file
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  for (const block of document.querySelectorAll("article div.highlight > pre")) {
    if (block.closest(".cell_output")) continue;
    const button = Object.assign(document.createElement("button"), {type: "button", className: "copy", textContent: "Copy"});
    button.addEventListener("click", async () => {
      await copy(block.textContent.replace(/\n$/, ""));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.parentElement.append(button);
  }

  const field = document.querySelector("#search-words, .site-search input");
  addEventListener("keydown", event => {
    if (event.key === "k" && (event.ctrlKey || event.metaKey) && field) {
      event.preventDefault();
      field.checkVisibility() ? field.focus() : location.assign(field.form.action);
    }
  });

  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
