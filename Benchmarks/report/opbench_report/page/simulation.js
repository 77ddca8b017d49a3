// Draws what was simulated, of the graph and the granularity that are chosen. All that it writes says "simulated".
"use strict";

(async () => {
  const { names, workers, graphs, sweeps } = JSON.parse(await unpacked("simulation"));
  const element = (name) => document.getElementById(`simulated-${name}`);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const coarse = window.matchMedia("(pointer: coarse)").matches;
  const narrow = window.innerWidth < 640;
  const [WORKERS, EFFICIENCY, LEAST, MOST, WORK, PATH, REST, SEEDS] = [0, 1, 2, 3, 4, 5, 6, 7];

  // Told apart by dash and mark too. Of more strategies than these, those with one colour have another dash.
  const COLOURS = [
    ["#0072b2", "#4db1ee", "circle"], ["#d55e00", "#ff8a3d", "square"], ["#00805c", "#2fc79a", "triangle-up"],
    ["#aa4499", "#e087d3", "diamond"], ["#a86f00", "#f0b93a", "triangle-down"], ["#c2104c", "#ff6b81", "cross"],
    ["#332288", "#a99cf2", "x"], ["#6b6b6b", "#b3b3b3", "star"],
  ];
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
  const BANDS = [["work", WORK, "#1b5e9e", ""], ["critical path", PATH, "#8fb8de", "/"], ["scheduler", REST, "#e2a36f", "x"]];

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Plotly reads a little HTML in texts; what comes from the results is to be read as it is.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const look = (strategy) => {
    const [light, night, symbol] = COLOURS[strategy % COLOURS.length];
    return { colour: dark.matches ? night : light, symbol, dash: DASHES[Math.floor(strategy / COLOURS.length + strategy) % DASHES.length] };
  };
  const boxes = [...document.querySelectorAll("#simulated input[data-strategy]")];
  const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
  const count = (number) => number.toLocaleString("en");

  function time(nanoseconds) {
    for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
      if (nanoseconds >= size) return `${Number((nanoseconds / size).toPrecision(3))} ${unit}`;
    }
    return `${Number(nanoseconds.toPrecision(3))} ns`;
  }

  function layout(height, extra) {
    return {
      height, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: style("--ink") },
      dragmode: coarse ? false : "zoom", showlegend: false, margin: { l: 62, r: 14, t: 8, b: 56 },
      hoverlabel: { bgcolor: style("--band"), bordercolor: style("--soft"), font: { color: style("--ink"), size: 13 }, align: "left" },
      ...extra,
    };
  }

  function axis(title, extra) {
    return {
      title: { text: title, standoff: 6, font: { size: 12 } }, gridcolor: style("--line"), zeroline: false,
      linecolor: style("--soft"), tickcolor: style("--soft"), ticks: "outside", ticklen: 4, tickangle: 0, ...extra,
    };
  }

  /** Of a logarithmic axis, all numbers of workers; on a phone as many as have room. */
  function workersAxis(present) {
    const [low, high] = [Math.log10(present[0]), Math.log10(present.at(-1))];
    const room = 0.04 * (high - low) + (high === low ? 0.5 : 0);
    const every = Math.ceil(present.length / (narrow ? 6 : 12));
    const ticks = present.filter((_, index) => (present.length - 1 - index) % every === 0);
    return axis("virtual workers, simulated (log scale)", {
      type: "log", range: [low - room, high + room], tickvals: ticks, ticktext: ticks.map(count),
    });
  }

  const config = { responsive: true, displayModeBar: false };
  const grains = () => graphs[element("graph").value][1];
  const marks = () => new Map(grains()[element("work").value][1]);
  const chosen = () => `${graphs[element("graph").value][0]}, ${grains()[element("work").value][0]}`;

  function efficiency() {
    const own = marks();
    const data = boxes.filter((box) => box.checked).map((box) => Number(box.dataset.strategy)).filter((one) => own.has(one)).map((strategy) => {
      const { colour, symbol, dash } = look(strategy);
      const points = own.get(strategy);
      return {
        type: "scatter", mode: "lines+markers", name: `${plain(names[strategy])}, simulated`, x: points.map((one) => one[WORKERS]), y: points.map((one) => one[EFFICIENCY]),
        line: { color: colour, dash, width: 1.8 }, marker: { color: colour, symbol, size: 8 }, cliponaxis: false,
        customdata: points.map((one) => `${count(one[WORKERS])} workers: ${percent(one[EFFICIENCY])}<br>${percent(one[LEAST])} to ${percent(one[MOST])} over ${one[SEEDS]} seed${one[SEEDS] === 1 ? "" : "s"}`),
        hovertemplate: `<b>${plain(names[strategy])}</b>, simulated<br>%{customdata}<extra></extra>`,
      };
    });
    element("efficiency-title").textContent = `Simulated efficiency: ${chosen()}`;
    return Plotly.react(element("efficiency"), data, layout(380, {
      xaxis: workersAxis(workers), yaxis: axis("bound / makespan, simulated", { range: [0, 1.05], tickformat: ".0%" }),
    }), config);
  }

  /** The numbers of the lines, for those who do not see or point. */
  function numbers() {
    const own = marks();
    const present = workers.filter((one) => [...own.values()].some((points) => points.some((point) => point[WORKERS] === one)));
    const cell = (name, content, scope) => {
      const made = document.createElement(name);
      made.textContent = content;
      if (scope) made.scope = scope;
      return made;
    };
    const row = (cells) => {
      const made = document.createElement("tr");
      made.append(...cells);
      return made;
    };
    const grid = document.createElement("table");
    grid.createCaption().textContent = `Simulated efficiency: ${chosen()}`;
    grid.createTHead().append(row([cell("th", "strategy, simulated", "col"), ...present.map((one) => cell("th", `${count(one)} workers, simulated`, "col"))]));
    grid.createTBody().append(...names.map((name, strategy) => [name, own.get(strategy)]).filter(([, points]) => points).map(([name, points]) => {
      const values = new Map(points.map((point) => [point[WORKERS], point[EFFICIENCY]]));
      return row([cell("th", name, "row"), ...present.map((one) => cell("td", values.has(one) ? percent(values.get(one)) : "–"))]);
    }));
    const details = element("numbers").querySelector("details") ?? document.createElement("details");
    const scroll = document.createElement("div");
    Object.assign(scroll, { className: "scroll", tabIndex: 0 });
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Simulated efficiency of every strategy");
    scroll.append(grid);
    details.replaceChildren(cell("summary", "Simulated numbers of every strategy"), scroll);
    element("numbers").replaceChildren(details);
  }

  function limits() {
    const strategy = Number(element("strategy").value);
    const points = marks().get(strategy) ?? [];
    const title = `What limits ${names[strategy]}, simulated: ${chosen()}`;
    element("limits-title").textContent = points.length ? title : `${title}: no simulated rows`;
    const data = BANDS.map(([label, share, colour, shape]) => ({
      type: "scatter", mode: points.length > 1 ? "lines" : "lines+markers", stackgroup: "one", name: `${label}, simulated`, line: { width: 0.5, color: colour },
      fillcolor: colour, fillpattern: { shape, fgcolor: "rgba(255,255,255,.75)", bgcolor: colour, fillmode: "overlay", size: 7, solidity: 0.2 },
      x: points.map((one) => one[WORKERS]), y: points.map((one) => one[share]), hoveron: "points",
      customdata: points.map((one) => `${count(one[WORKERS])} workers: ${percent(one[share])} of the makespan`),
      hovertemplate: `<b>${label}</b>, simulated<br>%{customdata}<extra></extra>`,
    }));
    return Plotly.react(element("limits"), data, layout(340, {
      showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" }, margin: { l: 62, r: 14, t: narrow ? 64 : 36, b: 56 }, hovermode: "closest",
      xaxis: workersAxis(workers), yaxis: axis("share of the makespan, simulated", { range: [0, 1], tickformat: ".0%" }),
    }), config);
  }

  function metg([, counts, rows], index) {
    const data = counts.map((workers, place) => {
      const points = rows.flatMap(([name, found]) => found.filter(([of, own]) => of === workers && own).map(([, own, text]) => [name, own, text]));
      const { colour, symbol } = look(place);
      return {
        type: "scatter", mode: "markers+text", name: `${count(workers)} workers, simulated`, x: points.map(([, own]) => own), y: points.map(([name]) => plain(name)),
        marker: { color: colour, symbol, size: 10 }, text: points.map(([, , text]) => plain(text)), textposition: "top center", textfont: { size: 11 }, cliponaxis: false,
        hovertemplate: `<b>%{y}</b>, simulated<br>${count(workers)} workers: %{text}<extra></extra>`,
      };
    });
    const values = rows.flatMap(([, found]) => found.map(([, own]) => own)).filter(Boolean);
    if (!values.length) return undefined;
    const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
    const steps = [];
    for (let power = Math.floor(low) - 1; power <= Math.ceil(high) + 1; power += 1) steps.push(10 ** power, 3 * 10 ** power);
    return Plotly.react(element(`metg-${index}`), data, layout(120 + 42 * rows.length, {
      showlegend: true, legend: { orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom" },
      margin: { l: 8, r: 20, t: narrow ? 60 : 40, b: narrow ? 66 : 52 },
      xaxis: axis(`METG(50 %), simulated${narrow ? "<br>" : " "}(log scale, ← less is better)`, { type: "log", range: [low - 0.15, high + 0.15], tickvals: steps, ticktext: steps.map(time) }),
      yaxis: { automargin: true, range: [rows.length - 0.5, -0.7], categoryorder: "array", categoryarray: rows.map(([name]) => plain(name)), gridcolor: style("--line"), ticks: "outside", tickcolor: "rgba(0,0,0,0)" },
    }), config);
  }

  /** The granularities of the chosen graph; the same one as before where that graph has it. */
  function offerGrains() {
    const select = element("work");
    const before = select.selectedOptions[0]?.textContent;
    select.replaceChildren(...grains().map(([label], index) => new Option(label, index)));
    const same = grains().findIndex(([label]) => label === before);
    select.value = Math.max(same, 0);
  }

  function swatches() {
    for (const box of boxes) {
      const { colour, dash } = look(Number(box.dataset.strategy));
      const kind = { solid: "solid", dot: "dotted" }[dash] ?? "dashed";
      box.nextElementSibling.style.borderTop = `3px ${kind} ${colour}`;
    }
  }

  function draw() {
    swatches();
    numbers();
    return Promise.all([efficiency(), limits(), ...sweeps.map(metg)]);
  }

  element("graph").addEventListener("change", () => { offerGrains(); draw(); });
  element("work").addEventListener("change", draw);
  element("strategy").addEventListener("change", limits);
  for (const box of boxes) box.addEventListener("change", efficiency);
  dark.addEventListener("change", draw);
  // A browser may remember what was chosen when the page is opened again.
  offerGrains();
  await drawing;
  await draw();
  document.documentElement.dataset.simulated = sweeps.length;
})();
