"""Draws a trace of the pipeline: a band for each stage, a bar for each operation from its start to its end, in the
colour of its priority."""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STAGES = ["fetch", "decode", "process", "store"]
COLOURS = {
    "veryHigh": "#b2182b",
    "high": "#ef8a62",
    "normal": "#4d4d4d",
    "low": "#67a9cf",
    "veryLow": "#9ecae1",
}


def bars(events):
    """Gives (stage, start, end, priority) in milliseconds. An operation with an asynchronous body ends with its last
    part."""
    begins = {}
    ends = {}
    for event in events:
        if event["ph"] == "b":
            begins[(event["tid"], event["ts"])] = event["id"]
        elif event["ph"] == "e":
            ends[event["id"]] = event["ts"]
    for event in events:
        if event["ph"] != "X" or event.get("cat") != "operation" or event["args"].get("queue") not in STAGES:
            continue
        start, end = event["ts"], event["ts"] + event["dur"]
        number = begins.get((event["tid"], event["ts"]))
        if number is not None:
            end = max(end, ends.get(number, end))
        yield event["args"]["queue"], start / 1000, end / 1000, event["args"].get("priority", "normal")


def lanes(rows):
    """Puts each bar into the first row that is free."""
    free = []
    for row in sorted(rows, key=lambda row: row[1]):
        lane = next((number for number, end in enumerate(free) if end <= row[1]), len(free))
        if lane == len(free):
            free.append(0)
        free[lane] = row[2]
        yield lane, row


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit("timeline: a trace and a picture are needed: timeline TRACE.json PICTURE.png [FROM_MS TO_MS]")
    try:
        with open(sys.argv[1]) as file:
            events = json.load(file)["traceEvents"]
    except (OSError, ValueError, KeyError):
        print(f"timeline: {sys.argv[1]} is no trace: OPERATIONS_TRACE=trace.json makes one", file=sys.stderr)
        sys.exit(65)
    rows = list(bars(events))
    if not rows:
        print(f"timeline: {sys.argv[1]} has no operation of a pipeline's stages", file=sys.stderr)
        sys.exit(65)
    begin, end = (float(text) for text in sys.argv[3:5]) if len(sys.argv) == 5 else (0, max(row[2] for row in rows))
    rows = [row for row in rows if row[2] >= begin and row[1] <= end]
    figure, axes = plt.subplots(figsize=(12, 5))
    top = 0
    ticks = []
    for stage in STAGES:
        height = 0
        for lane, (_, start, stop, priority) in lanes([row for row in rows if row[0] == stage]):
            width = max(stop - start, (end - begin) / 2000)
            colour = COLOURS.get(priority, "#4d4d4d")
            # A white edge would cover a narrow bar.
            edge = "white" if width > (end - begin) / 300 else colour
            axes.barh(top + lane, width, left=start, height=0.8, color=colour, edgecolor=edge, linewidth=0.4)
            height = max(height, lane + 1)
        if height:
            ticks.append((top + (height - 1) / 2, stage))
            top += height + 1
            axes.axhline(top - 1, color="#dddddd", linewidth=0.8)
    axes.set_yticks([tick[0] for tick in ticks], [tick[1] for tick in ticks])
    axes.set_xlim(begin, end)
    axes.set_ylim(top - 1, -1)
    axes.set_xlabel("milliseconds since the trace began")
    for spine in ("top", "right", "left"):
        axes.spines[spine].set_visible(False)
    used = {row[3] for row in rows}
    names = [name for name in COLOURS if name in used]
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in names]
    axes.legend(handles, names, title="priority at the start", loc="upper right", bbox_to_anchor=(1, 1.14), ncols=len(names), frameon=False)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=110)


main()
