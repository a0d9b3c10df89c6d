#!/usr/bin/env python3
"""Sweeps with the objective pareto: the ends of a front are the optima by latency and energy and each layer's edp is on its front; the network's
front is that of all choices of layer points; rows and points agree with each other and with `dse eval`; the same files for any number of threads,
by worker processes, from shards, after a kill, and from the cube; computed again; a limit is kept. Nothing here is a known value.
Tests: record_front.c, exact_front.c."""
import csv
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from program import check, dse, read, run_parts, write  # noqa: E402

SPEC = """experiment: fronts
architecture: simba
network: resnet50
layers: [conv1, conv2_0_a, conv2_shortcut, conv4_0_a, conv5_1_a, conv5_2_a, fc]
engine: optimal
options: {starts: 2}
axes:
  objective: [pareto, latency, energy, edp]
  DRAM.bandwidth: [5 GB/s, 20 GB/s]
"""
TIMES = ("seconds", "trace_seconds", "checksum")
csv.field_size_limit(1 << 27)


def table(out, ending=".csv"):
    with open(out[:-len(".h5")] + ending, encoding="utf-8", newline="") as file:
        return [{name: value for name, value in row.items() if name not in TIMES} for row in csv.DictReader(file)]


def same(one, two):
    return all(sorted(map(str, table(one, end))) == sorted(map(str, table(two, end))) for end in (".csv", ".layers.csv"))


def run(spec, out, *more, code=0):
    got, said = dse("run", spec, "-o", out, *more)
    check("the run ends", got == code, said)
    return said


def pairs(text):
    return [tuple(map(float, pair.split(":"))) for pair in text.split()]


def near(one, two):
    return abs(one - two) <= 1e-10 * abs(two)


def front_of(points):
    """What no other beats; of equal ones one."""
    best, kept = float("inf"), []
    for latency, energy in sorted(set(points)):
        if energy < best * (1 - 1e-11):
            kept.append((latency, energy))
            best = energy
    return kept


def check_point(rows, layers):
    """One bandwidth: the point of each objective, and the rows of its layers."""
    whole, front = rows["pareto"], pairs(rows["pareto"]["front"])
    own = [pairs(row["front"]) for row in layers["pareto"]]
    check("how many points", int(whole["n_front"]) == len(front) > 1, whole["front"])
    check("the fastest", near(front[0][0], float(rows["latency"]["latency_s"])))
    check("the least energy", near(front[-1][1], float(rows["energy"]["energy_j"])))
    check("the row is the least edp", near(min(a * b for a, b in front), float(whole["edp_js"])))
    check("no more than of layers by themselves", float(whole["edp_js"]) <= float(rows["edp"]["edp_js"]) * (1 + 1e-10))
    check("proved", (whole["stop"], whole["bound_kind"], float(whole["bound_edp_ratio"])) == ("optimal", "proof", 1), str(whole))
    for number, row in enumerate(layers["pareto"]):
        name, of = row["layer"], {objective: layers[objective][number] for objective in layers}
        check(name + " edp", near(min(a * b for a, b in own[number]), float(of["edp"]["edp_js"])))
        check(name + " latency", near(own[number][0][0], float(of["latency"]["latency_s"])))
        check(name + " energy", near(own[number][-1][1], float(of["energy"]["energy_j"])))
        point = own[number][int(row["front_point"])]
        check(name + " row", (float(row["latency_s"]), float(row["energy_j"])) == point)
        check(name + " has no front by another objective", of["edp"]["front"] == of["edp"]["front_choice"] == "")
    every = [(sum(a for a, _ in choice), sum(b for _, b in choice)) for choice in itertools.product(*own)]
    want = front_of(every)
    check("that of all choices", len(want) == len(front) and all(near(a, c) and near(b, d) for (a, b), (c, d) in zip(want, front)))
    for k, point in enumerate(front):
        chosen = [own[i][int(row["front_choice"].split()[k])] for i, row in enumerate(layers["pareto"])]
        check("point %d" % k, all(near(sum(one[i] for one in chosen), point[i]) for i in (0, 1)))


def check_mappings(layers, folder):
    """The mappings of a front are what they are said to be, also those that an earlier layer has."""
    for row in layers:
        text = row["front_mappings"]
        if text.startswith("same_as "):
            text = next(one["front_mappings"] for one in layers if one["layer"] == text[8:])
        mappings = text.split(" | ")
        check("as many mappings as points", len(mappings) == len(pairs(row["front"])))
        for mapping, (latency, energy) in zip(mappings, pairs(row["front"])):
            path, out = write(os.path.join(folder, "mapping.yaml"), mapping + "\n"), os.path.join(folder, "eval.csv")
            code = os.system("%s eval simba resnet50:%s %s --set DRAM.bandwidth='5 GB/s' -f csv --report summary > %s" % (os.environ["DSE"], row["layer"], path, out))
            said = dict(line.split(",", 1) for line in read(out).decode().splitlines())
            check("dse eval", code == 0 and near(float(said["latency_s"]), latency) and near(float(said["energy_j"]), energy), str(said))


def check_sweep(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    run(spec, out, "-j", "1")
    rows, layers = table(out), table(out, ".layers.csv")
    for bandwidth in ("5000000000", "20000000000"):
        check_point(*({row["objective"]: ([one for one in layers if one["point_key"] == row["point_key"]] if deep else row)
                       for row in rows if row["DRAM.bandwidth_byte_per_s"] == bandwidth} for deep in (False, True)))
    check_mappings([row for row in layers if row["objective"] == "pareto" and row["DRAM.bandwidth_byte_per_s"] == "5000000000"], folder)
    two = os.path.join(folder, "two.h5")
    run(spec, two, "-j", "2")
    check("two threads", same(out, two))
    run(spec, two, "--fresh", "--isolation", "process")
    check("worker processes", same(out, two))
    for shard in ("1/3", "2/3", "3/3"):
        run(spec, os.path.join(folder, "part.h5"), "--shard", shard)
    merged = os.path.join(folder, "merged.h5")
    code, said = dse("merge", merged, *(os.path.join(folder, "part.%d-of-3.h5" % k) for k in (1, 2, 3)))
    check("shards", code == 0 and same(out, merged), said)
    code, said = dse("rerun", merged, "--all")
    check("rerun", code == 0, said)
    lines = read(out[:-3] + ".csv").splitlines(True)
    write(two[:-3] + ".csv", b"".join(lines[:4]) + lines[4][:90])
    write(two[:-3] + ".layers.csv", read(out[:-3] + ".layers.csv"))
    os.unlink(two)
    run(spec, two)
    check("killed and resumed", same(out, two))
    write(two[:-3] + ".csv", b"".join(lines[:4]))
    run(spec, two, "--repair")
    check("rows from the cube", same(out, two))


def check_limits(folder):
    """A limit is of all searches of a layer together; refusals come from `dse check`, in a sentence."""
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    run(spec, out, "--set", "limits.max_evaluations=300")
    for row in table(out, ".layers.csv"):
        check("evaluations", int(row["evaluations"]) <= 300, str(row["evaluations"]))
    check("said", any(row["stop"] == "max_evaluations" for row in table(out) if row["objective"] == "pareto"))
    for row in table(out):
        check("a bound", float(row["bound_edp_ratio"]) >= 1)
    code, said = dse("check", spec, "--set", "engine=descent", "--set", "options={}")
    check("refused", code != 0 or "pareto" in said, said)
    code, said = dse("map", "simba", "resnet50", "-l", "conv1", "-e", "descent", "-O", "pareto")
    check("refused by map", code == 2 and "objective pareto needs an engine that proves what it finds, optimal; not descent" in said, said)
    code, said = dse("map", "simba", "resnet50", "-l", "conv1", "-e", "optimal", "-O", "edp", "--front")
    check("said once", code == 2 and said == "dse: --front is the objective pareto, not edp\n", said)


if __name__ == "__main__":
    run_parts(check_sweep, check_limits)
