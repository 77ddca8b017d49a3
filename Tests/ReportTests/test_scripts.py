"""What the scripts themselves decide: whose Python files are taken, when a reference run is gone on with, when the
table of targets is stale, and what they share in scripts/support."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import changes
import pytest
import synthetic

from opbench_report.published import texts


@pytest.fixture()
def checkout(tmp_path, root):
    """The scripts and the report, with the Python that runs the tests and a bench that only notes what it is told."""
    checkout = tmp_path / "checkout"
    shutil.copytree(root / "scripts", checkout / "scripts")
    (checkout / "Benchmarks").mkdir()
    (checkout / "Benchmarks/report").symlink_to(root / "Benchmarks/report")
    environment = checkout / ".build/plot-venv"
    program(environment / "bin/python", f'exec "{sys.executable}" "$@"')
    shutil.copy(root / "Benchmarks/report/requirements.txt", environment / "made-from")
    program(checkout / "scripts/bench", 'echo "$*" >>told; exit 130')
    (checkout / "README.md").write_text("".join(f"{line}\n" for part in texts.PARTS for line in texts.marks(part)))
    return checkout


def program(path, line):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def call(checkout, name, *arguments, folder=None, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | variables
    return subprocess.run(
        [checkout / "scripts" / name, *arguments],
        cwd=folder or checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "name, arguments, code, words",
    [
        ("plot", ["--facts", "none.json", "--help"], 0, "report.html"),
        ("check/results", [], 0, "there is no results/reference.csv.gz yet"),
        ("results/reference", ["--from", "no.csv"], 66, "there is no such file"),
    ],
)
def test_python_files_of_the_folder_are_not_taken(checkout, opbench, name, arguments, code, words):
    (checkout / "csv.py").write_text("raise SystemExit('taken from the folder')\n")
    done = call(checkout, name, *arguments, OPBENCH=opbench)
    assert done.returncode == code and words in done.stdout + done.stderr, done


@pytest.mark.parametrize(
    "left, goes_on",
    [
        ({}, False),
        ({"reference.csv": "", "reference.env.json": '{ "was_interrupted" : false }'}, False),
        # As opbench writes it, and as results/ has it.
        ({"reference.csv": "", "reference.env.json": '{\n    "was_interrupted" : true\n}'}, True),
        ({"reference.csv": "", "reference.env.json": '{ "was_interrupted": true }'}, True),
        ({"reference.csv.partial": ""}, True),
    ],
)
def test_a_reference_run_that_was_stopped_goes_on(checkout, left, goes_on):
    work = checkout / ".build/reference"
    work.mkdir()
    for name, text in {"validate.txt": "", **left}.items():
        (work / name).write_text(text)
    assert call(checkout, "results/reference").returncode == 130
    (told,) = (checkout / "told").read_text().splitlines()
    assert told.startswith("run --backend all --output") and told.endswith(" --resume") == goes_on


@pytest.mark.parametrize("name", ["plot", "check/report", "check/results", "check/workflows"])
def test_the_script_that_lacks_python_says_so_in_its_own_name(checkout, name):
    shutil.rmtree(checkout / ".build/plot-venv")
    program(checkout / "old/python3", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    # A document spares scripts/plot the program that makes it.
    arguments = ["--facts", "none.json"] if name == "plot" else []
    done = call(checkout, name, *arguments, PATH=f"{checkout / 'old'}:{os.environ['PATH']}")
    assert done.returncode == 69
    assert done.stderr == f"{name}: Python 3.9.2 is too old: 3.11 or newer is needed\n", done


def shell(checkout, text):
    """Runs lines of bash with the programs of `bin` first."""
    return subprocess.run(
        ["bash", "-euc", text], cwd=checkout, capture_output=True, text=True, timeout=60,
        env=dict(os.environ, PATH=f"{checkout / 'bin'}:{os.environ['PATH']}"))


def test_packages_are_installed_with_new_lists_where_the_old_ones_lack_them(checkout):
    program(checkout / "bin/sudo", 'shift; exec "$@"')
    program(checkout / "bin/apt-get", 'echo "$*" >>told; case "$*" in *update) touch new ;; *) [ -e new ] ;; esac')
    install = "source scripts/support/debian-packages; install_packages peers one two"
    done = shell(checkout, install)
    assert done.returncode == 0 and done.stderr == "peers: installing one two\n", done
    wanted = "-q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install one two"
    assert (checkout / "told").read_text().splitlines() == [wanted, "-q update", wanted]
    program(checkout / "bin/apt-get", "exit 100")
    assert shell(checkout, install).returncode != 0


def test_a_program_that_does_not_build_has_no_path(checkout):
    find = "source scripts/support/built-program; program=$(built_program opbench -c release); echo $program"
    program(checkout / "bin/swift", 'echo "$*" >>told; case "$*" in *--show-bin-path) echo /built ;; *) echo compiling ;; esac')
    done = shell(checkout, find)
    assert (done.stdout, done.stderr) == ("/built/opbench\n", "compiling\n")
    assert (checkout / "told").read_text().splitlines() == [
        "build -c release --product opbench", "build -c release --show-bin-path"]
    program(checkout / "bin/swift", 'case "$*" in *--show-bin-path) echo /built ;; *) exit 1 ;; esac')
    done = shell(checkout, find)
    assert done.returncode == 1 and not done.stdout, done


def peers(checkout, *arguments, **programs):
    """Calls scripts/peers, with programs of a test that come first on the path."""
    for folder in "Benchmarks/peers", "Benchmarks/CWorkloads":
        (checkout / folder).symlink_to(pathlib.Path(__file__).parents[2] / folder)
    for name, line in programs.items():
        program(checkout / "bin" / name, line)
    return call(checkout, "peers", *arguments, PATH=f"{checkout / 'bin'}:{os.environ['PATH']}")


FROM = "--from takes NAME=FOLDER with a NAME of rayon tokio taskflow libfork citor toomanycooks, and not "


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["--from", "rayon=/nowhere"], 66, "--from rayon=/nowhere: there is no such folder"),
        (["--from", "tbb=/tmp"], 64, f"{FROM}'tbb=/tmp'"),
        (["--from", "tokio"], 64, f"{FROM}'tokio'"),
        (["--from"], 64, f"{FROM}''"),
        (["citor"], 0, "skipping citor: it needs --from citor=FOLDER, the folder of a checkout of yours"),
        (["--form=rayon=/tmp"], 64, "there is no option --form=rayon=/tmp; there is --from NAME=FOLDER"),
    ],
)
def test_wrong_checkouts_of_peers_get_one_line(checkout, arguments, code, words):
    done = peers(checkout, *arguments)
    assert (done.returncode, done.stderr) == (code, f"peers: {words}\n"), done


# Where it is asked for a lock file or a program, it writes one; it reaches no registry.
CARGO = """echo "$*" >>"$(dirname "$0")/../told"
case $1 in
info) exit 101 ;;
generate-lockfile) printf '[[package]]\\nname = "other"\\nversion = "9"\\n[[package]]\\nname = "rayon"\\nversion = "1.12.0"\\n' >"${4%toml}lock" ;;
build) mkdir -p "$CARGO_TARGET_DIR/release"; peer="$CARGO_TARGET_DIR/release/peer"; printf '#!/bin/sh\\necho "version\t%s"\\n' "$PEER_VERSION" >"$peer"; chmod +x "$peer" ;;
esac"""

# What is missing is installed at once, by nobody: the sources of a crate may be there already or not.
INSTALLS = {"apt-get": "exit 0", "id": "echo 0"}


def test_a_checkout_stands_in_for_a_crate_and_its_commit_in_the_version(checkout):
    folder = checkout / "rayon"
    folder.mkdir()
    done = peers(checkout, "--from", "rayon=rayon", cargo=CARGO, rustc="echo rustc 1.96.0", **INSTALLS)
    assert done.returncode == 1 and "rayon has no crate 'rayon': give the folder of a checkout of rayon" in done.stderr, done
    (folder / "Cargo.toml").write_text('[package]\nname = "rayon"\n')
    subprocess.run(
        ["bash", "-euc", "git init -q; git add .; git -c user.name=a -c user.email=a@b commit -qm a"], cwd=folder, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True).stdout[:10]
    done = call(checkout, "peers", "--from=rayon=rayon", PATH=f"{checkout / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 0 and done.stderr.endswith(f"peers: rayon: rayon 1.12.0 of {commit}, rustc 1.96.0\n"), done
    told = (checkout / "told").read_text()
    assert f'patch.crates-io.rayon.path="{folder}"' in told and 'source.crates-io.replace-with="debian"' in told


def test_a_checkout_that_cargo_passes_over_is_not_measured_as_one(checkout):
    folder = checkout / "rayon"
    folder.mkdir()
    (folder / "Cargo.toml").write_text('[package]\nname = "rayon"\n')
    cargo = CARGO.replace("\\n' >", "\\n[[patch.unused]]\\nname = \"rayon\"\\n' >")
    done = peers(checkout, "--from", "rayon=rayon", cargo=cargo, rustc="echo rustc 1.96.0", **INSTALLS)
    assert done.returncode == 1 and not (checkout / ".build/peers/rayon").exists(), done
    line = f"peers: {folder} needs crates that cargo cannot reach here: give a checkout of an older version"
    assert line in done.stderr.splitlines(), done


# The program that it makes says what the compiler was told of the checkout.
GXX = """for one; do
case $last in -o) program=$one ;; -isystem) headers=$one ;; esac
case $one in -DCHECKOUT=*) commit=${one#*=} ;; esac
last=$one
done
printf '#!/bin/sh\\necho "version\t%s in %s"\\n' "$commit" "$headers" >"$program"
chmod +x "$program\""""


def test_a_peer_of_headers_is_built_from_a_checkout(checkout):
    headers = checkout / "a folder/include"
    headers.mkdir(parents=True)
    done = peers(checkout, "--from", "citor=a folder", **{"g++": GXX})
    lines = [f"peers: {headers.parent} has no include/citor/thread_pool.h: give the folder of a checkout of citor",
             "peers: citor did not build"]
    assert done.returncode == 1 and done.stderr.splitlines() == lines, done
    (headers / "citor").mkdir()
    (headers / "citor/thread_pool.h").touch()
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    done = call(checkout, "peers", "--from=citor=a folder", PATH=path)
    assert (done.returncode, done.stderr) == (0, f"peers: citor: a folder without commits in {headers}\n"), done
    # The program stays until a source changes.
    assert call(checkout, "peers", "citor", PATH=path).stderr == ""


def test_where_the_index_gives_nothing_the_toolchain_is_that_of_debian(checkout):
    go = """case $1 in build) printf '#!/bin/sh\\necho "version\tgo1.19.8"\\n' >"$3"; chmod +x "$3" ;; esac"""
    done = peers(checkout, "go", go=go, python3='[ "$1" != --version ] || echo Python 3.9.2; exit 1')
    assert done.returncode == 0, done
    assert done.stderr.splitlines() == [
        "peers: Python 3.9.2 is too old: 3.11 or newer is needed", "peers: going on with Debian's oneTBB and Go",
        "peers: go: go1.19.8"]


@pytest.mark.parametrize(
    "java, javac, code, words",
    [
        ("17.0.15", "exit 1", 0, "skipping java: it needs openjdk-21-jre-headless (apt-get install openjdk-21-jre-headless)"),
        ("21.0.1", "echo error: release version 17 not supported; exit 2", 1, "java did not build"),
    ],
)
def test_a_java_that_is_too_old_gets_one_line(checkout, java, javac, code, words):
    programs = {"apt-get": "exit 1", "g++": "exit 1", "python3": "exit 1", "javac": javac,
                "java": f"""echo 'openjdk version "{java}"' >&2"""}
    done = peers(checkout, "java", **programs)
    lines = done.stderr.splitlines()
    assert done.returncode == code and lines[-1] == f"peers: {words}" and "peers: going on with Debian's Java" in lines, done


@pytest.mark.parametrize(
    "version, words",
    [
        ("0.17.2", "zig: zig 0.17.2"),
        ("0.16.0", "skipping zig: it needs Zig 0.17, of Python's package index or on the path (ziglang.org/download); "
         "Debian has none"),
    ],
)
def test_where_the_index_gives_no_zig_that_on_the_path_must_be_of_its_version(checkout, version, words):
    zig = f"""case $1 in
version) echo {version} ;;
build-exe) for last; do :; done; printf '#!/bin/sh\\necho "version\tzig {version}"\\n' >"${{last#-femit-bin=}}"; chmod +x "${{last#-femit-bin=}}" ;;
esac"""
    done = peers(checkout, "zig", zig=zig, python3="exit 1")
    assert done.returncode == 0, done
    assert done.stderr.splitlines()[1:] == ["peers: going on with the zig on the path", f"peers: {words}"], done


@pytest.mark.parametrize("status", [0, 70, 69])
def test_cells_that_failed_are_part_of_what_is_kept(checkout, opbench, status):
    """With 70 a run has failed cells and a result; with anything else it has no result."""
    targets_run(checkout / "made", "run")
    (checkout / ".build/targets").mkdir()
    result, environment = checkout / "made/run.csv.gz", checkout / "made/run.env.json"
    record = json.loads(environment.read_text())
    record["arguments"] = ["opbench", "run", "--benchmark", "^dependencies/chain", "--output", "/home/somebody/targets.csv"]
    environment.write_text(json.dumps(record))
    kept = checkout / "results"
    targets_run(kept / "cost-curves", "sizes")
    targets_list(kept)
    program(
        checkout / "scripts/bench",
        'echo "$*" >>told; gzip -dc made/run.csv.gz >.build/targets/targets.csv\n'
        f"cp made/run.env.json .build/targets/targets.env.json; exit {status}",
    )
    done = call(checkout, "results/measure-targets", "--blocks", "7", OPBENCH=opbench)
    told = (checkout / "told").read_text()
    assert "--benchmark ^dependencies/chain length=1000$ " in told
    assert told.endswith(".build/targets/targets.csv --overwrite --blocks 7\n")
    if status == 69:
        assert done.returncode == 69 and not (kept / "targets.csv.gz").exists(), done
        return
    assert done.returncode == 0, done
    assert gzip.decompress((kept / "targets.csv.gz").read_bytes()) == gzip.decompress(result.read_bytes())
    record["arguments"][-1] = "targets.csv"
    assert json.loads((kept / "targets.env.json").read_text()) == record
    assert "x2.00 [2.00, 2.00]      7       x0.8     missed" in (kept / "targets.txt").read_text()


def targets_list(folder):
    """One limit: a chain on our queue beside raw Dispatch; and the table that follows from it."""
    (folder / "MANIFEST").write_text(
        "# opbench-archive 1\n"
        "# table targets.txt: compare --limits targets.json targets.csv.gz cost-curves/sizes.csv.gz\n")
    (folder / "targets.json").write_text(json.dumps([{
        "label": "chain / raw Dispatch", "benchmark": "dependencies/chain", "params": "length=1000", "metric": "ns_per_op",
        "subject": "stealing", "over": {"subject": "raw-dispatch"}, "most": 0.8}]))


def targets_run(folder, name):
    """A result with one ratio: a chain on our queue takes twice the time of raw Dispatch, in seven blocks."""
    roles = {"stealing": "ours", "raw-dispatch": "reference"}
    rows = [
        [2, "r", block, 1, 1, "dependencies", "chain", "length=1000", backend, 2, "ns_per_op", "ns", time, 1, ""]
        for block in range(1, 8)
        for backend, time in (("stealing", 200), ("raw-dispatch", 100))
    ]
    record = synthetic.environment("r", blocks=7, values=3) | {
        "subjects": [{"name": name, "role": role, "summary": "", "gives_up": []} for name, role in roles.items()],
        "cells": [synthetic.cell("dependencies/chain", "length=1000", name, 2) for name in roles],
        "metrics": {},
        "primary_times": {"dependencies/chain": "ns_per_op"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = synthetic.save(folder / f"{name}.csv", rows, record)
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def test_the_table_of_targets_must_be_what_its_results_say(checkout, opbench):
    targets_run(checkout / "results", "targets")
    targets_run(checkout / "results/cost-curves", "sizes")
    targets_list(checkout / "results")
    assert call(checkout, "check/results", "--write", OPBENCH=opbench).returncode == 0
    assert "missed: 1" in (checkout / "results/targets.txt").read_text()
    assert call(checkout, "check/results", OPBENCH=opbench).returncode == 0
    (checkout / "results/targets.txt").write_text("something else\n")
    stale = call(checkout, "check/results", OPBENCH=opbench)
    assert stale.returncode == 65 and "results: targets.txt was changed" in stale.stderr, stale


def test_results_of_an_ablation_are_kept_and_checked(checkout, opbench):
    path = changes.write(checkout / "run.csv", blocks=12)
    done = call(checkout, "results/publish", "ablation", "../run.csv", folder=checkout / "scripts", OPBENCH=opbench)
    assert done.returncode == 0 and done.stdout == "results/ablation/ shows the new results\n", done
    page = checkout / "results/ablation/README.md"
    assert "Of 6 changes of stealing" in page.read_text() and path.exists()
    assert call(checkout, "check/results", OPBENCH=opbench).returncode == 0
    page.write_text(page.read_text() + "And more.\n")
    stale = call(checkout, "check/results", OPBENCH=opbench)
    assert stale.returncode == 1 and "results/ablation/README.md" in stale.stderr, stale
    assert call(checkout, "check/results", "--write", OPBENCH=opbench).returncode == 0 and "And more." not in page.read_text()
    for arguments, code in ((["ablation", "no.csv"], 66), (["ablation"], 64), (["ablation", "--nonsense"], 64), (["other", "no.csv"], 64), ([], 64)):
        done = call(checkout, "results/publish", *arguments, OPBENCH=opbench)
        assert done.returncode == code and done.stderr.count("\n") == 1, done


@pytest.mark.parametrize(
    "lines, arguments, said",
    [
        ("rm -rf .git", "pipeline", "runs: git knows no commit here"),
        ("", "pipeline", "runs: HEAD is on main, and no merge"),
        ("branch; change README.md", "pipeline", "is left out: nothing that it reads has changed since"),
        ("branch; change README.md", "nightly pipeline", "runs: it does so in each nightly run"),
        ("branch; change Sources/a", "pipeline", "runs: 1 files that it reads have changed since"),
        ("branch; change Sources/a; change README.md", "pipeline", "such as Sources/a"),
        ("branch; echo new >>Sources/a", "pipeline", "runs: HEAD is on main, and no merge"),
        ("branch; change scripts/ci", "pipeline", "such as scripts/ci"),
        ("branch; change README.md; echo new >>Sources/a", "pipeline", "such as Sources/a"),
        ("branch; change README.md; touch Sources/b", "pipeline", "such as Sources/b"),
        ("branch; change README.md; merged", "pipeline", "is left out"),
        ("branch; change Sources/a; merged; branch; change README.md; merged", "pipeline", "is left out"),
        ("branch; change Sources/a; change README.md; merged", "pipeline", "such as Sources/a"),
        ("branch; change README.md; export CI_BASE=0000000", "pipeline", "runs: git knows no common commit with 0000000"),
        ("change README.md; export CI_BASE=$(git rev-parse HEAD^)", "pipeline", "is left out"),
        ("branch; change README.md; git clone -q --depth 1 file://$PWD shallow; cd shallow; git branch -qm other", "pipeline", "runs: "),
    ],
)
def test_a_step_that_asks_what_has_changed(checkout, lines, arguments, said):
    program(checkout / "Examples/ImagePipeline/check", "echo checked")
    (checkout / "Sources").mkdir()
    (checkout / "Sources/a").write_text("")
    functions = """
        branch() { git checkout -q -b branch; }
        change() { echo "# changed" >>$1; git add $1; git commit -qm $1; }
        merged() { git checkout -q main; git merge -q --no-ff -m merge branch; git branch -q -d branch; }
        export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
        # What scripts/ci gives to its rows is not for this one.
        unset CI_BASE ci_times is_built
        unset $(git rev-parse --local-env-vars)
        git init -q -b main; git add Sources scripts README.md Examples; git commit -qm first
    """
    done = shell(checkout, f"{functions}\n{lines}\nscripts/ci {arguments}")
    assert done.returncode == 0, done
    assert said in next(line for line in done.stdout.splitlines() if line.startswith("ci: pipeline ")), done
    is_left_out = "is left out" in said
    assert ("\nchecked\n" in done.stdout) != is_left_out, done
    assert ("(left out: nothing" in done.stdout.split("what each step took")[1]) == is_left_out, done


def test_what_hangs_says_where_and_what_others_started_stays(tmp_path, root):
    """A command that hangs gets SIGABRT, and so do its children of that name; another session's process of that name
    lives on."""
    hanging = tmp_path / "hanging.xctest"
    hanging.write_text("import faulthandler, time\nfaulthandler.enable()\nprint('begun', flush=True)\ntime.sleep(100)\n")
    other = subprocess.Popen([sys.executable, hanging], start_new_session=True, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "begun\n"
        program(tmp_path / "parent", f'"{sys.executable}" "{hanging}" && true; sleep 100')
        done = subprocess.run(
            ["bash", "-c", f"source {root}/scripts/support/watched; watched 2 'hanging[.]xctest' {tmp_path}/parent"],
            env={**os.environ, "WATCHED_GRACE": "1"}, capture_output=True, text=True, timeout=60,
        )
        assert done.returncode not in (0, 64, 127)
        assert "has not ended after 2 seconds" in done.stderr and "Fatal Python error: Aborted" in done.stderr
        assert other.poll() is None
    finally:
        other.kill()


@pytest.mark.parametrize("late", ["nothing", "watchdog"])
def test_a_stopped_watch_ends_what_it_started(tmp_path, root, late):
    program(tmp_path / "child", "echo $$; exec sleep 100")
    # What has no session of its own yet when the signal comes is ended all the same.
    program(tmp_path / "setsid", f'case "$*" in *{late}*) sleep 2 ;; esac\nexec {shutil.which("setsid")} "$@"')
    watch = subprocess.Popen(
        ["bash", "-c", f"source {root}/scripts/support/watched; watched 100 sleep {tmp_path}/child"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    child = int(watch.stdout.readline())
    watch.terminate()
    # The end of the output says that the watchdog and its sleep are gone, too.
    assert watch.communicate(timeout=300) == ("", None) and watch.returncode == 130
    for _ in range(1_000):
        if not os.path.exists(f"/proc/{child}"):
            return
        time.sleep(0.1)
    raise AssertionError(f"process {child} goes on")
