#!/usr/bin/env python3
"""Holds the public surface of the library products to lists: docs/api/PRODUCT.txt, a line for each symbol and each
conformance.

OperationBackends exports all that Operations does, and more: its list has what only it has. Which names Operations
exports is read from Sources/Operations/Operations.swift.

A symbol that becomes public or vanishes is one line on standard error, so that nothing becomes public by accident.
--write makes the lists again: the change then shows in the commit. --built takes the modules as they were built last.
--self-test looks whether an added and a vanished symbol are told.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = "docs/api"
# What the compiler adds to nearly every type, by its version.
IMPLIED = {"Swift.SendableMetatype", "Swift.Copyable", "Swift.Escapable", "Swift.BitwiseCopyable"}
RELATIONS = {"conformsTo": "conforms to", "inheritsFrom": "inherits from"}


def surface(graphs):
    """Gives the sorted lines of a module's symbol graphs."""
    symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in symbols}
    lines = set()
    for symbol in symbols:
        # A block of extensions is no symbol of its own: its members are.
        if symbol["kind"]["identifier"] != "swift.extension":
            declaration = " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())
            openly = "open " if symbol["accessLevel"] == "open" else ""
            lines.add(f"{names[symbol['identifier']['precise']]}: {openly}{declaration.removeprefix('public ')}")
    for graph in graphs:
        for relation in graph["relationships"]:
            words, target = RELATIONS.get(relation["kind"]), relation.get("targetFallback", "")
            if words and relation["source"] in names and target not in IMPLIED:
                target = names.get(relation["target"]) or target.removeprefix("Swift.")
                lines.add(f"{names[relation['source']]}: {words} {target}")
    return sorted(lines)


def two_doors(lines, exported):
    """Gives the lines of Operations and those of OperationBackends: of the types and functions of the core, some are
    exported by name.

    The other types are those that a line declares. What extends a type of somebody else's is everybody's."""
    declared = {line.split(":")[0] for line in lines if re.match(r"\w+: (@\w+ )?(open |final |indirect )*(class|struct|enum|protocol|actor) ", line)}
    second = declared - exported
    root = lambda line: re.match(r"\w+", line)[0] if re.match(r"\w+", line) else ""
    return [line for line in lines if root(line) not in second], [line for line in lines if root(line) in second]


def exported_names(text):
    """Gives the names that a file exports one by one, and those of the modules that it exports: a module of a backend
    is its class."""
    return set(re.findall(r"^@_exported import (?:\w+ \w+\.)?(\w+)$", text, re.M))


def differences(module, listed, public):
    """Gives a line for each difference between a list and what is public."""
    yield from (f"{module}: public, and not listed: {line}" for line in sorted(set(public) - set(listed)))
    yield from (f"{module}: listed, and public no more: {line}" for line in sorted(set(listed) - set(public)))


def surfaces(is_built):
    """Gives {product: its lines}; ends the program when the symbols cannot be had."""
    done = subprocess.run([ROOT / "scripts/docs", "--symbols", *(["--built"] if is_built else [])], capture_output=True, text=True)
    if done.returncode:
        print(f"check/api: scripts/docs --symbols failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}", file=sys.stderr)
        sys.exit(done.returncode)
    products = sorted(path for path in (ROOT / ".build/docs/symbols").iterdir() if path.is_dir())
    lines = {
        product.name: surface([json.loads(graph.read_text()) for graph in sorted(product.glob("*.symbols.json"))])
        for product in products
    }
    names = exported_names((ROOT / "Sources/Operations/Operations.swift").read_text())
    lines["Operations"], lines["OperationBackends"] = two_doors(lines["Operations"], names)
    return lines


def self_test():
    def symbol(name, declaration, kind="swift.struct", access="public"):
        return {"identifier": {"precise": name}, "kind": {"identifier": kind}, "pathComponents": name.split("."),
                "accessLevel": access, "declarationFragments": [{"spelling": declaration}]}  # fmt: skip

    graph = {
        "symbols": [symbol("A", "struct A", access="open"), symbol("A.b", "public  func\nb()"), symbol("Int", "extension Int", "swift.extension")],
        "relationships": [
            {"kind": "conformsTo", "source": "A", "target": "s:SH", "targetFallback": "Swift.Hashable"},
            {"kind": "conformsTo", "source": "A", "target": "s:x", "targetFallback": "Swift.SendableMetatype"},
            {"kind": "memberOf", "source": "A.b", "target": "A"},
        ],
    }
    before = ["A.b: func b()", "A: conforms to Hashable", "A: open struct A"]
    added = {**graph, "symbols": [*graph["symbols"], symbol("A.c", "public var c: Int { get }")]}
    cases = [
        (surface([graph]), before),
        (list(differences("M", before, surface([graph]))), []),
        (list(differences("M", before, surface([added]))), ["M: public, and not listed: A.c: var c: Int { get }"]),
        (list(differences("M", [*before, "B: class B"], surface([graph]))), ["M: listed, and public no more: B: class B"]),
    ]
    doors = ["A.b: func b()", "A: open class A", "B.A: struct A", "B: @frozen struct B<C>", "Array.d(): func d()", "join(_:): func join()"]
    names = exported_names("@_exported import class Core.A\n@_exported import func Core.join\nimport Core.B\n@_exported import Pool\n")
    cases += [
        (names, {"A", "join", "Pool"}),
        (two_doors(doors, names), (doors[:2] + doors[4:], doors[2:4])),
    ]
    wrong = [(got, wanted) for got, wanted in cases if got != wanted]
    for got, wanted in wrong:
        print(f"check/api: {got!r} where {wanted!r} belongs", file=sys.stderr)
    print(f"check/api: {len(cases)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not set(arguments) <= {"--write", "--built"}:
        print("check/api: the options are --write, --built and --self-test", file=sys.stderr)
        return 64
    folder = ROOT / LISTS
    public = surfaces("--built" in arguments)
    if "--write" in arguments:
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.txt"):
            path.unlink()
        for module, lines in public.items():
            (folder / f"{module}.txt").write_text("".join(f"{line}\n" for line in lines))
        return 0
    listed = {path.stem: path.read_text().splitlines() for path in folder.glob("*.txt")}
    told = [line for module in sorted({*public, *listed}) for line in differences(module, listed.get(module, []), public.get(module, []))]
    for line in told:
        print(f"check/api: {line}", file=sys.stderr)
    if told:
        print(f"check/api: scripts/check/api.py --write makes {LISTS} again, when that is meant", file=sys.stderr)
        return 1
    print(f"check/api: {sum(map(len, public.values()))} lines of {len(public)} products are public as {LISTS} says")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
