#!/usr/bin/env python3
"""Cells of a sweep exchange schedules: the same files for any number of threads, from shards, after a kill in the middle and after the sweep was
made larger; no step to more of a capacity or bandwidth costs more; each row is what its schedule costs on its machine, and is computed again.
Nothing here is a known value: files are compared with each other and with `dse eval`.
Tests: exchange.c."""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from program import check, dse, read, run_parts, write  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
# A search of so few rounds that neighbours' schedules are often better. The values of one axis are in no order.
SPEC = """experiment: exchange
architecture: soma_edge
network: %s/tests/known/soma/tiny6.yaml
objective: latency
engine: soma
options: {lfa_rounds: 1, dlsa_rounds: 2, starts: 1, iterations: 1}
axes:
  seed: [1, 3]
  GBUF.capacity: [32 KiB, 16 KiB]
  DRAM.bandwidth: [8 GB/s, 2 GB/s, 4 GB/s]
""" % ROOT
UOPS = """experiment: uops
architecture: klotski
network: %s/tests/known/soma/tiny6.yaml
objective: latency
options: {memory: dram, klotski: {max_uops: 200, evaluations: 3, tries: 1, smaller: false}}
axes:
  engine: [atomic, klotski]
  DRAM.bandwidth: [1 GB/s, 2 GB/s, 4 GB/s]
  SRAM.capacity: [20 KiB, 40 KiB, 80 KiB]
""" % ROOT
# Where the energy does not follow from the capacity: weights that stream past the buffer, and layers in parts.
THEOREM = """experiment: theorem
architecture: %%s
network: %s/tests/known/soma/tiny6.yaml
engine: soma
seed: 4
options: {lfa_rounds: 2, dlsa_rounds: 5, starts: 1, iterations: 1, core_evaluations: 20, core: quick}
set: {%%s.energy_rule.%%s}
axes:
  %%s.capacity: [%%s]
  DRAM.bandwidth: [1 GB/s, 4 GB/s, 8 GB/s]
""" % ROOT
MACHINES = [("simba", "GlobalBuffer", "exponent: 0", "8 KiB, 16 KiB, 32 KiB", "stream_byte"),
            ("soma_edge", "GBUF", "factor: 1", "8 KiB, 9 KiB, 12 KiB", "n_cut_layer")]
AXES = ["GBUF.capacity_byte", "DRAM.bandwidth_byte_per_s"]
TIMES = ("seconds", "trace_seconds", "checksum")
csv.field_size_limit(1 << 27)


def table(out, ending=".csv"):
    """The lines of a table, without times."""
    with open(out[:-len(".h5")] + ending, encoding="utf-8", newline="") as file:
        return [{name: value for name, value in row.items() if name not in TIMES} for row in csv.DictReader(file)]


def same(one, two):
    """The tables say the same, line by line, in any order."""
    return all(sorted(map(str, table(one, end))) == sorted(map(str, table(two, end))) for end in (".csv", ".layers.csv"))


def answers(out, alone=False):
    """{key: row} of the cells: of two rows the last, or what searches alone have found."""
    return {row["point_key"]: row for row in table(out) if not (alone and row["exchanged_from"])}


def exchanged(out):
    return [row for row in table(out) if row["exchanged_from"]]


def run(spec, out, *more):
    code, said = dse("run", spec, "-o", out, *more)
    check("the run ends", code == 0, said)
    return said


def place(row):
    return " ".join("%s=%s" % (name, row[name]) for name in AXES)


def steps(rows, metric="latency_s", axes=AXES, same=("seed",)):
    """How often a cell is dearer than one that has at most its capacity and bandwidth; beyond rounding."""
    worse = 0
    for one in rows.values():
        for two in rows.values():
            larger = all(one[name] == two[name] for name in same) and all(float(one[name]) <= float(two[name]) for name in axes)
            worse += larger and float(two[metric]) > float(one[metric]) * (1 + 1e-12)
    return worse


def check_rows(folder, out):
    """What an exchanged row says: whose schedule it has, what that costs here, and what the cell's own search did."""
    first, texts = {}, {}
    for row in table(out):
        first.setdefault(row["point_key"], row)
    for row in table(out, ".layers.csv"):
        texts.setdefault(row["point_key"], []).append(row)
    for row in exchanged(out):
        source = [one for one in first.values() if one["seed"] == row["seed"] and place(one) == row["exchanged_from"]]
        check("one cell is named, another one", len(source) == 1 and source[0]["point_key"] != row["point_key"])
        own, now = texts[row["point_key"]]
        check("its schedule", now["mapping"] == texts[source[0]["point_key"]][0]["mapping"] != own["mapping"])
        check("cheaper than its own", float(row["latency_s"]) < float(first[row["point_key"]]["latency_s"]))
        for name in ("stop", "evaluations", "draws", "stage1_latency_cycle"):
            check("the search is the cell's own: " + name, row[name] == first[row["point_key"]][name])
        check("its trace, too", now["trace"] == own["trace"])
        path = write(os.path.join(folder, "schedule.yaml"), now["mapping"])
        said = os.popen("%s eval soma_edge %s/tests/known/soma/tiny6.yaml %s -f csv --set DRAM.bandwidth='%s B/s' --set GBUF.capacity='%s B'" % (
            os.environ["DSE"], ROOT, path, row[AXES[1]], row[AXES[0]])).read()
        check("what it costs", dict(line.split(",") for line in said.splitlines())["latency_cycle"] == row["latency_cycle"])


def check_sweep(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    said = run(spec, out, "-j", "1")
    n = len(exchanged(out))
    check("some cells exchange", n >= 3, "%d do" % n)
    check("it is said", "%d of 12 points took the schedule of another one" % n in said, said)
    check("no step to more costs more", steps(answers(out)) == 0)
    check_rows(folder, out)

    two = os.path.join(folder, "two.h5")
    run(spec, two, "-j", "2")
    check("threads", same(out, two))
    before = read(two), read(two[:-3] + ".csv")
    check("nothing to do", "0 points" in run(spec, two) and before == (read(two), read(two[:-3] + ".csv")))

    for k in (1, 2, 3):
        run(spec, two, "--shard", "%d/3" % k)
    shards = [os.path.join(folder, "two.%d-of-3.h5" % k) for k in (1, 2, 3)]
    check("shards do not exchange", not any(exchanged(shard) for shard in shards))
    merged, again = os.path.join(folder, "merged.h5"), os.path.join(folder, "again.h5")
    code, said = dse("merge", merged, *shards)
    check("merge", code == 0 and same(out, merged), said)
    code, said = dse("merge", again, merged, shards[1])
    check("a merged file among others", code == 0 and same(out, again), said)
    code, said = dse("merge", os.path.join(folder, "part.h5"), *shards[:2])
    check("a part does not exchange", code == 0 and not exchanged(os.path.join(folder, "part.h5")), said)

    code, said = dse("rerun", out, "--all", "-j", "1")
    check("rerun", code == 0, said)
    code, said = dse("status", out)
    check("status", code == 0, said)
    check_off(folder, spec, out)
    check_killed(folder, spec, out)


def check_off(folder, spec, out):
    off = os.path.join(folder, "off.h5")
    run(spec, off, "--set", "exchange=off")
    own = [row for row in table(out) if not row["exchanged_from"]]
    check("off: the searches alone", sorted(map(str, own)) == sorted(map(str, table(off))))
    check("and steps that cost more", steps(answers(off)) > 0)
    run(spec, off)
    check("turned on, nothing is searched again", same(out, off))
    run(spec, off, "--set", "exchange=off")
    check("turned off again", sorted(map(str, own)) == sorted(map(str, table(off))))
    bad = write(os.path.join(folder, "bad.yaml"), SPEC + "exchange: maybe\n")
    code, said = dse("run", bad, "-o", os.path.join(folder, "bad.h5"))
    check("a bad word", code == 2 and "bad.yaml:11: exchange maybe: on or off is expected" in said, said)


def check_killed(folder, spec, out):
    """The tables as a kill leaves them: before the exchange, in the middle of its lines, behind it without the cube."""
    killed = os.path.join(folder, "killed.h5")
    lines = read(out[:-3] + ".csv").splitlines(keepends=True)
    layers = read(out[:-3] + ".layers.csv").splitlines(keepends=True)
    for n, torn in ((13, 0), (14, 100), (len(lines), 0)):
        write(killed[:-3] + ".csv", b"".join(lines[:n]) + (lines[n][:torn] if torn else b""))
        write(killed[:-3] + ".layers.csv", b"".join(layers[:n + (torn > 0)]))
        if os.path.exists(killed):
            os.unlink(killed)
        run(spec, killed)
        check("resumed behind %d lines and %d bytes" % (n, torn), same(out, killed))
    larger = write(os.path.join(folder, "larger.yaml"), SPEC.replace("[32 KiB, ", "[32 KiB, 24 KiB, "))
    run(larger, killed)
    fresh = os.path.join(folder, "fresh.h5")
    run(larger, fresh)
    check("a larger sweep", same(fresh, killed))
    run(spec, killed, "--update")
    check("and a smaller one", same(out, killed))


def check_theorem(folder):
    """No step to more costs more energy x time where energies are the same."""
    for machine, buffer, rule, capacities, what in MACHINES:
        spec, out = write(os.path.join(folder, machine + ".yaml"), THEOREM % (machine, buffer, rule, buffer, capacities)), os.path.join(folder, machine + ".h5")
        run(spec, out)
        check("some exchange on " + machine, any(float(row[what]) > 0 for row in exchanged(out)))
        of = ("edp_js", [buffer + ".capacity_byte", AXES[1]], ())
        check("no step costs more on " + machine, steps(answers(out), *of) == 0)
        check("of searches alone some do on " + machine, steps(answers(out, alone=True), *of) > 0)


def check_uops(folder):
    """Engines of uops; their schedules go from cell to cell as well."""
    spec, out = write(os.path.join(folder, "spec.yaml"), UOPS), os.path.join(folder, "one.h5")
    run(spec, out)
    alone = answers(out, alone=True)
    check("some exchange", {row["engine"] for row in exchanged(out)} == {"atomic", "klotski"})
    for key, row in answers(out).items():
        check("none is dearer", float(row["latency_s"]) <= float(alone[key]["latency_s"]))
    code, said = dse("rerun", out, "--all", "-j", "1")
    check("rerun", code == 0, said)


if __name__ == "__main__":
    run_parts(check_sweep, check_theorem, check_uops)
