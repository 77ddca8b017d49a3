#!/usr/bin/env python3
"""Example: the numbers of the printed table from its CSV, with pandas (python3 -m venv .venv && .venv/bin/pip install pandas).

scripts/table.py X.csv prints, for each cell, the median over processes and the ratio to the reference, as `opbench run` does.
"""

import json, sys
import numpy, pandas

rows = pandas.read_csv(sys.argv[1], dtype={"params": str}).fillna({"params": ""})
record = json.load(open(sys.argv[1].removesuffix(".csv") + ".env.json"))
outcome, reference = record["outcome"], record.get("reference")
rows["name"] = rows.family + "/" + rows.benchmark
within = lambda few: rows.params.map(lambda all: set(few.split(";")) - {""} <= set(all.split(";")))
for x in outcome["excluded_blocks"]:
    rows = rows[~((rows.name == x["benchmark"]) & (rows.block == x["block"]) & within(x["params"]))]
for x in outcome["failures"]:
    rows = rows[~((rows.name == x["benchmark"]) & (rows.backend == x["backend"]) & (rows.workers == x["workers"]) & within(x["params"]))]
cell = ["name", "params", "metric", "backend", "workers"]
process = rows.groupby(cell + ["block"]).value.median()
wide = process.unstack(["backend", "workers"])
base = wide.xs(reference, axis=1, level="backend").iloc[:, -1] if reference in wide else numpy.nan
logs = numpy.log(wide.where(wide > 0).div(base.where(base > 0), axis=0))
table = pandas.concat({"median": process.groupby(cell).median(), "ratio": numpy.exp(logs.stack(["backend", "workers"]).groupby(cell).median())}, axis=1)
print(table.to_string())
