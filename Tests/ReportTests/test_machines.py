"""Results of several machines: pairs of one machine, the page that names machines and kinds."""

import csv
import json

import pytest
import synthetic
from asking import read, report

HOSTS = {"n1": "Quick CPU", "n2": "Quick CPU", "n3": "Slow <b> CPU"}


def merged(folder, blocks=24, slower=1.0, hosts=HOSTS, name="all.csv", change=None):
    """A result whose blocks are spread over machines, as `opbench merge` writes it. On the machines of the last kind
    ours takes `slower` times as long."""
    path = synthetic.write(folder / name, blocks=blocks, outcome={"excluded_blocks": [], "failures": []})
    names, slow = list(hosts), list(hosts.values())[-1]
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    out = [rows[0]]
    for row in rows[1:]:
        host = names[int(row[2]) % len(names)]
        row[1], row[14] = f"run-{host}", host
        if hosts[host] == slow and row[8] == "stealing" and row[11] == "ns":
            row[12] = repr(float(row[12]) * slower)
        out.append(row)
    if change:
        change(out)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(out)
    beside = folder / name.replace(".csv", ".env.json")
    record = json.loads(beside.read_text())
    record |= {
        "run_id": "run-n1-merged",
        "machines": [synthetic.machine(kind, host=host) for host, kind in hosts.items()],
        "shards": [{"run_id": f"run-{host}"} for host in names],
    }
    beside.write_text(json.dumps(record))
    return str(path)


def test_blocks_of_two_machines_are_no_pair(tmp_path):
    def apart(rows):
        for row in rows[1:]:
            if row[8] == "stealing":
                row[14] = "n9"

    results = read(merged(tmp_path, change=apart))
    for line in results.select("overhead/external-add", "ns_per_op"):
        for arm, cell in line.cells.items():
            assert (cell.ratio is None) == (arm.subject.name in ("stealing", "foundation"))


def test_kinds(tmp_path):
    results = read(merged(tmp_path))
    found = results.machines
    assert [(kind.name, kind.hosts) for kind in found.kinds] == [
        ("Quick CPU, 2 CPUs", ["n1", "n2"]),
        ("Slow <b> CPU, 2 CPUs", ["n3"]),
    ]
    assert found.sentence.startswith("on 3 machines of 2 kinds: 2 x Quick CPU, 2 CPUs (n1, n2); 1 x Slow")
    assert results.disagreements.comparisons > 20 and not results.disagreements.pairs


def test_kinds_that_disagree(tmp_path):
    results = read(merged(tmp_path, slower=3.0))
    pairs, compared = results.disagreements.pairs, results.disagreements.comparisons
    assert {pair.arm.subject.name for pair in pairs} == {"stealing"} and len(pairs) < compared
    distances = [max(ratios) / min(ratios) for ratios in ([ratio.value for ratio in pair.ratios] for pair in pairs)]
    assert all(2 < distance < 4.5 for distance in distances) and distances == sorted(distances, reverse=True)


@pytest.mark.parametrize(
    "slower, words", [(1.0, "The kinds of machines agree"), (3.0, "disagree by more than their intervals")]
)
def test_the_page_names_machines(tmp_path, slower, words):
    assert report(merged(tmp_path, slower=slower), "--no-pictures", "--output", str(tmp_path / "out")) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "on 3 machines of 2 kinds" in page and "ratios pair blocks of one machine" in page
    assert words in page
    for host in HOSTS:
        assert f"<td>{host}</td>" in page or f">{host}<" in page
    assert "Slow &lt;b&gt; CPU" in page and "Slow <b> CPU" not in page
    # The shards of one plan are no mixture of runs.
    assert "of more than one run" not in page


def test_one_machine_is_not_named(tmp_path):
    assert report(merged(tmp_path, hosts={"n1": "A"}), "--no-pictures", "--output", str(tmp_path / "out")) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "machines of" not in page and "kinds of machines" not in page


def test_rows_of_a_run_that_was_not_merged(tmp_path, capsys):
    def foreign(rows):
        rows[5][1] = "run-n7"

    assert report(merged(tmp_path, change=foreign), "--output", str(tmp_path / "out")) == 65
    assert "run-n7" in capsys.readouterr().err


def test_what_is_kept_has_no_places(tmp_path):
    from opbench_report.published import kept

    path = merged(tmp_path)
    beside = tmp_path / "all.env.json"
    record = json.loads(beside.read_text())
    for one in record["shards"]:
        one["arguments"] = ["/somewhere/opbench", "run", "--output", "/home/somebody/shard.csv"]
        one["context"] = "/home/somebody/first.json\n/somewhere/second.json"
    beside.write_text(json.dumps(record))
    kept.keep(path, str(tmp_path / "kept.csv.gz"))
    text = (tmp_path / "kept.env.json").read_text()
    assert "somewhere" not in text and "somebody" not in text
    assert {one["context"] for one in json.loads(text)["shards"]} == {"first.json\nsecond.json"}
    assert {one["host"] for one in json.loads(text)["machines"]} == set(HOSTS)
