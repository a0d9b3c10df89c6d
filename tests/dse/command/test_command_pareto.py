#!/usr/bin/env python3
"""`dse pareto`: the fronts of a small sweep by the definition (all pairs), written out once more; its order, formats and refusals; several files
as one; pareto() of the Python reader has the same points in the same order. Nothing here is a known value.
Tests: command_pareto.c, result_files.c."""
import csv
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plotting"))
import dse_results  # noqa: E402
from program import DSE, check, dse, read, run_parts, write  # noqa: E402

SPEC = read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compromises.yaml")).decode()
AXES = ["GlobalBuffer.capacity_byte", "PE.mesh", "seed"]


def table(*more):
    """The rows of `dse pareto -f csv`."""
    done = subprocess.run([DSE, "pareto", "-f", "csv", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    check("runs", done.returncode == 0, done.stderr.decode())
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def rows_of(out):
    """The rows of the table in the order of the axes, those of shards and other files one behind the other."""
    with open(out[:-3] + ".csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    meshes = ["4x4", "8x8", "16x16"]
    return sorted(rows, key=lambda row: (float(row[AXES[0]]), meshes.index(row[AXES[1]]), int(row[AXES[2]])))


def by_definition(rows, less, more=(), axes=AXES):
    names = [*less, *more]
    rows = [row for row in rows if row["status"] == "ok" and all(row[name] for name in names)]
    value = [[float(row[name]) * (-1 if name in more else 1) for name in names] for row in rows]
    on = [i for i, v in enumerate(value) if not any(w != v and all(a <= b for a, b in zip(w, v)) for w in value)]
    return shown([rows[i] for i in sorted(on, key=lambda i: (value[i], i))], [*axes, *names])


def shown(rows, names):
    """Columns of rows, numbers as such: a report writes 2 as 2.0 where the column has fractions."""
    return [[row[name] if name in ("PE.mesh", "engine") else float(row[name]) for name in names] for row in rows]


def check_fronts(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    code, said = dse("run", spec, "-o", out)
    check("the run ends, some points infeasible", code in (0, 1), said)
    rows = rows_of(out)
    for less, more in ((["energy_j", "latency_s"], []), (["latency_s", "energy_j", "dram_byte"], []), (["edp_js"], ["utilization"]),
                       (["latency_cycle", "n_mac"], []), (["energy_j", "latency_s", "dram_byte", "onchip_byte"], ["utilization"])):
        ours = table(out, *(["--min", ",".join(less)] if less else []), *(["--max", ",".join(more)] if more else []))
        want = by_definition(rows, less, more)
        check("by definition", want and shown(ours, [*AXES, *less, *more]) == want, f"{less} {more}: {ours}")
        frame = dse_results.pareto(out, min=less, max=more)
        check("in Python", frame[[*AXES, *less, *more]].values.tolist() == want, f"{less} {more}")
    check("as given on the line", list(table(out, "--max", "utilization", "--min", "edp_js")[0]) == [*AXES, "utilization", "edp_js"])
    check("without metrics, and without areas", list(table(out)[0]) == [*AXES, "energy_j", "latency_s"])
    part = [row for row in rows if row["PE.mesh"] == "8x8"]
    check("of a slice", shown(table(out, "-w", "PE.mesh=8x8"), [*AXES, "energy_j", "latency_s"]) == by_definition(part, ["energy_j", "latency_s"]))
    each = [row for mesh in ("4x4", "8x8", "16x16")
            for row in by_definition([row for row in rows if row["PE.mesh"] == mesh], ["energy_j", "latency_s"])]
    check("one for each value", shown(table(out, "--by", "PE.mesh"), [*AXES, "energy_j", "latency_s"]) == each)
    frame = dse_results.pareto(out, min=["energy_j", "latency_s"], by="PE.mesh")
    check("in Python, too", sorted(map(str, frame["PE.mesh"])) == sorted(row[1] for row in each))
    check("from the table", len(dse_results.pareto(out[:-3] + ".csv", min=["energy_j", "latency_s"])) == len(table(out)))
    text = subprocess.run([DSE, "pareto", out, "-f", "json"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    check("json", [row["energy_j"] for row in json.loads(text)["rows"]] == [float(row["energy_j"]) for row in table(out)])
    text = subprocess.run([DSE, "pareto", out], stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode()
    check("for people", "KiB" in text and "J" in text and "of 27 points that are ok: none is as good in energy_j, latency_s" in text, text)
    check("the table is the file", table(out[:-3] + ".csv") == table(out))
    for more, want in ((["--min", "energy_j"], "a front is of 2 to 5 metrics"), (["--min", "energy_j,energy_j"], "energy_j is given twice"),
                       (["--min", "edp,energy_j"], "unknown metric 'edp' (did you mean edp_js?)"),
                       (["--min", "energy_j,latency_s,edp_js,dram_byte,onchip_byte,n_mac"], "more than 5 metrics"),
                       (["--by", "PE.mash"], "unknown axis 'PE.mash' (did you mean PE.mesh?)"), (["-w", "PE.mesh"], "'PE.mesh' should be axis=value"),
                       (["-w", "GlobalBuffer.capacity=2 B"], "has a value of each of these metrics"), (["-f", "yaml"], "csv"),
                       ([spec], "spec.yaml: not an HDF5 file")):
        code, said = dse("pareto", out, *more)
        check("refused", code == 2 and want in said, said)


def check_files(folder):
    """Shards, another engine by --set, and files that do not go together."""
    spec, whole = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "whole.h5")
    dse("run", spec, "-o", whole)
    shards = [os.path.join(folder, "part.%d-of-2.h5" % k) for k in (1, 2)]
    for k in (1, 2):
        dse("run", spec, "--shard", "%d/2" % k, "-o", os.path.join(folder, "part.h5"))
    check("shards are the whole", table(*shards) == table(whole))
    check("also those that overlap", table(whole, shards[1]) == table(whole))
    other = os.path.join(folder, "other.h5")
    dse("run", spec, "--set", "engine=annealing", "-o", other)
    rows = [dict(row, engine=engine) for engine, out in (("random", whole), ("annealing", other)) for row in rows_of(out)]
    ours = shown(table(whole, other), [*AXES, "engine", "energy_j", "latency_s"])
    check("the engine that --set gave is an axis", sorted(ours) == sorted(by_definition(rows, ["energy_j", "latency_s"], axes=[*AXES, "engine"])))
    ours = table(whole, other, "-w", "engine=annealing")
    check("and a slice", {row["engine"] for row in ours} == {"annealing"} and
          shown(ours, AXES) == [row[:3] for row in by_definition(rows_of(other), ["energy_j", "latency_s"])])
    fewer = os.path.join(folder, "fewer.h5")
    dse("run", write(os.path.join(folder, "fewer.yaml"), SPEC.replace("[2 B, 32 KiB, 64 KiB, 128 KiB]", "[96 KiB, 1 MiB]")), "-o", fewer)
    ours = shown(table(whole, fewer), [*AXES, "energy_j", "latency_s"])
    rows = rows_of(whole) + rows_of(fewer)
    check("other values of an axis", sorted(ours) == sorted(by_definition(rows, ["energy_j", "latency_s"])))
    clash = os.path.join(folder, "clash.h5")
    dse("run", write(os.path.join(folder, "clash.yaml"), SPEC.replace("max_evaluations: 20", "max_evaluations: 2")), "-o", clash)
    code, said = dse("pareto", whole, clash)
    check("points that differ", code == 2 and "clash.h5: energy_j of the point GlobalBuffer.capacity_byte=32 KiB PE.mesh=4x4 seed=1 is " in said and "one sweep?" in said, said)
    lacks = os.path.join(folder, "lacks.h5")
    dse("run", write(os.path.join(folder, "lacks.yaml"), SPEC.replace("  seed: [1, 2, 3]\n", "")), "-o", lacks)
    code, said = dse("pareto", whole, lacks)
    check("an axis that is not there", code == 2 and "lacks.h5: it has no axis seed, which" in said, said)


if __name__ == "__main__":
    run_parts(check_fronts, check_files)
