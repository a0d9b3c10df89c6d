#!/usr/bin/env python3
"""Engines that solve programs give the same mappings, bit for bit, for 1, 2 and 4 threads and for points in another order, and what is
measured of them is the same too. Rows are compared by their coordinates and the layer; all columns but times and checksums.
Tests: command_run.c."""
import csv
import os
import subprocess
import sys
import tempfile

DSE = os.environ["DSE"]
WANTED = ("cosa", "cosa-best", "random")
TIMES = {"seconds", "trace_seconds", "checksum"}

HEAD = """experiment: mappings
architecture: simba_tablev
network: resnet50
layers: [conv5_0_a, fc]
objective: latency
limits: {max_evaluations: 2000}
measure: {noc: {max_steps: 16}, cosa: }
"""
AXES = {
    "engine": [],
    "GlobalBuffer.capacity": ["64 KiB", "128 KiB"],
    "PE.mesh": ["4x4", "16x1"],
}


def engines():
    """Those of WANTED that the program has."""
    text = subprocess.run([DSE, "list", "engines"], check=True, stdout=subprocess.PIPE).stdout.decode()
    there = {line.split()[0] for line in text.splitlines() if line.split()}
    return [name for name in WANTED if name in there]


def write_spec(path, axes):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "axes:\n" + "".join(f"  {name}: [{', '.join(values)}]\n" for name, values in axes.items()))


def run(spec, out, threads):
    subprocess.run([DSE, "run", spec, "-o", out, "-j", str(threads)], check=True, stderr=subprocess.PIPE)


def rows(out):
    """{(coordinates, layer): row without times} of both tables."""
    found = {}
    for ending in (".csv", ".layers.csv"):
        with open(out.replace(".h5", ending), newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                axes = [name for name in row if name.split("_byte")[0] in AXES]
                key = tuple(sorted((name, row[name]) for name in axes)) + (row.get("layer", ""),)
                # the key of a point depends on the order of the axes
                found[key] = {name: text for name, text in row.items() if name not in TIMES | {"point_key"}}
    return found


def compare(first, other, what):
    n_bad = 0
    if first.keys() != other.keys():
        print(f"{what}: other rows")
        return 1
    for key, row in first.items():
        for name in row:
            if row[name] != other[key].get(name):
                print(f"{what}: {name} of {key} is {other[key].get(name)} instead of {row[name]}")
                n_bad += 1
    return n_bad


def main():
    axes = dict(AXES, engine=engines())
    n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        write_spec(path("spec.yaml"), axes)
        write_spec(path("shuffled.yaml"), {name: axes[name][::-1] for name in reversed(axes)})
        run(path("spec.yaml"), path("t1.h5"), 1)
        first = rows(path("t1.h5"))
        for threads in (2, 4):
            run(path("spec.yaml"), path(f"t{threads}.h5"), threads)
            n_bad += compare(first, rows(path(f"t{threads}.h5")), f"{threads} threads")
        run(path("shuffled.yaml"), path("shuffled.h5"), 2)
        n_bad += compare(first, rows(path("shuffled.h5")), "another order")
    for key, row in first.items():
        measured = ["noc_latency_cycle"] + (["cosa_objective"] if key[-1] else [])
        if row["status"] != "ok" or not all(row[name] for name in measured) or (key[-1] and not row["mapping"]):
            print(f"{key}: {row['status']} {row['reason']}, measured {[row[name] for name in measured]}")
            n_bad += 1
    print(f"{len(first)} rows of {', '.join(axes['engine'])} compared, {n_bad} problems")
    return 1 if n_bad or len(first) != 12 * len(axes["engine"]) or "cosa" not in axes["engine"] else 0


if __name__ == "__main__":
    sys.exit(main())
