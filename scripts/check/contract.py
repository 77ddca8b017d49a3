#!/usr/bin/env python3
"""Holds the contract (Sources/OperationCore/CONTRACT.md) and the tests together.

Fails when a conformance test names no row, when a test names a row that does not exist, when a row has no test where its
column "held on" says, and when the list of tests at the contract's end is not what the tests say; --write makes that list
again. --self-test breaks a small contract in each of these ways and looks whether that is found.

A test names its rows at the beginning of its name: "row 26: honours suspension", "rows 10 and 28: ...". Where all tests of
a suite hold one row, the suite's documentation may name it instead: "/// Row 26: `addBarrierBlock`."
"""

import pathlib
import re
import sys
import tempfile

CONTRACT = "Sources/OperationCore/CONTRACT.md"
# Each test here names a row; in the other folder those do that hold one.
CONFORMANCE, PROCESSES = "Tests/BackendConformanceTests", "Tests/Processes/Tests"
BEGIN, END = "<!-- tests:begin -->", "<!-- tests:end -->"
EVERYWHERE = "every backend"
# Rows whose tests are not written yet; there should be none.
PENDING = set()

NUMBERS = r"\d+(?:(?:,| and| to)\s+\d+)*"
STRING = r'"(?:[^"\\]|\\.)*"'


def numbers(text):
    """The rows of "5, 7 and 9 to 11"."""
    rows = []
    for word in re.finditer(r"(to\s+)?(\d+)", text):
        last = int(word[2])
        rows += range(rows[-1] + 1, last + 1) if word[1] and rows else [last]
    return rows


def cited(name):
    """The rows that a name begins with."""
    found = re.match(rf"rows? ({NUMBERS}):", name)
    return numbers(found[1]) if found else []


class Test:
    def __init__(self, path, suite, name, rows, is_everywhere):
        self.path, self.suite, self.name, self.rows, self.is_everywhere = path, suite, name, rows, is_everywhere


class Suite:
    def __init__(self, path, name, documentation):
        self.path, self.name = path, name
        # Rows that the documentation names.
        places = re.finditer(rf"\b[Rr]ows? ({NUMBERS})", documentation)
        self.rows = [row for found in places for row in numbers(found[1])]


# -- The contract


def rows_of(contract):
    """[(row, held on)] in the order of the table."""
    lines = [line for line in contract.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [(int(one[0]), one[-1]) for one in cells if len(one) == 4 and one[0].isdigit()]


# -- The tests


def attribute(text, start):
    """What stands in the parentheses behind a "@Test", and where it ends."""
    if not text.startswith("(", start):
        return "", start
    depth, place = 0, start
    while place < len(text):
        string = re.compile(STRING).match(text, place)
        if string:
            place = string.end()
            continue
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(text[place], 0)
        place += 1
        if depth == 0:
            return text[start + 1 : place - 1], place
    return text[start + 1 :], len(text)


def parts(text):
    """Split at commas that are in no parentheses and no string."""
    found, depth, begin = [], 0, 0
    for token in re.finditer(rf"{STRING}|[(\[{{]|[)\]}}]|,", text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            found.append(text[begin : token.start()].strip())
            begin = token.end()
    return [*found, text[begin:].strip()]


def suites_of(path, text):
    """[(where it begins, Suite)] of the types at the left margin."""
    kinds = "(?:struct|class|enum|actor|extension)"
    head = rf"((?:^///.*\n)*)(?:^@.*\n)*^(?:(?:public|private|fileprivate|final) )*{kinds} (\w+)"
    return [(found.end(), Suite(path, found[2], found[1])) for found in re.finditer(head, text, re.M)]


def cases(text, argument):
    """The rows of a list of cases that a test takes as an argument: `row N: ...`, or `Expectation("N", ...)`."""
    begin = re.search(rf"\blet {re.escape(argument)}\b[^=\n]*=\s*(\[)", text) if argument.isidentifier() else None
    if begin is None:
        return []
    depth, place = 0, begin.start(1)
    for token in re.finditer(rf"{STRING}|[\[\]]", text[place:]):
        depth += {"[": 1, "]": -1}.get(token[0], 0)
        if depth == 0:
            place += token.end()
            break
    listed = text[begin.start(1) : place]
    rows = [int(found) for found in re.findall(r'Expectation\(\s*"(\d+)"', listed)]
    return rows + [row for found in re.findall(STRING, listed) for row in cited(found[1:-1])]


def tests_of(path, text):
    suites = suites_of(path, text)
    for found in re.finditer(r"^[ \t]*@Test\b", text, re.M):
        inside, end = attribute(text, found.end())
        function = re.compile(r"(?:\s|@\w+)*(?:\w+\s+)*?func\s+(`[^`]+`|\w+)").match(text, end)
        if function is None:
            continue
        label, _, arguments = inside.partition("arguments:")
        name = "".join(one[1:-1] for one in re.findall(STRING, label)) or function[1].strip("`")
        taken = parts(arguments) if arguments else []
        suite = next((one for place, one in reversed(suites) if place < found.start()), Suite(path, path.stem, ""))
        rows = cited(name) or [row for one in taken for row in cases(text, one)]
        if not rows and len(suite.rows) == 1:
            rows = suite.rows
        yield suite, Test(path, suite.name, name, list(dict.fromkeys(rows)), "allBackends" in taken)


# -- Together


def listing(rows, tests):
    """The list of tests at the contract's end."""
    lines = ["| row | on every backend | some |", "|--:|---|---|"]
    for row, _ in rows:
        own = [test for test in tests if row in test.rows]
        everywhere = {test.suite for test in own if test.is_everywhere}
        some = {test.suite for test in own} - everywhere
        cells = [", ".join(f"[{suite}]" for suite in sorted(suites)) for suites in (everywhere, some)]
        lines.append(f"| {row} | {cells[0]} | {cells[1]} |")
    files = {test.suite: test.path.as_posix() for test in tests if test.rows}
    return "\n".join([*lines, ""] + [f"[{suite}]: ../../{path}" for suite, path in sorted(files.items())])


def check(root, pending, write=False):
    """A line for each complaint."""
    root = pathlib.Path(root)
    contract = (root / CONTRACT).read_text(encoding="utf-8")
    rows = rows_of(contract)
    known = {row for row, _ in rows}
    complaints = []
    if [row for row, _ in rows] != list(range(1, len(rows) + 1)):
        complaints.append(f"{CONTRACT}: the rows are not numbered 1, 2, 3 and so on")
    tests, documented = [], {}
    for folder in (CONFORMANCE, PROCESSES):
        for file in sorted((root / folder).rglob("*.swift")):
            path = file.relative_to(root)
            for suite, test in tests_of(path, file.read_text(encoding="utf-8")):
                tests.append(test)
                documented.setdefault((path, suite.name), (suite, set()))[1].update(test.rows)
                if folder == CONFORMANCE and not test.rows:
                    complaints.append(f'{path}: "{test.name}" names no row: begin the name with "row N: "')
                for row in set(test.rows) - known:
                    complaints.append(f'{path}: "{test.name}" names row {row}, which the contract does not have')
    for (path, name), (suite, own) in documented.items():
        for row in sorted(set(suite.rows) - own):
            complaints.append(f"{path}: the documentation of {name} names row {row}, none of its tests does")
    for row, held_on in rows:
        complaints += held(row, held_on, [test for test in tests if row in test.rows], row in pending)

    before, begin, rest = contract.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return [*complaints, f"{CONTRACT} has no lines {BEGIN} and {END}"]
    wanted = f"{before}{BEGIN}\n{listing(rows, tests)}\n{END}{after}"
    if write:
        (root / CONTRACT).write_text(wanted, encoding="utf-8")
    elif wanted != contract:
        complaints.append(
            f"{CONTRACT}: the list of tests is not what the tests say; scripts/check/contract.py --write makes it again"
        )
    return complaints


def held(row, held_on, own, is_pending):
    """Complaints about one row and the tests that name it."""
    if is_pending:
        return [f"row {row} has tests: take it out of PENDING in scripts/check/contract.py"] if own else []
    if held_on == EVERYWHERE:
        if any(test.is_everywhere for test in own):
            return []
        return [f"row {row} has no test on every backend (arguments: allBackends)" if own else f"row {row} has no test"]
    if not re.match(r"once: .{20,}", held_on):
        return [f'row {row}: "held on" must be "{EVERYWHERE}", or "once: " and the reason']
    if any(test.is_everywhere for test in own):
        return [f'row {row} is held on every backend: "held on" may say so']
    return [] if own else [f"row {row} has no test"]


# -- The test of the script itself

SMALL_CONTRACT = f"""# Small

| row | when | then | held on |
|--:|---|---|---|
| 1 | one | two | {EVERYWHERE} |
| 2 | one | two | {EVERYWHERE} |
| 3 | one | two | once: for the sake of this small example |
| 4 | one | two | {EVERYWHERE} |

{BEGIN}
{END}
"""
SMALL_TESTS = """
/// Rows 1 and 2: a suite.
@Suite("Small")
struct SmallTests {
  @Test("row 1: (a name, with a bracket", arguments: allBackends, [1, 2])
  func one(backend: TestBackend) throws {}

  @Test(
    "rows 1 and 2: on several lines",
    arguments: allBackends)
  func two(backend: TestBackend) throws {}
}

/// Row 4: all of it.
struct WholeTests {
  @Test(arguments: allBackends) func `without a number`(backend: TestBackend) {}
}
"""
SMALL_CASES = """
struct CaseTests {
  static let cases = [Case("row 3: first [case"), Case("more")]
  @Test("cases", arguments: cases) func holds(one: Case) {}
  @Test("something else") func other() {}
}
"""
# What is changed (the file, a text, another text), and a part of what must be said of it; None: nothing.
SMALL_BREAKS = [
    ((CONTRACT, "# Small", "# Small"), None),
    (("tests", '"row 1: (a', '"(a'), "names no row"),
    (("tests", "/// Row 4: all", "/// All"), "names no row"),
    (("tests", "rows 1 and 2: on", "rows 1 and 7: on"), "names row 7, which the contract does not have"),
    (("cases", "row 3: first", "row 8: first"), "names row 8, which the contract does not have"),
    (("cases", "row 3: first", "first"), "row 3 has no test"),
    (("tests", "rows 1 and 2: on", "row 1: on"), "row 2 has no test"),
    (("tests", "arguments: allBackends)\n  func two", "arguments: others)\n  func two"), "row 2 has no test on every backend"),
    (("tests", "allBackends) func", "allBackends.filter(\\.isOrdered)) func"), "row 4 has no test on every backend"),
    (("tests", "/// Rows 1 and 2: a", "/// Rows 1, 2 and 4: a"), "names row 4, none of its tests does"),
    ((CONTRACT, "| once: for the sake of this small example |", "| once: why not |"), "the reason"),
    (("cases", "arguments: cases", "arguments: cases, allBackends"), "row 3 is held on every backend"),
    ((CONTRACT, "| 4 | one", "| 5 | one"), "not numbered"),
    ((CONTRACT, "[SmallTests]", "[OtherTests]"), "the list of tests is not what the tests say"),
    ((CONTRACT, BEGIN, ""), "has no lines"),
]


def self_test():
    failures = 0
    for (name, old, new), expected in SMALL_BREAKS:
        with tempfile.TemporaryDirectory() as folder:
            files = {
                CONTRACT: pathlib.Path(folder, CONTRACT),
                "tests": pathlib.Path(folder, CONFORMANCE, "SmallTests.swift"),
                "cases": pathlib.Path(folder, PROCESSES, "CaseTests.swift"),
            }
            for one, text in ((CONTRACT, SMALL_CONTRACT), ("tests", SMALL_TESTS), ("cases", SMALL_CASES)):
                files[one].parent.mkdir(parents=True, exist_ok=True)
                files[one].write_text(text)
            check(folder, set(), write=True)
            whole = files[name].read_text()
            assert old in whole, old
            files[name].write_text(whole.replace(old, new, 1))
            said = check(folder, set())
        if (said != []) if expected is None else not any(expected in line for line in said):
            failures += 1
            print(f"check/contract: {old!r} for {new!r} gives {said}, not {expected!r}", file=sys.stderr)
    # What is pending needs no test, and must not have one.
    for own, expected in (([], 0), ([Test("", "", "", [1], True)], 1)):
        failures += len(held(1, EVERYWHERE, own, True)) != expected
    print(f"check/contract: {len(SMALL_BREAKS) + 2} cases, {failures} wrong")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments not in ([], ["--write"]):
        print("check/contract: the options are --write and --self-test", file=sys.stderr)
        return 64
    complaints = check(pathlib.Path(__file__).resolve().parents[2], PENDING, write=bool(arguments))
    for line in complaints:
        print(f"check/contract: {line}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
