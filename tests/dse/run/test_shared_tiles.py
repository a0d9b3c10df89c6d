#!/usr/bin/env python3
"""Points of a sweep share what tiles cost, and the searches behind that, across capacities, bandwidths, energies and engines: the rows are those
of each point by itself, whatever ran before, on two threads, and behind a stop.
Nothing here is a known value: runs are compared with each other.
Tests: runner.c."""
import csv
import os
import subprocess
import sys
import tempfile

DSE = os.environ["DSE"]
SPEC = """experiment: shared
architecture: {machine}
network: tests/known/soma/tiny6.yaml
options: {{{options}}}
axes:
"""
OPTIONS = {"unfused": "", "cocco": "", "soma": ", lfa_rounds: 5, dlsa_rounds: 5, starts: 1"}
AXES = {
    # weights of simba go past its buffer, whose energy follows its capacity; those of the other are in it
    "simba": {"engine": ["unfused", "cocco", "soma"], "GlobalBuffer.capacity": ["64 KiB", "128 KiB"], "DRAM.bandwidth": ["10 GB/s", "40 GB/s"],
              "DRAM.access_energy": ["6400 pJ", "640 pJ"]},
    "simba_fused": {"engine": ["unfused", "cocco", "soma"], "GlobalBuffer.access_energy": ["30 pJ", "3 pJ", "300 pJ"],
                    "GlobalBuffer.capacity": ["1 MiB", "4 MiB"]},
}
csv.field_size_limit(1 << 27)
bad = []


def check(name, good):
    if not good:
        bad.append(name)
        print("not ok:", name)


def spec_of(folder, machine, axes):
    path = os.path.join(folder, "shared.yaml")
    with open(path, "w", encoding="utf-8") as file:
        options = [f"{engine}: {{core: quick, core_evaluations: 100{OPTIONS[engine]}}}" for engine in axes["engine"]]
        file.write(SPEC.format(machine=machine, options=", ".join(options)))
        for name, values in axes.items():
            file.write(f"  {name}: [{', '.join(values)}]\n")
    return path


def run(folder, machine, axes, name, *args):
    """The rows by their keys, without wall times."""
    out = os.path.join(folder, name + ".h5")
    done = subprocess.run([DSE, "run", spec_of(folder, machine, axes), "-o", out, *args], capture_output=True, text=True, check=False)
    check(f"{machine} {name}: exit code {done.returncode}: {done.stderr}", done.returncode == 0)
    with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        row.pop("seconds")
        row.pop("checksum")
    return {row["point_key"]: row for row in table}


for machine, axes in AXES.items():
    with tempfile.TemporaryDirectory() as temporary:
        all_rows = run(temporary, machine, axes, "one", "-j", "1")
        check(f"{machine}: every point has an answer", all(row["status"] == "ok" for row in all_rows.values()))
        check(f"{machine}: on two threads", run(temporary, machine, axes, "two", "-j", "2") == all_rows)
        backwards = {name: values[::-1] for name, values in axes.items()}
        check(f"{machine}: backwards", run(temporary, machine, backwards, "backwards", "-j", "1") == all_rows)
        last = {name: values[-1:] for name, values in axes.items()}
        for engine in axes["engine"]:
            alone = run(temporary, machine, {**last, "engine": [engine]}, engine, "-j", "1")
            check(f"{machine}: the last point of {engine} by itself", len(alone) == 1 and alone.items() <= all_rows.items())
        half = {name: values[1:] for name, values in axes.items()}
        run(temporary, machine, half, "resumed", "-j", "1")
        check(f"{machine}: resumed", run(temporary, machine, axes, "resumed", "-j", "1", "--update") == all_rows)
sys.exit(1 if bad else 0)
