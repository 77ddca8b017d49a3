"""A campaign of opbench as tests of ReFrame: a test for each shard, and one that merges them.

    reframe -c opbench_campaign.py -S opbench=/path/to/opbench -r

A shard has whole blocks of the plan, so every ratio is of one machine. The files of the shards lie in `results`, and
stay there: a second call of ReFrame runs what is missing. With one shard for each node of the cluster, ReFrame submits
that many jobs; for hundreds of shards scripts/campaign submits one job array instead.
"""

import os
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

SHARDS = int(os.environ.get("OPBENCH_SHARDS", "3"))


class OpbenchTest(rfm.RunOnlyRegressionTest):
    """What the shards and the merge have in common."""

    # The program, as scripts/bench builds it.
    opbench = variable(str, value="opbench")
    # What is measured: every shard must have the same.
    command = variable(str, value="run --backend stealing --benchmark overhead/external-add --blocks 12")
    # Where the files of the shards lie; a folder that all nodes see.
    results = variable(str, value=str(pathlib.Path.cwd() / "opbench-results"))
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    def file(self, number):
        return f"{self.results}/shard-{number}-of-{SHARDS}.csv"


@rfm.simple_test
class OpbenchShard(OpbenchTest):
    """Measures one shard, or what is missing of it."""

    number = parameter(range(1, SHARDS + 1))
    # Other jobs on the node would disturb it.
    exclusive_access = True
    time_limit = "1h"

    @run_before("run")
    def set_command(self):
        file = self.file(self.number)
        self.prerun_cmds = [
            f"mkdir -p '{self.results}'",
            "goes_on=()",
            f"if [ -e '{file}' ] || [ -e '{file}.partial' ]; then goes_on=(--resume); fi",
        ]
        self.executable = self.opbench
        self.executable_opts = [
            *self.command.split(),
            "--shard",
            f"{self.number}/{SHARDS}",
            "--output",
            f"'{file}'",
            '"${goes_on[@]}"',
        ]

    @sanity_function
    def is_written(self):
        # opbench says this line when the shard is whole and in its place.
        return sn.assert_found(r"wrote .*shard-\d+-of-\d+\.csv and its \.env\.json", self.stderr)


@rfm.simple_test
class OpbenchMerge(OpbenchTest):
    """Puts the shards together. Fails, and says what is missing, when the plan is not carried out in full."""

    local = True

    @run_after("init")
    def wait_for_the_shards(self):
        for variant in OpbenchShard.get_variant_nums():
            self.depends_on(OpbenchShard.variant_name(variant))

    @run_before("run")
    def set_command(self):
        self.executable = self.opbench
        files = " ".join(f"'{self.file(number)}'" for number in range(1, SHARDS + 1))
        self.executable_opts = ["merge", files, "--output", f"'{self.results}/all.csv'", "--overwrite"]
        self.postrun_cmds = [f"'{self.opbench}' compare '{self.results}/all.csv' --format csv"]

    @sanity_function
    def is_whole(self):
        return sn.assert_found(r"wrote .*all\.csv", self.stderr)

    @performance_function("x")
    def ratio(self):
        """The ratio of the first line of the comparison."""
        return sn.extractsingle(r"^(?:[^,\n]*,){12}([\d.e-]+),", self.stdout, 1, float)
