#!/usr/bin/env python3
"""Holds the generated code of the library's hot functions to a table: Sources/OperationCore/Lifecycle/Codegen.md.

Builds a release program, disassembles it, and counts in each function of the table: calls that retain, release, check
exclusive access and allocate objects, and instructions that lock a cache line or are a fence. More than the table says
is an error; --write makes the table again. --self-test looks whether each kind is counted. Exit code 69: no
disassembler here.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

TABLE = "Sources/OperationCore/Lifecycle/Codegen.md"
PRODUCT = "StressRunner"
KINDS = ("retain", "release", "access", "object", "locked")
CALLS = {
    "retain": r"swift_(bridgeObject)?[rR]etain", "release": r"swift_(bridgeObject)?[rR]elease",
    "access": r"swift_(begin|end)Access", "object": r"swift_(allocObject|slowAlloc)|cplatform_allocate",
}
# An exchange with memory locks without the prefix, and a fence waits as long.
LOCKED = re.compile(r"\block\b|\bmfence\b|\bxchg\w*\s.*\(%")


def fail(code, text):
    print(f"check/codegen: {text}", file=sys.stderr)
    sys.exit(code)


def counts(listing):
    """Counts what each function of a disassembly does, by symbol."""
    functions = {}
    current = None
    for line in listing:
        begin = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if begin:
            current = functions.setdefault(begin[1], collections.Counter())
            continue
        if current is None or ":" not in line:
            continue
        instruction = line.split(":", 1)[1].strip()
        if LOCKED.search(instruction):
            current["locked"] += 1
        call = re.match(r"(?:call|jmp)\w*\s.*<([^>@+]+)", instruction)
        if call:
            for kind, pattern in CALLS.items():
                if re.match(pattern, call[1]):
                    current[kind] += 1
    return functions


def disassemble(program):
    tool = shutil.which("objdump") or shutil.which("llvm-objdump")
    if not tool:
        fail(69, "there is no objdump; Debian's package binutils has it")
    done = subprocess.run([tool, "-d", "--no-show-raw-insn", program], capture_output=True, text=True)
    if done.returncode != 0:
        fail(70, f"{tool} failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout.splitlines()


def demangled(symbols):
    done = subprocess.run(
        ["swift", "demangle", "-compact"], input="\n".join(symbols), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def self_test():
    listing = [
        "0000000000001000 <hot>:", "  1000:\tlock cmpxchg %rcx,0x20(%rbx)", "  1008:\txchg   %eax,(%r12)",
        "  100c:\txchg   %ax,%ax", "  100e:\tmfence", "  1010:\tcall   2000 <swift_retain@plt>", "  1015:\tjmp    2010 <swift_release@plt>",
        "  101a:\tcall   2020 <swift_beginAccess@plt>", "  101f:\tcall   2030 <swift_allocObject@plt>",
        "  1024:\tjne    1000 <hot+0x10>", "", "0000000000001100 <cold>:", "  1100:\tret",
    ]
    expected = {"hot": {"locked": 3, "retain": 1, "release": 1, "access": 1, "object": 1}, "cold": {}}
    if {name: dict(count) for name, count in counts(listing).items()} != expected:
        fail(1, f"the counts of a small listing are wrong: {counts(listing)}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] not in ([], ["--write"]):
        fail(64, "takes --write, --self-test, or nothing")
    if subprocess.run(["swift", "build", "-c", "release", "--product", PRODUCT], stdout=sys.stderr).returncode != 0:
        fail(70, f"{PRODUCT} does not build; what the compiler said stands above")
    folder = subprocess.run(
        ["swift", "build", "-c", "release", "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
    functions = counts(disassemble(f"{folder}/{PRODUCT}"))
    names = dict(zip(functions, demangled(functions)))
    table = pathlib.Path(TABLE)
    written, wrong, checked = [], [], 0
    for line in table.read_text().splitlines():
        row = re.match(r"\| `(.+?)` \|(.+)\|$", line)
        if not row:
            written.append(line)
            continue
        checked += 1
        symbols = [symbol for symbol, readable in names.items() if row[1] in readable]
        total = sum((functions[symbol] for symbol in symbols), collections.Counter())
        written.append(f"| `{row[1]}` |" + "".join(f" {total[kind]} |" for kind in KINDS))
        if not symbols:
            wrong.append(f"{row[1]}: no such function in {PRODUCT}; was it renamed?")
        for kind, most in zip(KINDS, row[2].split("|")):
            if total[kind] > (int(most) if most.strip().isdigit() else 0):
                wrong.append(f"{row[1]}: {kind} {total[kind]}, the table allows {most.strip()}")
    if sys.argv[1:] == ["--write"]:
        return table.write_text("\n".join(written) + "\n")
    if wrong:
        fail(1, "\n  ".join(["the hot functions do more than the table says; if that must be, run with --write", *wrong]))
    print(f"the generated code of {checked} functions is as the table says")


if __name__ == "__main__":
    main()
