"use strict";
// Long tables can be sorted and filtered. Without this script they are as they were written.
const root = document.querySelector(".skfairtest");
const tables = [...root.querySelectorAll("table.long")];

const key = cell => {
  const text = cell.firstChild ? cell.firstChild.textContent.trim() : "";
  const number = parseFloat(text.replace(/,/g, "").replace(/^[<≤] ?/, "").replace(/^−/, "-").replace(/^(-?)inf$/, "$1Infinity"));
  return Number.isNaN(number) ? { text } : { number, text };
};
const compare = (a, b, numeric, sign) => {
  if (!numeric) return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  if (a.number === undefined || b.number === undefined) return (a.number === undefined) - (b.number === undefined);
  return a.number === b.number ? 0 : sign * (a.number < b.number ? -1 : 1);
};

for (const table of tables) {
  const body = table.tBodies[0], written = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.ariaSort] ?? (head.ariaSort ? null : "ascending");
      heads.forEach(each => { each.ariaSort = null; });
      head.ariaSort = next;
      const numeric = head.classList.contains("number"), sign = next === "descending" ? -1 : 1;
      const keys = new Map(written.map(row => [row, key(row.cells[place])]));
      const rows = next ? [...written].sort((a, b) => compare(keys.get(a), keys.get(b), numeric, sign)) : written;
      body.append(...rows);
    });
  });
}

for (const tools of root.querySelectorAll(".tools")) {
  const [words, significant] = tools.querySelectorAll("input"), count = tools.querySelector("output");
  const folds = new Map([...root.querySelectorAll("details.annex")].filter(fold => fold.querySelector("table.long")).map(fold => [fold, fold.open]));
  let filtered = false;
  const filter = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean), active = asked.length > 0 || significant.checked;
    if (active && !filtered) folds.forEach((_, fold) => folds.set(fold, fold.open));
    filtered = active;
    let shown = 0, total = 0;
    for (const table of tables) {
      const caption = table.caption.textContent.toLowerCase();
      let some = 0;
      for (const row of table.tBodies[0].rows) {
        const text = `${caption} ${row.textContent.toLowerCase()}`;
        row.hidden = (significant.checked && !row.classList.contains("concern")) || !asked.every(word => text.includes(word));
        some += !row.hidden;
        total += 1;
      }
      shown += some;
      table.closest(".scroll").hidden = active && !some;
    }
    folds.forEach((open, fold) => {
      const some = [...fold.querySelectorAll("table.long")].some(table => !table.closest(".scroll").hidden);
      fold.hidden = active && !some;
      fold.open = active ? some : open;
    });
    count.textContent = active ? `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} comparisons` : "";
  };
  words.addEventListener("input", filter);
  significant.addEventListener("change", filter);
  tools.hidden = false;
}
