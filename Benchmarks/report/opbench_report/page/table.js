// Sorts, filters and shows the table of all cells, a part at a time.
"use strict";

(async () => {
  const rows = JSON.parse(await unpacked("rows"));
  const table = document.getElementById("cells");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const more = document.getElementById("table-more");
  const count = document.getElementById("table-count");
  const words = document.getElementById("filter-words");
  const choices = { family: document.getElementById("filter-family"), metric: document.getElementById("filter-metric"), subject: document.getElementById("filter-subject") };
  const STEP = 100;
  // Where the texts of ratio and median stand in a record, and the subject without its workers.
  const SHOWN = { 4: 7, 5: 8 };
  const SUBJECT = 9;
  let sorted = { column: -1, descending: false };
  let shown = STEP;
  let current = rows;

  const text = (value) => (value === null ? "" : typeof value === "number" ? (Number.isInteger(value) ? String(value) : value.toPrecision(3)) : value);
  const searchable = rows.map((row) => `${row[0]} ${row[1]} ${row[2]} ${row[3]}`.toLowerCase());

  function select() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const indices = [...rows.keys()].filter((index) => {
      const row = rows[index];
      return (!choices.family.value || row[0].startsWith(`${choices.family.value}/`))
        && (!choices.metric.value || row[2] === choices.metric.value)
        && (!choices.subject.value || row[SUBJECT] === choices.subject.value)
        && wanted.every((word) => searchable[index].includes(word));
    });
    current = indices.map((index) => rows[index]);
    if (sorted.column >= 0) {
      const { column, descending } = sorted;
      current.sort((left, right) => {
        const [a, b] = [left[column], right[column]];
        // What has no number stands last, whichever the direction.
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === "number" ? a - b : a.localeCompare(b);
        return descending ? -order : order;
      });
    }
    shown = STEP;
    show();
  }

  function show() {
    const part = current.slice(0, shown);
    body.replaceChildren(...part.map((row) => {
      const line = document.createElement("tr");
      heads.forEach((head) => {
        const column = Number(head.querySelector("button").dataset.column);
        const cell = document.createElement(column === 0 ? "th" : "td");
        if (column === 0) cell.scope = "row";
        // As text, never as HTML: it comes from a file.
        const shown = text(column in SHOWN ? row[SHOWN[column]] : row[column]);
        // Parameters break between one and the next.
        shown.split(/(?<=;)/).forEach((part, place) => cell.append(...(place ? [document.createElement("wbr")] : []), part));
        if (head.classList.contains("number")) cell.className = "number";
        line.append(cell);
      });
      return line;
    }));
    count.textContent = `${current.length} of ${rows.length} cells, ${part.length} shown`;
    more.hidden = part.length >= current.length;
  }

  for (const head of heads) {
    const button = head.querySelector("button");
    button.addEventListener("click", () => {
      const column = Number(button.dataset.column);
      sorted = { column, descending: sorted.column === column && !sorted.descending };
      for (const other of heads) {
        const own = other === head;
        other.setAttribute("aria-sort", own ? (sorted.descending ? "descending" : "ascending") : "none");
        other.querySelector(".arrow").textContent = own ? (sorted.descending ? "▼" : "▲") : "↕";
      }
      select();
    });
  }
  for (const control of [words, ...Object.values(choices)]) control.addEventListener("input", select);
  more.addEventListener("click", () => {
    shown += STEP;
    show();
  });
  select();
})();
