// Draws the charts of the page from their data, again when the colours of the system change or a subject is switched off.
"use strict";

(async () => {
  const plots = JSON.parse(await unpacked("plots"));
  const looks = JSON.parse(document.getElementById("looks").textContent);
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
      hovertemplate: `<b>${plain(series.arm)}</b> ${plain(title)}<br>%{customdata}<extra></extra>`,
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
  function dots(plot) {
    const HEAD = 24, ROW = 19;
    const shapes = [], annotations = [], traces = new Map();
    let top = 0, said = null;
    for (const band of plot.bands) {
      // What is off leaves no row, and a band without rows no heading.
      const rows = band.series.filter((series) => !off.has(series.subject));
      if (!rows.length) continue;
      annotations.push({ text: `<b>${plain(band.title)}</b>`, showarrow: false, xref: "paper", x: 0, xanchor: "left", yref: "y", y: top + HEAD / 2 + 1, font: { size: 12.5, color: style("--ink") } });
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
        if (label !== said) annotations.push(note(label, { xref: "x", x: place(plot.x, at), xanchor: at >= 1 ? "left" : "right", yref: "y", y: top + HEAD - 10, bgcolor: style("--paper") }));
        if (band.guides.length === 1) said = label;
      }
      shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, yref: "y", y0: bottom + 3, y1: bottom + 3, line: { color: style("--line"), width: 1 }, layer: "below" });
      top = bottom + 8;
    }
    const [low, high] = [place(plot.x, plot.x.low), place(plot.x, plot.x.high)];
    const range = [low, high + (high - low) * (narrow ? 0.75 : 0.35)];
    const tall = plot.bands.length > 2;
    const data = [...traces.values()].flatMap(({ series, marks }) => [
      trace(series, marks, "", { mode: "markers", cliponaxis: false }),
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

  function plane(plot) {
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
      const own = trace(series, curve, "", {
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
    // Room for them at the right of the marks.
    const range = plot.series.some((series) => series.marks.some((mark) => mark[LABEL])) ? [low, high + (high - low) * (narrow || !plot.alone ? 0.6 : 0.25)] : [low, high];
    [["METG(50 %)", style("--soft")], ...named].forEach(([label, colour], row) => {
      if (named.length) annotations.push(note(label, { xref: "paper", x: 1, xanchor: "right", yref: "paper", y: 0, yanchor: "bottom", yshift: 4 + 15 * (named.length - row), font: { size: 11, color: colour }, bgcolor: style("--paper"), name: "named" }));
    });
    return {
      data,
      layout: layout(height, {
        margin: { l: 78, r: 14, t: 8, b: 62 }, shapes, annotations, xaxis: axis(plot.x, { range }), yaxis: axis(plot.y),
      }),
    };
  }

  // Without Plotly's own bar: it covers marks, cannot be reached by keyboard, and has a button that leads off the page.
  const config = { responsive: true, displayModeBar: false };

  function draw() {
    return Promise.all(plots.map((plot, index) => {
      const drawn = plot.form === "dots" ? dots(plot) : plane(plot);
      return Plotly.react(`plot-${index}`, drawn.data, drawn.layout, config);
    }));
  }

  for (const box of document.querySelectorAll("#toggles input")) {
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
  const measure = () => document.documentElement.style.setProperty("--toggles", `${bar.offsetHeight}px`);
  window.addEventListener("resize", measure);
  measure();
  drawing.then(draw).then(() => { document.documentElement.dataset.drawn = plots.length; });
})();
