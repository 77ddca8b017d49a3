#!/usr/bin/env python3
"""Holds the contract (Sources/OperationCore/CONTRACT.md) and the tests together.

Fails when a conformance test names no row, when a test names a row or a sentence that does not exist, when a row has no
test where its column "held on" says, when a sentence has no test, when two suites have one name, and when the list of
tests at the contract's end is not what the tests say; --write makes that list again. --self-test breaks a small
contract in each of these ways and looks whether that is found.

A test names its rows at the beginning of its name: "row 26: honours suspension", "rows 10 and 28: ...". Where all tests
of a suite hold one row, the suite's documentation may name it instead: "/// Row 26: `addBarrierBlock`."

A long row has sentences: "* **41.3** ..." in the section "### Row 41: ...". The row itself says "sentences 41.1 to
41.9". A test may name one, "row 41.3: ...", and is then a test of the row too.
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

NUMBER = r"\d+(?:\.\d+)?"
NUMBERS = rf"{NUMBER}(?:(?:,| and| to)\s+{NUMBER})*"
STRING = r'"(?:[^"\\]|\\.)*"'


def numbers(text):
    """Reads the rows and sentences of "5, 7 and 9 to 11" and of "41.1 to 41.3": (row, sentence) pairs, 0 for the whole
    row."""
    places = []
    for word in re.finditer(rf"(to\s+)?({NUMBER})", text):
        row, _, sentence = word[2].partition(".")
        row, sentence = int(row), int(sentence or 0)
        begin = places[-1] if word[1] and places else None
        if begin and begin[1] and begin[0] == row:
            places += [(row, number) for number in range(begin[1] + 1, sentence + 1)]
        elif begin and not begin[1] and not sentence:
            places += [(number, 0) for number in range(begin[0] + 1, row + 1)]
        else:
            places.append((row, sentence))
    return places


def named(place):
    """Names a row or a sentence as a test does: "row 41", "sentence 41.3"."""
    return f"sentence {place[0]}.{place[1]}" if place[1] else f"row {place[0]}"


def cited(name):
    """Reads the rows and sentences that a name begins with."""
    begin = re.match(rf"rows? ({NUMBERS}):", name)
    return numbers(begin[1]) if begin else []


class Test:
    def __init__(self, path, suite, name, places, is_everywhere):
        self.path, self.suite, self.name, self.places, self.is_everywhere = path, suite, name, places, is_everywhere
        self.rows = list(dict.fromkeys(row for row, _ in places))


class Suite:
    def __init__(self, path, name, documentation):
        self.path, self.name = path, name
        # Rows and sentences that the documentation names.
        parts = re.finditer(rf"\b[Rr]ows? ({NUMBERS})", documentation)
        self.places = [place for part in parts for place in numbers(part[1])]


# -- The contract


def rows_of(contract):
    """Gives [(row, held on)] in the order of the table."""
    lines = [line for line in contract.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [(int(row[0]), row[-1]) for row in cells if len(row) == 4 and row[0].isdigit()]


def sentences_of(contract):
    """Gives the sentences as (row, sentence) pairs, in the order of the contract."""
    return [tuple(map(int, pair)) for pair in re.findall(r"^\* \*\*(\d+)\.(\d+)\*\* \S", contract, re.M)]


def sentence_complaints(contract):
    """Tells where the sentences and the rows of the table do not agree."""
    numbered = {}
    for row, sentence in sentences_of(contract):
        numbered.setdefault(row, []).append(sentence)
    announced = {}
    for line in re.findall(r"^\| \d+ \|.*", contract, re.M):
        row = int(line.split("|")[1])
        if announcement := re.search(r"\b[Ss]entences (\d+)\.1 to \1\.(\d+)\b", line):
            announced[row] = int(announcement[2])
            if int(announcement[1]) != row:
                yield f"{CONTRACT}: row {row} speaks of the sentences of row {announcement[1]}"
    for row in sorted(numbered.keys() | announced.keys()):
        if numbered.get(row) != list(range(1, announced.get(row, 0) + 1)):
            yield (
                f"{CONTRACT}: row {row} has the sentences {', '.join(f'{row}.{sentence}' for sentence in numbered.get(row, [])) or 'none'}:"
                f" number them {row}.1, {row}.2 and so on, and say \"sentences {row}.1 to {row}.N\" in the row"
            )


# -- The tests


def attribute(text, start):
    """Finds what stands in the parentheses behind a "@Test", and where the parentheses end."""
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
    """Splits a text at commas that are in no parentheses and no string."""
    pieces, depth, begin = [], 0, 0
    for token in re.finditer(rf"{STRING}|[(\[{{]|[)\]}}]|,", text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "," and depth == 0:
            pieces.append(text[begin : token.start()].strip())
            begin = token.end()
    return [*pieces, text[begin:].strip()]


def suites_of(path, text):
    """Gives [(where the head ends, Suite)] of the types at the left margin."""
    kinds = "(?:struct|class|enum|actor|extension)"
    head = rf"((?:^///.*\n)*)(?:^@.*\n)*^(?:(?:public|private|fileprivate|final) )*{kinds} (\w+)"
    return [(head_match.end(), Suite(path, head_match[2], head_match[1])) for head_match in re.finditer(head, text, re.M)]


def cases(text, argument):
    """Reads the rows and sentences of a list of cases that a test takes as an argument: `row N: ...`, or
    `Expectation("N", ...)`."""
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
    places = [place for number in re.findall(rf'Expectation\(\s*"({NUMBER})"', listed) for place in numbers(number)]
    return places + [place for string in re.findall(STRING, listed) for place in cited(string[1:-1])]


def tests_of(path, text):
    suites = suites_of(path, text)
    for marker in re.finditer(r"^[ \t]*@Test\b", text, re.M):
        inside, end = attribute(text, marker.end())
        function = re.compile(r"(?:\s|@\w+)*(?:\w+\s+)*?func\s+(`[^`]+`|\w+)").match(text, end)
        if function is None:
            continue
        label, _, arguments = inside.partition("arguments:")
        name = "".join(string[1:-1] for string in re.findall(STRING, label)) or function[1].strip("`")
        taken = parts(arguments) if arguments else []
        suite = next((suite for place, suite in reversed(suites) if place < marker.start()), Suite(path, path.stem, ""))
        places = cited(name) or [place for argument in taken for place in cases(text, argument)]
        if not places and len(suite.places) == 1:
            places = suite.places
        yield suite, Test(path, suite.name, name, list(dict.fromkeys(places)), "allBackends" in taken)


# -- Together


def listing(rows, sentences, tests):
    """Makes the list of tests at the contract's end: of each row, and below it of each of its sentences."""
    lines = ["| row | on every backend | some |", "|--:|---|---|"]
    for row, _ in rows:
        lines.append(listed(str(row), [test for test in tests if row in test.rows]))
        for place in sentences:
            if place[0] == row:
                lines.append(listed(f"{row}.{place[1]}", [test for test in tests if place in test.places]))
    files = {test.suite: test.path.as_posix() for test in tests if test.rows}
    return "\n".join([*lines, ""] + [f"[{suite}]: ../../{path}" for suite, path in sorted(files.items())])


def listed(number, tests):
    everywhere = {test.suite for test in tests if test.is_everywhere}
    some = {test.suite for test in tests} - everywhere
    cells = [", ".join(f"[{suite}]" for suite in sorted(suites)) for suites in (everywhere, some)]
    return f"| {number} | {cells[0]} | {cells[1]} |"


def check(root, pending, write=False):
    """Gives a line for each complaint."""
    root = pathlib.Path(root)
    contract = (root / CONTRACT).read_text(encoding="utf-8")
    rows = rows_of(contract)
    sentences = sentences_of(contract)
    known = {(row, 0) for row, _ in rows} | set(sentences)
    complaints = list(sentence_complaints(contract))
    if [row for row, _ in rows] != list(range(1, len(rows) + 1)):
        complaints.append(f"{CONTRACT}: the rows are not numbered 1, 2, 3 and so on")
    tests, documented = [], {}
    for folder in (CONFORMANCE, PROCESSES):
        for file in sorted((root / folder).rglob("*.swift")):
            path = file.relative_to(root)
            for suite, test in tests_of(path, file.read_text(encoding="utf-8")):
                tests.append(test)
                documented.setdefault((path, suite.name), (suite, set()))[1].update(
                    [*test.places, *((row, 0) for row in test.rows)]
                )
                if folder == CONFORMANCE and not test.rows:
                    complaints.append(f'{path}: "{test.name}" names no row: begin the name with "row N: "')
                for place in sorted(set(test.places) - known):
                    complaints.append(f'{path}: "{test.name}" names {named(place)}, which the contract does not have')
    for (path, name), (suite, named_there) in documented.items():
        for place in sorted(set(suite.places) - named_there):
            complaints.append(f"{path}: the documentation of {name} names {named(place)}, none of its tests does")
    for row, held_on in rows:
        complaints += held(row, held_on, [test for test in tests if row in test.rows], row in pending)
    tested = {place for test in tests for place in test.places}
    complaints += [f"sentence {row}.{number} has no test" for row, number in sentences if (row, number) not in tested]
    complaints += twins(root)

    before, begin, rest = contract.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return [*complaints, f"{CONTRACT} has no lines {BEGIN} and {END}"]
    wanted = f"{before}{BEGIN}\n{listing(rows, sentences, tests)}\n{END}{after}"
    if write:
        (root / CONTRACT).write_text(wanted, encoding="utf-8")
    elif wanted != contract:
        complaints.append(
            f"{CONTRACT}: the list of tests is not what the tests say; scripts/check/contract.py --write makes it again"
        )
    return complaints


def twins(root):
    """Gives a line for each name that two suites of all tests have: a filter and the list in the contract mean one of
    them."""
    places = {}
    for file in sorted({file.resolve() for file in (root / "Tests").rglob("*.swift")}):
        head = r"^(?:@\S+ |(?:public|private|final) )*(?:struct|class|enum|actor) (\w+Tests)\b"
        for name in re.findall(head, file.read_text(encoding="utf-8"), re.M):
            places.setdefault(name, []).append(file.relative_to(root.resolve()).as_posix())
    return [f"{files[0]} and {files[1]} have a suite {name} each" for name, files in places.items() if len(files) > 1]


def held(row, held_on, tests, is_pending):
    """Gives the complaints about one row and the tests that name it."""
    if is_pending:
        return [f"row {row} has tests: take it out of PENDING in scripts/check/contract.py"] if tests else []
    if held_on == EVERYWHERE:
        if any(test.is_everywhere for test in tests):
            return []
        return [f"row {row} has no test on every backend (arguments: allBackends)" if tests else f"row {row} has no test"]
    if not re.match(r"once: .{20,}", held_on):
        return [f'row {row}: "held on" must be "{EVERYWHERE}", or "once: " and the reason']
    if any(test.is_everywhere for test in tests):
        return [f'row {row} is held on every backend: "held on" may say so']
    return [] if tests else [f"row {row} has no test"]


# -- The test of the script itself

SMALL_CONTRACT = f"""# Small

| row | when | then | held on |
|--:|---|---|---|
| 1 | one | two | {EVERYWHERE} |
| 2 | one | two | {EVERYWHERE} |
| 3 | one | two | once: for the sake of this small example |
| 4 | one | two | {EVERYWHERE} |
| 5 | one | two: sentences 5.1 to 5.2 | {EVERYWHERE} |

### Row 5: it has sentences

* **5.1** One.
* **5.2** Two.

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
  @Test("row 5.2: a sentence", arguments: allBackends) func sentence(backend: TestBackend) {}
  @Test("row 5.1: another", arguments: allBackends) func other(backend: TestBackend) {}
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
    (("tests", "row 5.2: a", "row 5.3: a"), "names sentence 5.3, which the contract does not have"),
    (("tests", "row 5.2: a", "row 1.1: a"), "names sentence 1.1, which the contract does not have"),
    (("tests", "row 5.2: a", "rows 5.1 to 5.3: a"), "names sentence 5.3, which the contract does not have"),
    # A test of a sentence is one of the row, which has no other here.
    (("tests", 'row 5.2: a sentence", arguments: allBackends) func sentence(backend: TestBackend) {}\n  @Test("row 5.1: a', "row 4: a"), "row 5 has no test"),
    (("tests", "row 5.1: a", "row 5: a"), "sentence 5.1 has no test"),
    (("cases", "struct CaseTests", "final class SmallTests"), "have a suite SmallTests each"),
    (("tests", "/// Row 4: all", "/// Rows 5.1 and 4: all"), "names row 4, none of its tests does"),
    (("tests", "row 5.2: a", "row 5.1: a"), "the list of tests is not what the tests say"),
    ((CONTRACT, "* **5.2** Two", "* **5.3** Two"), "number them 5.1, 5.2"),
    ((CONTRACT, "* **5.1** One", "* **2.1** One"), "row 2 has the sentences 2.1"),
    ((CONTRACT, "two: sentences 5.1 to 5.2", "two: sentences 5.1 to 5.3"), "row 5 has the sentences 5.1, 5.2"),
    ((CONTRACT, "two: sentences 5.1 to 5.2", "two: sentences 3.1 to 3.2"), "row 5 speaks of the sentences of row 3"),
    ((CONTRACT, "two: sentences 5.1 to 5.2", "two"), "row 5 has the sentences 5.1, 5.2"),
    (("tests", "rows 1 and 2: on", "rows 1 and 7: on"), "names row 7, which the contract does not have"),
    (("cases", "row 3: first", "row 8: first"), "names row 8, which the contract does not have"),
    (("cases", "row 3: first", "first"), "row 3 has no test"),
    (("tests", "rows 1 and 2: on", "row 1: on"), "row 2 has no test"),
    (("tests", "arguments: allBackends)\n  func two", "arguments: others)\n  func two"), "row 2 has no test on every backend"),
    (("tests", "allBackends) func", "allBackends.filter(\\.isOrdered)) func"), "row 4 has no test on every backend"),
    (("tests", "/// Rows 1 and 2: a", "/// Rows 1, 2 and 4: a"), "names row 4, none of its tests does"),
    ((CONTRACT, "| once: for the sake of this small example |", "| once: why not |"), "the reason"),
    (("cases", "arguments: cases", "arguments: cases, allBackends"), "row 3 is held on every backend"),
    ((CONTRACT, "| 4 | one", "| 6 | one"), "not numbered"),
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
            for key, text in ((CONTRACT, SMALL_CONTRACT), ("tests", SMALL_TESTS), ("cases", SMALL_CASES)):
                files[key].parent.mkdir(parents=True, exist_ok=True)
                files[key].write_text(text)
            check(folder, set(), write=True)
            whole = files[name].read_text()
            assert old in whole, old
            files[name].write_text(whole.replace(old, new, 1))
            said = check(folder, set())
        if (said != []) if expected is None else not any(expected in line for line in said):
            failures += 1
            print(f"check/contract: {old!r} for {new!r} gives {said}, not {expected!r}", file=sys.stderr)
    # What is pending needs no test, and must not have one.
    for tests, expected in (([], 0), ([Test("", "", "", [(1, 0)], True)], 1)):
        failures += len(held(1, EVERYWHERE, tests, True)) != expected
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
