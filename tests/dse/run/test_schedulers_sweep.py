#!/usr/bin/env python3
"""Sweeps of schedulers: a point is one search of the whole network. Rows, cubes and texts are the same for any number of threads, from shards,
and after kills at any moment; the text of every schedule reads back to the point's numbers; what belongs to mappings is refused.
Nothing here is a known value: runs are compared with each other, and with what the specification spans.
Tests: runner.c, run_work.c."""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

HEAD = """experiment: schedulers
architecture: soma_edge
network: resnet50_soma
"""
SPEC = HEAD + """engine: unfused
axes:
  option.compat: [true, false]
  batch: [1, 3]
  DRAM.bandwidth: [8 GB/s, 32 GB/s]
  GBUF.capacity: [256 KiB, 8 MiB]
"""
MIXED = """experiment: mixed
architecture: soma_edge
network: {tiny}
limits: {{max_evaluations: 500}}
axes:
  engine: [unfused, random]
  DRAM.bandwidth: [8 GB/s, 32 GB/s]
"""
DSE = os.environ["DSE"]
csv.field_size_limit(1 << 27)
bad = []


def check(name, good):
    if not good:
        bad.append(name)
        print("not ok:", name)


def dse(*args, code=0):
    done = subprocess.run([DSE, *args], capture_output=True, text=True, check=False)
    if done.returncode != code:
        check(f"dse {' '.join(args)}: exit code {done.returncode} instead of {code}: {done.stderr}", False)
    return done.stdout + done.stderr


def rows(path):
    """Rows without wall times, sorted by key."""
    with open(path, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        for name in ("seconds", "trace_seconds", "checksum"):
            row.pop(name, None)
    return sorted(table, key=lambda row: row["point_key"])


def datasets(path):
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: value for name, value in found.items() if name.split("/")[-1] != "seconds"}


def same_cube(a, b):
    first, second = datasets(a), datasets(b)
    if first.keys() != second.keys():
        return False
    for name, value in first.items():
        equal_nan = value.dtype.kind == "f"
        if value.shape != second[name].shape or not numpy.array_equal(value, second[name], equal_nan=equal_nan):
            return False
    return True


def base(out):
    return out[: -len(".h5")]


def same_files(a, b):
    return all(rows(base(a) + end) == rows(base(b) + end) for end in (".csv", ".layers.csv")) and same_cube(a, b)


def check_texts(folder, out):
    """Each text reads back to the latency and energy of its row."""
    points = {row["point_key"]: row for row in rows(base(out) + ".csv")}
    n = 0
    for row in rows(base(out) + ".layers.csv"):
        point = points[row["point_key"]]
        check("the row of a network", row["layer"] == "(network)" and row["count"] == "1" and point["n_layer"] == "1")
        check("its outcome", row["status"] == point["status"] and row["reason"] == point["reason"])
        if row["status"] != "ok":
            check("no text without a schedule", row["mapping"] == "")
            continue
        path = os.path.join(folder, "schedule.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(row["mapping"])
        compat = ["--compat"] if point["accounting"] == "soma-compat" else []
        text = dse("eval", "soma_edge", "resnet50_soma", path, "-f", "csv", "-b", row["batch"],
                   "--set", f"DRAM.bandwidth={row['DRAM.bandwidth_byte_per_s']} B/s",
                   "--set", f"GBUF.capacity={row['GBUF.capacity_byte']} B", *compat)
        values = dict(line.split(",") for line in text.splitlines())
        check("cycles", values["latency_cycle"] == point["latency_cycle"] == row["latency_cycle"])
        for name, parts in (("energy_j", ["energy_j"]), ("energy_dram_j", ["energy_j:dram"]),
                            ("energy_buffer_j", ["energy_j:gbuf", "energy_j:l1"])):
            value = sum(float(values[part]) for part in parts)
            check(name, abs(value - float(point[name])) <= 1e-12 * value)
        for name in ("n_tile", "n_layer_group", "n_dram_tensor", "dram_byte", "stall_cycle", "buffer_max_byte"):
            check(name, float(point[name]) == float(values[name]))
        n += 1
    return n

def check_resume(folder, spec, first):
    """Journals cut anywhere, as a kill leaves them, and runs that are killed or told to end."""
    out = os.path.join(folder, "resumed.h5")
    for share in (0.35, 0.8):
        for end in (".csv", ".layers.csv"):
            with open(base(first) + end, "rb") as file:
                whole = file.read()
            lines = whole.splitlines(keepends=True)
            kept = lines[: 1 + int(share * (len(lines) - 1))]
            torn = lines[len(kept)] if end == ".layers.csv" else b""  # the next layer's line, cut in the middle
            with open(base(out) + end, "wb") as file:
                file.write(b"".join(kept) + torn[: len(torn) // 2])
        dse("run", spec, "-o", out, "-j", "2")
        check(f"resumed after {share} of the journal", same_files(first, out))
        for end in (".h5", ".csv", ".layers.csv"):
            os.unlink(base(out) + end)
    command = [DSE, "run", spec, "-o", out, "-j", "1"]
    for wait, how in ((0.03, signal.SIGKILL), (0.1, signal.SIGTERM), (0.1, signal.SIGKILL)):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
            time.sleep(wait)
            run.send_signal(how)
    dse("run", spec, "-o", out, "-j", "2")
    check("resumed after kills", same_files(first, out))


def check_runs(folder, spec):
    first = os.path.join(folder, "t1.h5")
    dry = dse("run", spec, "-o", first, "--dry-run")
    check("a dry run counts one search for each point", "searches         16\n" in dry and "72 scheduled together" in dry)
    dse("check", spec)
    dse("run", spec, "-o", first, "-j", "1")
    for threads in ("4",):
        out = os.path.join(folder, f"t{threads}.h5")
        dse("run", spec, "-o", out, "-j", threads)
        check(f"{threads} threads", same_files(first, out))
    for k in ("1", "2", "3"):
        dse("run", spec, "-o", os.path.join(folder, "shard.h5"), "--shard", k + "/3")
    merged = os.path.join(folder, "merged.h5")
    dse("merge", merged, *(os.path.join(folder, f"shard.{k}-of-3.h5") for k in (1, 2, 3)))
    check("shards", same_files(first, merged))
    check("status", "16" in dse("status", first))
    check_resume(folder, spec, first)
    return first


def check_rows(folder, first):
    points = rows(base(first) + ".csv")
    check("16 points", len(points) == 16)
    for point in points:
        compat = point["option.compat"] == "true"
        small = compat and point["GBUF.capacity_byte"] == "262144"  # the published rules have no parts
        check("what fits", point["status"] == ("infeasible" if small else "ok"))
        check("the reason names layer and bytes", not small or ("layer " in point["reason"] and "bytes" in point["reason"]))
        check("accounting", small or point["accounting"] == ("soma-compat" if compat else "soma"))
        if not small:
            total = sum(float(point[f"energy_{part}_j"]) for part in ("mac", "buffer", "noc", "dram"))
            check("the split adds up", abs(total - float(point["energy_j"])) <= 1e-12 * total)
            check("every layer", point["n_layer_mapped"] == "72")
            check("two engines", float(point["latency_cycle"]) >= float(point["compute_cycle"]) + float(point["stall_cycle"]))
            check("no second stage, no bound", point["stage1_latency_cycle"] == "" and point["bound_cost_ratio"] == "")
    check("texts read back", check_texts(folder, first) == 12)
    with h5py.File(first, "r") as file:
        check("optional columns are told", file.attrs["measures"] in ("soma schedule", b"soma schedule"))
        check("the text in the cube", file["layers/mapping"].shape[-1] == 1 and b"soma" in file["layers/mapping"][0, 0, 0, 1, 0])


def check_refused(folder):
    def refused(addition, words):
        path = os.path.join(folder, "refused.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + "engine: unfused\n" + addition)
        said = dse("check", path, code=2)
        check(f"refused: {words}: {said}", words in said and "engine unfused schedules whole networks" in said)

    refused("constraints:\n- {target: GBUF, type: temporal, factors: C=1}\n", "constraints")
    refused("axes:\n  constraints: {a: [{target: GBUF, type: temporal, factors: C=1}]}\n", "constraints")
    refused("measure: [cosa]\n", "measure")
    refused("layers: [conv1]\n", "layers")
    check("measure: schedule is no word", "unknown" in dse("map", "soma_edge", "resnet50_soma", "-m", "schedule", code=2))


def check_limit(folder):
    """A limit that is over at once leaves the engine its start."""
    path, out = os.path.join(folder, "limit.yaml"), os.path.join(folder, "limit.h5")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "engine: unfused\nlimits: {max_seconds: 1e-9}\n")
    dse("run", path, "-o", out)
    row = rows(base(out) + ".csv")[0]
    check("a limit leaves the start", row["status"] == "ok" and row["stop"] == "max_seconds")


def check_mixed(folder):
    tiny, path, out = (os.path.join(folder, name) for name in ("tiny.yaml", "mixed.yaml", "mixed.h5"))
    with open(tiny, "w", encoding="utf-8") as file:
        file.write("network: tiny\ninput: {C: 3, H: 16, W: 16}\nlayers:\n"
                   "- {name: one, type: conv, C: 3, K: 16, P: 16, Q: 16, R: 3, S: 3, pad: 1, from: input}\n"
                   "- {name: two, type: conv, C: 16, K: 16, P: 16, Q: 16, R: 1, S: 1, from: one}\n"
                   "- {name: pool, type: pool, C: 16, P: 8, Q: 8, R: 2, S: 2, stride: 2, from: two}\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(MIXED.format(tiny=tiny))
    dse("run", path, "-o", out, "-j", "2")
    points = rows(base(out) + ".csv")
    layers = rows(base(out) + ".layers.csv")
    for point in points:
        mine = [row["layer"] for row in layers if row["point_key"] == point["point_key"]]
        scheduled = point["engine"] == "unfused"
        check("mixed: layers", mine == ["(network)"] if scheduled else mine == ["one", "two"])
        check("mixed: columns", (point["n_tile"] != "") == scheduled)
        check("mixed: accounting", point["accounting"] == ("soma" if scheduled else "timeloop"))
        check("mixed: every point", point["status"] == "ok")
    check("mixed: 4 points", len(points) == 4)
    again = os.path.join(folder, "again.h5")
    dse("run", path, "-o", again, "-j", "1")
    check("mixed: the same on one thread", same_files(out, again))


def main():
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(SPEC)
        first = check_runs(folder, spec)
        check_rows(folder, first)
        check_refused(folder)
        check_limit(folder)
        check_mixed(folder)
    print(f"{len(bad)} checks failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
