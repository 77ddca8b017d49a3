// Draws the charts of the page from their data, again when the colours of the system change or a subject is switched
// off.
"use strict";

(async () => {
  const plots = JSON.parse(await unpacked("plots"));
  const looks = JSON.parse(await unpacked("looks"));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const coarse = window.matchMedia("(pointer: coarse)").matches;
  const narrow = window.innerWidth < 640;
  const off = new Set();

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Plotly reads a little HTML in texts; what comes from the results is to be read as it is.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const place = (axis, value) => (axis.log ? Math.log10(value) : value);

  /** Breaks a long line for the label that stands beside the pointer. */
  function wrapped(text) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1).length + word.length > 38 && lines.at(-1)) lines.push("");
      lines.push(`${lines.pop()} ${word}`.trim());
    }
    return lines.map(plain).join("<br>");
  }

  const [X, Y, X_LOW, X_HIGH, Y_LOW, Y_HIGH, LABEL, DETAIL] = [0, 1, 2, 3, 4, 5, 6, 7];

  /** The bars of an interval, as Plotly wants them; a mark without one has none. */
  function bars(marks, value, low, high, colour, look = {}) {
    if (marks.every((mark) => mark[low] === null)) return { visible: false };
    const size = (mark, end) => (mark[low] === null ? 0 : Math.abs(mark[end] - mark[value]));
    return {
      type: "data", symmetric: false, color: colour, thickness: 1.2, width: 3, ...look,
      array: marks.map((mark) => size(mark, high)), arrayminus: marks.map((mark) => size(mark, low)),
    };
  }

  /** What follows a name under the pointer: whether no CPU ran it. */
  const origin = (plot) => (plot.simulated ? ", simulated" : "");

  function trace(series, marks, title, extra) {
    const look = looks[series.subject];
    const colour = dark.matches ? look.dark : look.light;
    return {
      type: "scatter", name: series.arm, showlegend: false, visible: !off.has(series.subject), meta: series.subject,
      x: marks.map((mark) => mark[X]), y: marks.map((mark) => mark[Y]),
      marker: { color: colour, symbol: look.symbol, size: 9, line: { color: colour, width: 1.5 } },
      line: { color: colour, dash: look.dash, width: 1.6 },
      text: marks.map((mark) => plain(mark[LABEL])),
      customdata: marks.map((mark) => wrapped(mark[DETAIL])),
      hovertemplate: `<b>${plain(series.arm)}</b>${plain(title)}<br>%{customdata}<extra></extra>`,
      error_x: bars(marks, X, X_LOW, X_HIGH, colour), error_y: bars(marks, Y, Y_LOW, Y_HIGH, colour),
      ...extra,
    };
  }

  function axis(own, extra) {
    const every = narrow && own.ticks.length > 4 && !own.named ? 2 : 1;
    const ticks = own.ticks.filter((_, index) => index % every === 0);
    return {
      type: own.log ? "log" : "linear", range: [place(own, own.low), place(own, own.high)],
      tickvals: ticks.map((tick) => tick[0]), ticktext: ticks.map((tick) => plain(tick[1])), tickangle: 0,
      title: { text: [plain(own.label), ...(own.note ? [`<span style="font-size:11px">${plain(own.note)}</span>`] : [])].join("<br>"), standoff: 6, font: { size: 12 } }, gridcolor: style("--line"), zeroline: false, linecolor: style("--soft"),
      tickcolor: style("--soft"), ticks: "outside", ticklen: 4, ...extra,
    };
  }

  function layout(height, extra) {
    return {
      height, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: style("--ink") },
      // A finger that moves over a plot moves the page.
      dragmode: coarse ? false : "zoom", showlegend: false,
      hoverlabel: { bgcolor: style("--band"), bordercolor: style("--soft"), font: { color: style("--ink"), size: 13 }, align: "left" },
      ...extra,
    };
  }

  const line = (points) => ({ type: "line", line: { color: style("--soft"), width: 1.2, dash: "dash" }, layer: "below", ...points });
  const note = (text, points) => ({ text: plain(text), showarrow: false, font: { size: 11, color: style("--soft") }, ...points });

  /** Bands one below the other, in each a row per subject, with the number at the right of its mark. */
  function dots(plot, index) {
    const TITLE = 24, ROW = 19, SAID = 15;
    const shapes = [], annotations = [], traces = new Map();
    const [low, high] = [place(plot.x, plot.x.low), place(plot.x, plot.x.high)];
    const range = [low, high + (high - low) * (narrow ? 0.75 : 0.35)];
    // Where a value stands, in pixels from the left end of the axis.
    const room = document.getElementById(`plot-${index}`).clientWidth - 16;
    const pixels = (at) => (room * (place(plot.x, at) - range[0])) / (range[1] - range[0]);
    // The label of a guide stands beside the title where it has room there, and otherwise below it.
    const covers = (band, [, at, label]) => 7.6 * band.title.length + 8 > pixels(at) - (at >= 1 ? 0 : 6.6 * label.length);
    let top = 0, said = null;
    for (const band of plot.bands) {
      // What is off leaves no row, and a band without rows no heading.
      const rows = band.series.filter((series) => !off.has(series.subject));
      if (!rows.length) continue;
      annotations.push({ text: `<b>${plain(band.title)}</b>`, showarrow: false, xref: "paper", x: 0, xanchor: "left", yref: "y", y: top + TITLE / 2 + 1, font: { size: 12.5, color: style("--ink") }, name: "title" });
      const isSaid = (guide) => guide[0] === "x" && guide[2] !== said;
      const HEAD = TITLE + (band.guides.some((guide) => isSaid(guide) && covers(band, guide)) ? SAID : 0);
      const bottom = top + HEAD + ROW * rows.length;
      rows.forEach((series, row) => {
        for (const mark of series.marks) {
          const moved = [...mark];
          moved[Y] = top + HEAD + ROW * (row + 0.5);
          moved[DETAIL] = `${band.title}: ${mark[DETAIL]}`;
          if (!traces.has(series.arm)) traces.set(series.arm, { series, marks: [] });
          traces.get(series.arm).marks.push(moved);
        }
      });
      for (const [kind, at, label] of band.guides) {
        if (kind !== "x") continue;
        shapes.push(line({ xref: "x", x0: at, x1: at, yref: "y", y0: top + HEAD - 4, y1: bottom }));
        // Said once where all bands have the same.
        if (label !== said) annotations.push(note(label, { xref: "x", x: place(plot.x, at), xanchor: at >= 1 ? "left" : "right", yref: "y", y: top + HEAD - 10, bgcolor: style("--paper"), name: "guide" }));
        if (band.guides.length === 1) said = label;
      }
      shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, yref: "y", y0: bottom + 3, y1: bottom + 3, line: { color: style("--line"), width: 1 }, layer: "below" });
      top = bottom + 8;
    }
    const tall = plot.bands.length > 2;
    const data = [...traces.values()].flatMap(({ series, marks }) => [
      trace(series, marks, origin(plot), { mode: "markers", cliponaxis: false }),
      // The numbers follow the end of the interval, which they would hide beside the mark.
      trace(series, marks, "", {
        mode: "text", x: marks.map((mark) => mark[X_HIGH] ?? mark[X]), textposition: "middle right", textfont: { size: 11, color: style("--ink") },
        text: marks.map((mark) => `\u00a0\u00a0\u00a0${plain(mark[LABEL])}`), error_x: { visible: false }, error_y: { visible: false }, hoverinfo: "skip", hovertemplate: null, cliponaxis: false,
      }),
    ]);
    // An axis without a trace is not drawn.
    if (tall) data.push({ type: "scatter", mode: "markers", x: [plot.x.low], y: [0], xaxis: "x2", marker: { opacity: 0 }, hoverinfo: "skip", showlegend: false });
    return {
      data,
      layout: layout(top + (tall ? 88 : 66), {
        margin: { l: 8, r: 8, t: tall ? 24 : 4, b: 62 }, shapes, annotations,
        xaxis: axis(plot.x, { range }),
        // Above as well, where the axis would be far away.
        ...(tall ? { xaxis2: axis({ ...plot.x, label: "", note: "" }, { range, overlaying: "x", side: "top", showgrid: false }) } : {}),
        yaxis: { range: [Math.max(top, 1), 0], visible: false, fixedrange: true },
      }),
    };
  }

  function plane(plot, index) {
    const shapes = [], annotations = [];
    for (const [kind, at, label, isCrowded] of plot.guides) {
      if (kind === "y") {
        shapes.push(line({ xref: "paper", x0: 0, x1: 1, yref: "y", y0: at, y1: at }));
        annotations.push(note(label, { xref: "paper", x: 0, xanchor: "left", yref: "y", y: place(plot.y, at), yanchor: isCrowded ? "top" : "bottom" }));
      }
    }
    // The numbers of such marks stand one below the other in a corner, since the marks stand close together.
    const named = [];
    const shown = plot.series.filter((series) => !off.has(series.subject));
    const data = plot.series.flatMap((given) => {
      // Places with names, such as percentiles, are the same for all: side by side no mark hides another.
      const side = plot.x.named && !plot.x.log ? (shown.indexOf(given) - (shown.length - 1) / 2) * Math.min(0.05, 0.6 / shown.length) : 0;
      const series = { ...given, marks: given.marks.map((mark) => [mark[X] + side, ...mark.slice(1)]) };

      // A mark with a number of its own, such as METG, stands out from the curve.
      const curve = series.marks.filter((mark) => !mark[LABEL]);
      const special = series.marks.filter((mark) => mark[LABEL]);
      const colour = (dark.matches ? looks[series.subject].dark : looks[series.subject].light);
      // Curves and marks stand out from the intervals: where one peer's are wide they would hatch the picture.
      const faint = { color: `${colour}55`, width: 0, thickness: 1 };
      const own = trace(series, curve, origin(plot), {
        mode: "lines+markers", error_x: bars(curve, X, X_LOW, X_HIGH, colour, faint), error_y: bars(curve, Y, Y_LOW, Y_HIGH, colour, faint),
      });
      if (!special.length) return [own];
      const marked = trace(series, special, "", { mode: "markers" });
      if (marked.visible) named.push([`${special[0][LABEL]} ${series.arm}`, marked.line.color]);
      marked.marker = { ...marked.marker, size: 15, symbol: `${looks[series.subject].symbol.replace("-open", "")}-open`, line: { ...marked.marker.line, width: 2.5 } };
      return [own, marked];
    });
    const height = plot.alone && !narrow ? 400 : 300;
    const [low, high] = [place(plot.x, plot.x.low), place(plot.x, plot.x.high)];
    const LINE = 15, LEFT = 78, FOOT = 62;
    const list = named.length ? [["METG(50 %)", style("--soft")], ...named] : [];
    const entry = (label, colour, points) => annotations.push(note(label, { xref: "paper", yref: "paper", y: 0, font: { size: 11, color: colour }, bgcolor: style("--paper"), name: "named", ...points }));
    // At the right of the marks is room for them. A phone has none there, and of many subjects the list would be higher
    // than the picture: there the list stands below the axis, in two columns.
    const below = narrow || LINE * (list.length + 1) > height - FOOT;
    const hasNumbers = plot.series.some((series) => series.marks.some((mark) => mark[LABEL]));
    const range = hasNumbers && !below ? [low, high + (high - low) * (plot.alone ? 0.25 : 0.6)] : [low, high];
    const rows = below && list.length ? 1 + Math.ceil(named.length / 2) : 0;
    list.forEach(([label, colour], at) => {
      if (!below) return entry(label, colour, { x: 1, xanchor: "right", yanchor: "bottom", yshift: 4 + LINE * (list.length - 1 - at) });
      const [row, column] = at ? [1 + ((at - 1) >> 1), (at - 1) % 2] : [0, 0];
      const width = document.getElementById(`plot-${index}`).clientWidth;
      return entry(label, colour, { x: 0, xanchor: "left", xshift: (column * width) / 2 - LEFT, yanchor: "top", yshift: -(FOOT + LINE * row) });
    });
    return {
      data,
      layout: layout(height + LINE * rows, {
        margin: { l: LEFT, r: 14, t: 8, b: FOOT + LINE * rows }, shapes, annotations, xaxis: axis(plot.x, { range }), yaxis: axis(plot.y),
      }),
    };
  }

  /** Shares above one another, told apart by pattern too. */
  function bands(plot) {
    const patterns = ["", "/", "x"];
    const data = plot.series.map((series, index) => {
      const look = looks[series.subject];
      const colour = dark.matches ? look.dark : look.light;
      const single = series.marks.length === 1;
      return trace(series, series.marks, origin(plot), {
        mode: single ? "lines+markers" : "lines", name: `${plain(series.arm)}${origin(plot)}`, visible: true, showlegend: true,
        stackgroup: "bands", line: { width: 0.5, color: colour }, fillcolor: colour, hoveron: "points",
        fillpattern: { shape: patterns[index], fgcolor: "rgba(255,255,255,.75)", bgcolor: colour, fillmode: "overlay", size: 7, solidity: 0.2 },
        error_x: { visible: false }, error_y: { visible: false },
      });
    });
    return {
      data,
      layout: layout(340, {
        showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" },
        margin: { l: 78, r: 14, t: narrow ? 64 : 36, b: 62 },
        xaxis: axis(plot.x, { range: [place(plot.x, plot.x.low), place(plot.x, plot.x.high)] }), yaxis: axis(plot.y),
      }),
    };
  }

  /** Changes below one another, kinds of work side by side; the texts and colours are those of the page. */
  function heat(plot, index) {
    const own = dark.matches ? 1 : 0;
    const available = document.getElementById(`plot-${index}`).clientWidth;
    const ROW = 21, SIDE = narrow ? 34 : 46, GAP = 8;
    const size = narrow ? 10.5 : 12;
    const longest = (texts) => Math.max(...texts.map((text) => text.length));
    // As far from the left in all of them.
    const left = Math.max(longest(plots.flatMap((one) => one.rows ?? [])), 12) * size * 0.58 + 14;
    const columns = plot.places.at(-1) + 1;
    const cell = Math.min(110, (available - left - SIDE - GAP - 4) / columns);
    const below = plot.rows.length + 0.35;
    // A pixel, in cells and rows.
    const [w, h] = [1 / cell, 1 / ROW];
    const shapes = [];
    const texts = { x: [], y: [], text: [], color: [] };
    const marks = { x: [], y: [], color: [] };
    // What stands under the pointer: an invisible mark in the middle of each cell.
    const points = { x: [], y: [], detail: [] };
    const box = (x0, x1, y0, y1, fillcolor) => {
      const own = { x0: x0 + w, x1: x1 - w, y0: y0 + h, y1: y1 - h, fillcolor };
      shapes.push({ type: "rect", xref: "x", yref: "y", line: { width: 0 }, layer: "below", ...own });
    };
    const point = (x, y, detail) => {
      points.x.push(x);
      points.y.push(y);
      points.detail.push(wrapped(detail));
    };
    const write = (x, y, text, color) => {
      texts.x.push(x);
      texts.y.push(y);
      texts.text.push(text);
      texts.color.push(color);
    };
    const put = (x, y, mark, color) => {
      if (mark !== "●") return write(x, y, plain(mark), color);
      marks.x.push(x);
      marks.y.push(y);
      marks.color.push(color);
    };

    for (const [row, column, step, text, mark, detail] of plot.tiles) {
      const x = plot.places[column], colour = plot.inks[step + 5][own];
      box(x, x + 1, row, row + 1, plot.steps[step + 5][own]);
      point(x + 0.5, row + 0.5, detail);
      const fits = cell >= 6.2 * Math.max(text.length, 4) - (text.length < 4 ? 1 : 0);
      if (fits) write(x + 0.5, row + 0.5, mark && cell >= 32 ? `<b>${plain(text)}</b>` : plain(text), colour);
      // The mark stands at the right of the number, in the corner where that is near, and alone without a number.
      const [dx, dy] = !fits ? [0.5, 0.5] : cell >= 44 ? [1 - 9 * w, 0.5] : [1 - 3.5 * w, 3.5 * h];
      if (mark) put(x + dx, row + dy, mark, colour);
    }
    const side = columns + GAP * w, right = side + SIDE * w;
    for (const [first, last, text, grey, detail] of plot.groups) {
      const line = { color: style("--soft"), width: 1 };
      if (first) shapes.push({ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: first, y1: first, line });
      if (!grey) continue;
      box(side, right, first, last, grey[own]);
      point((side + right) / 2, (first + last) / 2, detail);
      write((side + right) / 2, (first + last) / 2, plain(text), plot.ink[own]);
    }
    plot.sizes.forEach(([text, grey, detail], column) => {
      if (!grey) return;
      const x = plot.places[column];
      box(x, x + 1, below, below + 1, grey[own]);
      point(x + 0.5, below + 0.5, detail);
      if (cell >= 25) write(x + 0.5, below + 0.5, plain(text), plot.ink[own]);
    });

    // The names of columns stand side by side where they have room.
    const upright = longest(plot.columns) * size * 0.55 > cell - 4;
    const top = upright ? longest(plot.columns) * size * 0.58 + 14 : 26;
    const clear = { ticks: "outside", tickcolor: "rgba(0,0,0,0)" };
    const bare = { showgrid: false, zeroline: false, fixedrange: true, tickfont: { size }, ...clear };
    const quiet = { type: "scatter", hoverinfo: "skip", showlegend: false, cliponaxis: false };
    const font = { size: Math.min(12, Math.max(9, cell / 2.9)), color: texts.color };
    return {
      data: [
        {
          ...quiet, hoverinfo: undefined, mode: "markers", x: points.x, y: points.y, customdata: points.detail,
          hovertemplate: "%{customdata}<extra></extra>", marker: { size: Math.min(cell, ROW) * 0.9, opacity: 0 },
        },
        { ...quiet, mode: "text", x: texts.x, y: texts.y, text: texts.text, textfont: font },
        {
          ...quiet, mode: "markers", x: marks.x, y: marks.y,
          marker: { size: cell >= 44 ? 5.5 : 4, color: marks.color },
        },
      ],
      layout: layout(top + (below + 1) * ROW + 8, {
        // A table of few columns is no wider than it needs.
        margin: { l: left, r: Math.max(2, available - left - right * cell - 2), t: top, b: 8 },
        shapes, dragmode: false,
        xaxis: {
          ...bare, range: [0, right], side: "top", ticklen: 3, tickangle: upright ? -90 : 0,
          tickvals: plot.places.map((one) => one + 0.5), ticktext: plot.columns.map(plain),
        },
        yaxis: {
          ...bare, range: [below + 1, 0], ticklen: 5,
          tickvals: [...plot.rows.map((_, row) => row + 0.5), below + 0.5],
          ticktext: [...plot.rows.map(plain), "mean size, %"],
        },
      }),
    };
  }

  // Without Plotly's own bar: it covers marks, cannot be reached by keyboard, and has a button that leads off the page.
  const config = { responsive: true, displayModeBar: false };

  function show(plot, index) {
    const drawn = { dots, lines: plane, bands, heat }[plot.form](plot, index);
    return Plotly.react(`plot-${index}`, drawn.data, drawn.layout, config);
  }

  function draw() {
    return Promise.all(plots.map((plot, index) => show(chosen(plot, index), index)));
  }

  const selects = (index) => [...document.querySelectorAll(`select[data-plot="${index}"]`)];

  /** What is drawn in a place: of several, the one that a reader has chosen, whose title stands above it. */
  function chosen(plot, index) {
    if (!plot.options) return plot;
    const wanted = selects(index).map((select) => select.value);
    const own = plot.options.find(({ choices }) => choices.every((choice, place) => choice === wanted[place])).plot;
    document.getElementById(`plot-${index}-title`).textContent = own.title;
    return own;
  }

  /** What there is to choose: each choice leaves some for the next, and what was chosen before stays where it is
   * left. */
  function offer(plot, index) {
    let left = plot.options;
    selects(index).forEach((select, place) => {
      const values = [...new Set(left.map(({ choices }) => choices[place]))];
      const before = select.value;
      select.replaceChildren(...values.map((value) => new Option(value, value)));
      select.value = values.includes(before) ? before : values[0];
      left = left.filter(({ choices }) => choices[place] === select.value);
    });
  }

  plots.forEach((plot, index) => {
    if (!plot.options) return;
    offer(plot, index);
    for (const select of selects(index)) {
      select.addEventListener("change", () => {
        offer(plot, index);
        drawing.then(() => show(chosen(plot, index), index));
      });
    }
  });
  for (const box of document.querySelectorAll("input[data-subject]")) {
    box.addEventListener("change", () => {
      if (box.checked) off.delete(box.dataset.subject);
      else off.add(box.dataset.subject);
      drawing.then(draw);
    });
    // A browser may remember what was off when the page is opened again.
    if (!box.checked) off.add(box.dataset.subject);
  }
  dark.addEventListener("change", () => drawing.then(draw));
  // What is jumped to must not lie below the bar that stays at the top.
  const bar = document.getElementById("toggles");
  const measure = () => document.documentElement.style.setProperty("--toggles", `${bar?.offsetHeight ?? 0}px`);
  window.addEventListener("resize", measure);
  measure();
  drawing.then(draw).then(() => { document.documentElement.dataset.drawn = plots.length; });
})();
