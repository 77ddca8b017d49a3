#!/usr/bin/env python3
"""Holds the documentation and the code together.

Fails when a public symbol of Operations or Laboratory is undocumented; when a sample or a step of the tutorial does not
compile; when a type of SHOWN_TYPES has no sample in its comment; when a command or a sample of a page fails or does not
print the lines that the page shows; when a page names a file that is not there; when a row of the contract speaks of
Foundation and is not in the table of PortingFromFoundation.md; when a comment of the library repeats a measured number;
and when the message of an @available names an API that an asynchronous function cannot use.

Commands stand in blocks of ```console, behind "$ "; what they print stands below them, "..." for lines left out. They
run in a folder of its own, page by page and in order, with the programs of the debug build on the path; ./program is
README.md's. What takes long is run smaller or otherwise, by the list INSTEAD: --list shows each command with what is
run for it, and why. A block of ```output shows what the sample above it prints; numbers and addresses may differ.

Options: --symbols (only those, for which nothing but the library and the laboratory is built), --built (takes what was
built last, whatever with; otherwise the tests' debug build is made), --list, --self-test.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOGUES = (
    "Sources/Operations/Operations.docc", "Sources/OperationComposition/OperationComposition.docc",
    "Sources/DeterministicOperations/DeterministicOperations.docc",
    "Sources/OperationsFoundation/OperationsFoundation.docc",
    "Sources/OperationInstrumentation/OperationInstrumentation.docc",
    "Benchmarks/Laboratory/Laboratory.docc",
)
PORTING, CONTRACT = f"{CATALOGUES[0]}/PortingFromFoundation.md", "Sources/OperationCore/CONTRACT.md"
# Rows that mention Foundation without a difference in behaviour: it traps in the same words, calls the same overrides,
# or is older.
SAME_AS_FOUNDATION = {23, 42}
# The types that every program uses: the comment of each has a sample.
SHOWN_TYPES = tuple(
    f"Sources/OperationCore/{name}.swift"
    for name in ("Operation/Operation", "Operation/BlockOperation", "Operation/AsynchronousOperation", "Queue/OperationQueue", "../OperationForks/SpawnScope",
                 "Tasks/TaskOperation", "Tasks/ConcurrentMap", "Tasks/OperationQueue+Tasks", "Tasks/Operation+Await", "../OperationExecutors/BackendTaskExecutor",
                 "../OperationExecutors/BackendSerialExecutor")
) + tuple(
    f"Sources/DeterministicOperations/{name}.swift"
    for name in ("DeterministicBackend", "DeterministicBackend+Time", "DeterministicClock", "DeterministicOperations", "Seeds", "SeededTasks", "SeededTrait")
) + tuple(
    f"Sources/OperationComposition/{name}.swift"
    for name in ("Receiving", "OperationGroup", "OperationCondition", "MutualExclusion", "TokenBucket", "Deadline", "Retry", "RetryBudget", "Backoff", "Coalescer",
                 "ObservedOperationQueue")
) + tuple(
    f"Sources/OperationInstrumentation/{name}.swift"
    for name in ("OperationMetrics", "OperationLogger", "OperationQueue+Spans", "OperationQueueService")
)
PRODUCTS = ("opbench", "ReadmeSample", "DifferentialRunner", "StressRunner")
LIBRARY = (
    "CPlatform", "CVirtualTime", "Primitives", "Scheduling", "OperationTraceEvents", "OperationJobs", "OperationForks", "OperationLoops", "OperationExecutors", "OperationGraphs", "OperationCore", "OperationTraces", "DispatchBackend", "ThreadPoolBackend", "StealingBackend", "Operations", "OperationBackends",
    "VirtualScheduling", "DeterministicOperations", "OperationComposition",
)
SECONDS = 180

# (what a command is, what is run for it, why). The first that matches counts. \\1 is the rest of the command.
INSTEAD = [
    (r"scripts/bench( .*)?", "bash -n scripts/bench && opbench --backend stealing", "it builds for release, and measures for minutes"),
    (r"scripts/test", "bash -n scripts/test", "scripts/ci passes all tests with it"),
    (r"scripts/check/results", "bash -n scripts/check/results", "it builds for release; scripts/ci runs it in a step of its own"),
    (r"swift test( .*)?", "test -d {root}/Tests/BackendConformanceTests && swift test --help", "scripts/ci passes all tests"),
    (r"scripts/campaign (.*) -- (?:.*)", "scripts/campaign --program $(command -v opbench) \\1 -- run --quick --backend raw-dispatch --benchmark overhead/local-add --values 1 --blocks 6", "it builds for release"),
    (r"scripts/peers", "scripts/peers --help", "it builds programs in four other languages"),
    (r"(opbench run --benchmark 'metg .*)", "\\1 --dry-run", "the sweep of a debug build may not reach half of the peak"),
    (r"(opbench run --benchmark .* --variants)", "\\1 --dry-run", "larger sizes take minutes, and a debug build longer"),
    (r"opbench run --benchmark 'priority/\S+ (.*)", "opbench run --benchmark priority/rank-error \\1", "each of them takes seconds in a debug build"),
    (r"(opbench run --backend [\w,-]+(?: --workers [\d,]+)?(?: --output \S+)?) --benchmark '?forkjoin.*", "\\1", "trees of tasks take minutes in a debug build"),
    (r"scripts/gate .*", "bash -n scripts/gate && opbench gate --help", "it builds two revisions for release, and measures for minutes"),
    (r"opbench compare results/reference\.csv\.gz --reference (?:task-group|nio)", "opbench compare --help", "scripts/check/results runs it"),
    (r"opbench gate --self-test", "opbench gate --help", "scripts/ci runs it"),
    (r"opbench gate --calibrate .*", "opbench gate --help", "it measures for hours"),
    (r"opbench validate .*", "opbench validate --help", "it measures for seven minutes"),
    (r"(opbench simulate(?: --model model\.json --group 8 --socket 32)?)", "\\1 --graph 'stencil_1d(width=64;steps=4)' --repeats 1", "a debug build takes minutes for the larger graph"),
    (r"opbench simulate --graph \S+ (--shard .*)", "opbench simulate --graph 'stencil_1d(width=64;steps=4)' --workers 1,2 --repeats 1 \\1", "a debug build takes minutes for the larger graph"),
    (r"(opbench simulate --(?:graph|metg) .*)", "\\1 --dry-run", "a debug build takes minutes for the larger graph"),
    (r"(opbench report simulated\.csv .*)", "opbench simulate --graph 'stencil_1d(width=64;steps=4)' --repeats 1 --output simulated.csv && \\1", "the command that gives this file is run dry"),
    (r"(opbench calibrate-model --output .*)", "\\1 --rounds 1", "it measures for half a minute"),
    (r"(opbench load .*)", "\\1 --dry-run", "it measures for minutes"),
    (r"(opbench explain .*)", "\\1 --blocks 6", "it measures for half a minute"),
    (r"opbench check-model .*", "opbench check-model --help", "it measures for minutes"),
    (r"Examples/(\w+)/check", "bash -n Examples/\\1/check", "it builds a package for release twice; scripts/ci nightly runs it"),
    (r"scripts/hunt/fuzz .*", "DifferentialRunner --backend stealing --programs 20 --seed 1", "it builds for release"),
    (r"scripts/hunt/stress .*", "OPBENCH_STRESS_SECONDS=1 OPBENCH_STRESS_SEED=1 StressRunner", "it builds for release, and takes minutes"),
    (r"kill -USR1 .*", "true", "./program has ended by then; ThreadTests sends the signal"),
    (r"scripts/ci( [a-z].*)?", "bash -n scripts/ci", "it runs this check"),
    (r"swift run -c release opbench( .*)?", "opbench\\1", "a release build takes minutes more than the debug build of the tests"),
]
# Measuring runs are narrowed: one value of each of two processes, of one benchmark where the command asks for all.
NARROWED = "--blocks 2 --values 1"
ONE_BENCHMARK = "--benchmark overhead/external-add"


def pages(root=ROOT):
    """Gives the pages of the repository, those for users first. The pages of Examples speak of the files of another
    repository."""
    users = [root / "README.md", root / "CONTRIBUTING.md"]
    for catalogue in CATALOGUES:
        users += sorted((root / catalogue).rglob("*.md"))
    others = [page for folder in ("Sources", "Benchmarks", "Tests", "docs", "results") for page in sorted((root / folder).rglob("*.md"))]
    return [page for page in dict.fromkeys([*users, *others]) if page.exists()]


def blocks(text):
    """Gives [(language, lines)] of the fenced blocks."""
    return [(block[1], block[2].splitlines()) for block in re.finditer(r"^```(.*)\n((?:.*\n)*?)```$", text, re.M)]


def documentation(text):
    """Gives the comments of documentation in a Swift file, as Markdown."""
    lines = [re.match(r"\s*/// ?(.*)", line) for line in text.splitlines()]
    return "".join(f"{line[1] if line else ''}\n" for line in lines)


# -- Symbols


def undocumented(graph):
    """Gives a line for each symbol of a symbol graph without documentation, in the order of the files."""
    lines = []
    for symbol in graph["symbols"]:
        if symbol.get("docComment", {}).get("lines"):
            continue
        place = symbol.get("location", {})
        # What the compiler makes, such as init(rawValue:) of an enumeration, has no place.
        if place:
            path = place["uri"].split("file://")[-1].removeprefix(f"{ROOT}/")
            lines.append(f"{path}:{place['position']['line'] + 1}: {'.'.join(symbol['pathComponents'])} is undocumented")
    return sorted(lines)


def symbol_complaints(is_built):
    done = subprocess.run([ROOT / "scripts/docs", "--symbols", *(["--built"] if is_built else [])], capture_output=True, text=True)
    if done.returncode:
        return [f"scripts/docs --symbols failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}"]
    graphs = sorted((ROOT / ".build/docs/symbols").glob("*/*.symbols.json"))
    return [line for graph in graphs for line in undocumented(json.loads(graph.read_text()))]


# -- Samples


def as_program(lines):
    """Makes a sample a file that compiles, and gives the options for it."""
    text = "\n".join(lines) + "\n"
    if lines[0].startswith(".product("):
        lines = [".package(path: \"..\")", *lines]
    if lines[0].startswith(".package("):
        # Lines of Package.swift.
        package, product = lines
        return (
            "import PackageDescription\nlet package = Package(name: \"Program\", dependencies: ["
            f"{package}], targets: [.target(name: \"Program\", dependencies: [{product}])])\n",
            ["-package-description-version", "6.3.0", "-I", str(manifest_folder())],
        )
    if "import Testing" in text:
        return text, ["-parse-as-library", "-plugin-path", str(toolchain() / "lib/swift/host/plugins")]
    return text, ["-parse-as-library"] if "@main" in text else []


def toolchain():
    swift = subprocess.run(["bash", "-c", "readlink -f $(command -v swiftc)"], capture_output=True, text=True).stdout.strip()
    return pathlib.Path(swift).parent.parent


def manifest_folder():
    return toolchain() / "lib/swift/pm/ManifestAPI"


def compile_complaint(name, text, options, flags, folder):
    """Compiles a text; gives one line when that fails, or None."""
    file = pathlib.Path(tempfile.mkdtemp(dir=folder), "main.swift")
    file.write_text(text)
    command = ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", *flags, *options, file]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip())
    return f"{name} does not compile: {first.split('error:')[-1].strip()}"


def masked(line):
    """Gives a line without what differs from run to run."""
    line = re.sub(r"0x[0-9a-f]+", "0x", line.strip())
    line = re.sub(r"\d+(\.\d+)? (ns|µs|us|ms|s)\b", "N s", line)
    return re.sub(r"\bthread \d+|\d+ workers?, \d+ threads?|kernel: \w+", "N", line)


def unprinted_lines(shown, printed):
    """Gives the shown lines that are not printed, in that order; "..." stands for lines left out."""
    rest = iter(masked(line) for line in printed.splitlines())
    return [line for line in shown if line.strip() and line.strip() != "..." and masked(line) not in rest]


def output_complaint(name, sample, shown, flags, folder, binaries):
    """Runs a sample; gives one line when it does not print what is shown, or None. The library's modules are linked
    from their object files."""
    own = pathlib.Path(tempfile.mkdtemp(dir=folder))
    file, program = own / "main.swift", own / "sample"
    file.write_text("\n".join(sample) + "\n")
    # Those that the tests are linked with: a folder of a module may hold files of sources that are gone.
    linked = pathlib.Path(binaries, "opbenchPackageTests.product/Objects.LinkFileList").read_text().splitlines()
    objects = [path for path in linked if re.search(rf"/({'|'.join(LIBRARY)})\.build/", path)]
    command = ["swiftc", "-swift-version", "6", *flags, file, *objects, "-o", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        try:
            done = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"{name} has not ended after {SECONDS} seconds"
    if done.returncode:
        return f"{name} ends with {done.returncode}: {(done.stderr.strip() or 'without a word').splitlines()[-1]}"
    for line in unprinted_lines(shown, done.stdout):
        return f"{name} does not print the line '{line.strip()}'"


def output_calls(flags, folder, binaries):
    for page in pages():
        sample, number = None, 0
        for language, lines in blocks(page.read_text()):
            if language == "swift":
                sample, number = lines, number + 1
            elif language == "output":
                name = f"{page.relative_to(ROOT)}: sample {number}"
                yield (output_complaint, name, sample, lines, flags, folder, binaries) if sample else (str, f"{name}: output without a sample")


# -- Messages of the compiler


def advice(text):
    """Gives [(type, name)] of what the messages of @available in a file name: the type is the one that the declaration
    belongs to."""
    names, owner = [], None
    for line in text.splitlines():
        head = re.match(r"(?:\w+ )*(?:class|struct|enum|actor|protocol|extension) (\w+)", line)
        owner = head[1] if head else owner
        message = re.match(r'\s*@available\(.*\bmessage: "(.*)"\)', line)
        for name in re.findall(r"\b\w+\((?:\w+:)*\)|\b[a-z]+[A-Z]\w*\b", message[1]) if message else []:
            names.append((owner, name))
    return names


def advice_complaint(place, owner, name, flags, folder):
    """Gives one line where an asynchronous function cannot use what the message names, or None. Overloads need not be
    told apart."""
    file = pathlib.Path(tempfile.mkdtemp(dir=folder), "advice.swift")
    # A method is called: a reference to one that may block compiles everywhere.
    use = re.sub(r"(\w+):", lambda label: "some()," if label[1] == "_" else f"{label[1]}: some(),", name).replace(",)", ")")
    follow = f"func some<T>() -> T {{ fatalError() }}\nfunc follow(_ it: {owner}) async {{ _ = try? await it.{use} }}\n"
    file.write_text(f"import OperationComposition\nimport Operations\nimport Laboratory\n{follow}")
    done = subprocess.run(["swiftc", "-typecheck", "-swift-version", "6", *flags, file], cwd=ROOT, capture_output=True, text=True)
    errors = [line.split("error:")[-1].strip() for line in done.stderr.splitlines() if "error:" in line]
    # A name that is unavailable there is a warning in some language modes.
    errors += [line.split("warning:")[-1].strip() for line in done.stderr.splitlines() if "warning:" in line and "unavailable" in line]
    wrong = [error for error in errors if "ambiguous use" not in error]
    return f"{place}: a message says '{name}', which cannot be used there: {wrong[0]}" if wrong else None


def advice_calls(flags, folder):
    for source in sorted([*(ROOT / "Sources").rglob("*.swift"), *(ROOT / "Benchmarks").rglob("*.swift")]):
        for owner, name in advice(source.read_text()):
            yield advice_complaint, source.relative_to(ROOT), owner, name, flags, folder


def sample_calls(flags, folder):
    for page in pages():
        samples = [lines for language, lines in blocks(page.read_text()) if language == "swift"]
        for number, lines in enumerate(samples, 1):
            yield compile_complaint, f"{page.relative_to(ROOT)}: sample {number}", *as_program(lines), flags, folder
    for path in SHOWN_TYPES:
        samples = [lines for language, lines in blocks(documentation((ROOT / path).read_text())) if language == "swift"]
        if not samples:
            yield str, f"{path} has no sample in a comment"
        for number, lines in enumerate(samples, 1):
            yield compile_complaint, f"{path}: sample {number}", *as_program(lines), flags, folder
    for catalogue in CATALOGUES:
        for step in sorted((ROOT / catalogue).rglob("*.swift")):
            yield compile_complaint, step.relative_to(ROOT), step.read_text(), [], flags, folder


# -- Commands


def commands(lines):
    """Gives [(command, the lines shown below it)] of a console block; None where the block is no such."""
    listed = []
    for line in lines:
        if line.startswith("$ "):
            listed.append((line[2:], []))
        elif not listed:
            return None
        elif line.strip() and line != "...":
            listed[-1][1].append(line)
    return listed


def replaced(command, used=None):
    """Says what is run for a command, and why not the command itself (None: it is)."""
    reason = None
    for pattern, instead, why in INSTEAD:
        match = re.fullmatch(pattern, command)
        if match:
            if used is not None:
                used.add(pattern)
            command, reason = re.sub(r"\\1", lambda _: match[1] or "", instead), why
            break
    narrow = re.search(r"\bopbench(?= --(?!help|version|generate)| run| ablate|$)(.*)", command)
    is_short = any(option in command for option in ("--dry-run", "--help")) or all(option in command for option in ("--quick", "--benchmark", "--blocks"))
    if narrow and not is_short:
        rest = re.sub(r" --quick| --blocks \d+| --until \S+| --budget \S+", "", narrow[1])
        rest += f" {NARROWED}" + ("" if "--benchmark" in rest else f" {ONE_BENCHMARK}")
        rest += " --decision lost" if " ablate" in rest and "--decision" not in rest else ""
        command = f"{command[: narrow.start()]}opbench{rest}"
        reason = f"{reason}; it measures" if reason else "it measures for minutes"
    return command, reason


def runnable(command, scratch):
    """Puts the paths of the checkout in their places: the command runs elsewhere."""
    command = command.format(root=ROOT, scratch=scratch) if "{root}" in command or "{scratch}" in command else command
    return re.sub(r"(?<![\w/])(scripts|Examples|results|\.ci)/", lambda folder: f"{ROOT}/{folder[1]}/", command)


def lacking_words(shown, printed):
    """Gives the shown lines of which no printed line has all words: numbers and units differ from run to run."""
    words = lambda line: set(re.findall(r"[A-Za-z_]{4,}", line))
    have = [words(line) for line in printed.splitlines()]
    return [line for line in shown if not any(words(line) <= known for known in have)]


def command_calls(folder, binaries):
    """Gives a call for each page: the commands of one page run in order."""
    # Scripts that would build opbench for release take the program of the tests' build: a build takes longer than a
    # command may.
    environment = {
        **os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "COLUMNS": "140", "OPBENCH": str(pathlib.Path(binaries, "opbench")),
    }  # fmt: skip
    for page in pages():
        scratch = pathlib.Path(folder, "pages", str(page.relative_to(ROOT)).replace("/", "-"))
        scratch.mkdir(parents=True)
        (scratch / "program").symlink_to(pathlib.Path(binaries, "ReadmeSample"))
        yield lambda *call: list(command_complaints(*call)), page, scratch, environment


def command_complaints(page, scratch, environment):
    name = page.relative_to(ROOT)
    for language, lines in blocks(page.read_text()):
        if language not in ("", "console", "swift", "output"):
            yield f"{name}: a block of '{language}': the blocks are of console, of swift, of output, or plain"
        if language != "console":
            continue
        listed = commands(lines)
        if listed is None:
            yield f"{name}: a block of console begins with '{lines[0] if lines else ''}', not with '$ '"
        for command, shown in listed or []:
            run, _ = replaced(command)
            try:
                done = subprocess.run(
                    ["bash", "-c", runnable(run, scratch)], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                    capture_output=True, text=True, timeout=SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                yield f"{name}: '{run}' (for '{command}') has not ended after {SECONDS} seconds"
                continue
            # 69: something that this machine does not have, such as Python with venv; the line says what.
            if done.returncode == 69:
                print(f"check/docs: not run: '{command}': {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            elif done.returncode:
                last = (done.stderr.strip() or done.stdout.strip() or "without a word").splitlines()[-1]
                yield f"{name}: '{run}' (for '{command}') ends with {done.returncode}: {last}"
            else:
                for line in lacking_words(shown, done.stdout + done.stderr):
                    yield f"{name}: '{command}' does not print a line such as '{line.strip()}'"


def unused_complaints():
    used = set()
    for command in page_commands():
        replaced(command[1], used)
    yield from (f"scripts/check/docs.py: no page has a command '{pattern}' any more: take it out of INSTEAD" for pattern, _, _ in INSTEAD if pattern not in used)


def page_commands():
    """Gives (page, command) for each command of the pages."""
    for page in pages():
        for language, lines in blocks(page.read_text()):
            yield from ((page, command) for command, _ in (commands(lines) or [] if language == "console" else []))


# -- Names of files, and the contract

FOLDERS = r"(?:\.ci|\.github|scripts|Sources|Benchmarks|Tests|results|Examples)"


# Pages of what once was: a file that they name may be gone.
HISTORY = "docs/decisions/"


def missing_files(name, text, folder, root=ROOT):
    """Gives a line for each file that a page names and that is not there, and for each link to a heading that is not
    there."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    is_history = str(name).startswith(HISTORY)
    named = [root / path for path in re.findall(rf"`({FOLDERS}/[\w./+-]*)[^`\n]*`", text) if not is_history]
    links = re.findall(r"\]\((?!https?:|doc:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)", text)
    named += [folder / path for path, _ in links if path]
    lines = [f"{name} names {os.path.relpath(path, root)}, which is not there" for path in named if not path.exists()]
    for path, heading in links:
        page = (folder / path) if path else None
        if heading and (page is None or page.exists()) and heading not in headings(page.read_text() if page else text):
            lines.append(f"{name} links to #{heading} of {path or 'itself'}, which has no such heading")
    return lines


def headings(text):
    """Gives the names by which a link finds the headings of a page, as GitHub makes them."""
    return [re.sub(r"[^\w\- ]", "", line.strip().lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)", text, re.M)]


def missing_ways(text, root=ROOT):
    """Gives a line for each file of the table "Ways through the code" that is not there: a folder, and names of Swift
    files in it."""
    table = re.search(r"^\| way of \| files \|\n.*\n((?:\|.*\n)+)", text, re.M)
    for way, files in re.findall(r"^\| (.*?) \| (.*) \|$", table[1] if table else "", re.M):
        for part in files.split(";"):
            folder, *names = re.findall(r"`([^`]+)`", part)
            paths = [f"{folder}/{name}.swift" for name in names] or [folder]
            for path in paths:
                if not any((root / place / path).exists() for place in ("Sources", "Benchmarks", "") if place or not names):
                    yield f"CONTRIBUTING.md: the way of {way} names {path}, which is not there"


def porting_complaints(contract, porting):
    rows = {int(row[1]) for row in re.finditer(r"^\| (\d+) \|.*Foundation.*\|.*\|$", contract, re.M)} - SAME_AS_FOUNDATION
    listed = [int(row[1]) for row in re.finditer(r"^\| (\d+) \|", porting, re.M)]
    yield from (f"{PORTING} lacks row {row}, in which the contract speaks of Foundation" for row in sorted(rows - set(listed)))
    yield from (f"{PORTING} has row {row}, of which the contract says nothing about Foundation" for row in sorted(set(listed) - rows))


# -- Numbers in comments

# A measured number stands on a page of results/ or docs/ alone, where a new measurement changes it. x86 is no ratio.
RATIO = re.compile(r"\bx\d+\.\d+|\d+ ?%")
TIMES = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|\d[\d.,]*) times\b")


def paragraphs(text):
    """Gives [(line number, words)] of the paragraphs of comments in a Swift file."""
    done, open_paragraph = [], None
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = re.match(r"\s*//+(?!/) ?(.*\S)", line)
        if comment and open_paragraph:
            open_paragraph = (open_paragraph[0], f"{open_paragraph[1]} {comment[1]}")
        elif comment:
            open_paragraph = (number, comment[1])
        elif open_paragraph:
            done.append(open_paragraph)
            open_paragraph = None
    return done


def measured_numbers(name, text):
    """Gives a line for each comment that repeats a measured number. A comment may say "ten times" of what nobody
    measured."""
    for number, words in paragraphs(text):
        repeated = RATIO.search(words) or ("`results/" in words and TIMES.search(words))
        if repeated:
            yield f"{name}:{number}: the comment repeats the measured number '{repeated[0]}': it names the page instead"


def number_complaints():
    for source in sorted((ROOT / "Sources").rglob("*.swift")):
        yield from measured_numbers(source.relative_to(ROOT), source.read_text())


# -- The test of the script itself


def self_test():
    graph = lambda *lines: {"symbols": [{"pathComponents": ["A", "b"], "location": {"uri": f"file://{ROOT}/A.swift", "position": {"line": 6}}, **({"docComment": {"lines": list(lines)}} if lines else {})}]}  # fmt: skip
    cases = [
        (undocumented(graph("what")), []),
        (undocumented(graph()), ["A.swift:7: A.b is undocumented"]),
        (blocks("a\n```console\n$ x\n```\n\n```\ny\n```\n"), [("console", ["$ x"]), ("", ["y"])]),
        (blocks(documentation("/// a\n/// ```swift\n///   let b = 1\n///\n/// ```\nlet c = 2 // ```\n  /// ```\n  /// d\n  /// ```\n")), [("swift", ["  let b = 1", ""]), ("", ["d"])]),
        (commands(["$ a", "out 1", "...", "$ b"]), [("a", ["out 1"]), ("b", [])]),
        (commands(["a"]), None),
        (replaced("true"), ("true", None)),
        (replaced("opbench list"), ("opbench list", None)),
        (replaced("opbench run --dry-run"), ("opbench run --dry-run", None)),
        (replaced("opbench run --blocks 9 --benchmark x")[0], f"opbench run --benchmark x {NARROWED}"),
        (replaced("opbench --quick --benchmark x")[0], f"opbench --benchmark x {NARROWED}"),
        (replaced("opbench --quick --benchmark x --blocks 3"), ("opbench --quick --benchmark x --blocks 3", None)),
        (replaced("opbench ablate x --budget 9m")[0], f"opbench ablate x {NARROWED} {ONE_BENCHMARK} --decision lost"),
        (replaced("swift run -c release opbench --quick")[0], f"opbench {NARROWED} {ONE_BENCHMARK}"),
        (lacking_words(["time  12 ns", "bytes 3"], "time 15 us\n"), ["bytes 3"]),
        (unprinted_lines(["a 0x1f", "...", "for 3 ms"], "a 0x22\nb\nfor 40 ms\n"), []),
        (unprinted_lines(["b", "a 2"], "a 2\nb\n"), ["a 2"]),
        (advice('open class A {\n  @available(*, noasync, message: "blocks; use go(_:to:) or aBlock")\n'), [("A", "go(_:to:)"), ("A", "aBlock")]),
        (advice('open class A {\n  @available(*, noasync, message: "blocks the thread")\n'), []),
        (missing_files("P", "`scripts/docs` and `scripts/no --option` [a](b.md) [c](https://d)", ROOT / "x"), ["P names scripts/no, which is not there", "P names x/b.md, which is not there"]),
        (missing_files("P", "# A b: c\n[a](#a-b-c) [b](#no)", ROOT), ["P links to #no of itself, which has no such heading"]),
        (missing_files("docs/decisions/P", "`scripts/no`", ROOT), []),
        (list(missing_ways("| way of | files |\n|---|---|\n| a step | `Scheduling`: `Decision`, `No`; `scripts/docs`; `scripts/no` |\n")), ["CONTRIBUTING.md: the way of a step names Scheduling/No.swift, which is not there", "CONTRIBUTING.md: the way of a step names scripts/no, which is not there"]),
        (len(list(porting_complaints("| 1 | a (Foundation b) | c |\n| 2 | a | c |\n", "| 2 | x |\n"))), 2),
        (list(porting_complaints("| 1 | a (Foundation b) | c |\n", "| 1 | x |\n")), []),
        (paragraphs("/// a\n/// b\n///\n/// c\nlet d = 1\n  // e"), [(1, "a b"), (4, "c"), (6, "e")]),
        (list(measured_numbers("S", "/// newest first takes 14 % less")), ["S:1: the comment repeats the measured number '14 %': it names the page instead"]),
        (len(list(measured_numbers("S", "let a = 1\n  /// shared lists take x1.4\n\n  /// (`results/ablation`)\n  /// takes four times as long"))), 2),
        (list(measured_numbers("S", "/// (`results/ablation`) on x86 many times as long\n\n// ten times as long\nlet part = 5 % 3")), []),
    ]  # fmt: skip
    wrong = [(got, wanted) for got, wanted in cases if got != wanted]
    for got, wanted in wrong:
        print(f"check/docs: {got!r} where {wanted!r} belongs", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        broken = compile_complaint("P", "let a: Int = true\n", [], [], folder)
        # Without the library, the type of each message is the first thing that is missing.
        if not advice_complaint("P", "OperationQueue", "nothing(_:)", [], folder):
            wrong.append("advice")
            print("check/docs: a message that names nothing is not found", file=sys.stderr)
    if broken is None or not broken.startswith("P does not compile:"):
        wrong.append(broken)
        print("check/docs: a sample that does not compile is not found", file=sys.stderr)
    print(f"check/docs: {len(cases) + 2} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def listing():
    for page, command in page_commands():
        run, why = replaced(command)
        print(f"{page.relative_to(ROOT)}: {command}" + (f"\n    runs: {run}\n    since {why}" if why else ""))
    return 0


def complaints(symbols_only, is_built, folder):
    yield from symbol_complaints(is_built)
    if symbols_only:
        return
    for product in () if is_built else PRODUCTS:
        command = ["bash", "-c", 'source scripts/support/built-program && built_program "$0"', product]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            yield f"{product} does not build: {done.stderr.strip().splitlines()[-1:]}"
            return
    binaries = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    flags = (ROOT / ".build/docs/symbols/flags").read_text().splitlines()
    for page in pages():
        yield from missing_files(page.relative_to(ROOT), page.read_text(), page.parent)
    yield from missing_ways((ROOT / "CONTRIBUTING.md").read_text())
    yield from number_complaints()
    yield from porting_complaints((ROOT / CONTRACT).read_text(), (ROOT / PORTING).read_text())
    yield from unused_complaints()
    # As many side by side as there are CPUs: calls of the compiler, and the commands of a page.
    calls = [*command_calls(folder, binaries), *sample_calls(flags, folder), *output_calls(flags, folder, binaries), *advice_calls(flags, folder)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for told in threads.map(lambda call: call[0](*call[1:]), calls):
            yield from [told] if isinstance(told, str) else told or []


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments == ["--list"]:
        return listing()
    if not set(arguments) <= {"--symbols", "--built"}:
        print("check/docs: the options are --symbols, --built, --list and --self-test", file=sys.stderr)
        return 64
    symbols_only = "--symbols" in arguments
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for line in complaints(symbols_only, "--built" in arguments, folder):
            count += 1
            print(f"check/docs: {line}", file=sys.stderr)
    if not count:
        print("check/docs: the pages and the code agree" if not symbols_only else "check/docs: every public symbol is documented")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
