#!/usr/bin/env python3
"""`dse plot --relative` and `--winner`: the cells of the script are worked out once more from the table; what has no partner, is alone, or is
equally good is marked; over several files, in every format; what there is nothing to compare of is said. Nothing here is a known value.
Tests: plot_compare.c, plot_colours.c."""
import csv
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dse", "run"))
from program import check, dse, read, run_parts, write  # noqa: E402

SPEC = """experiment: compare
title: Compared
architecture: eyeriss_16x16
network: alexnet
layers: [conv3]
limits: {max_evaluations: 30}
plot: {kind: lines, metric: "latency_s,energy_j"}
axes:
  engine: [random, annealing, descent]
  GlobalBuffer.capacity: [2 B, 16 KiB, 64 KiB, 128 KiB]
  DRAM.bandwidth: [5 GB/s, 20 GB/s]
  PE.mesh: [4x4, 8x8]
"""
CAPACITY = ["2", "16384", "65536", "131072"]
BANDWIDTH = ["5000000000", "20000000000"]
MESH = ["4x4", "8x8"]
ENGINE = ["random", "annealing", "descent"]
COLOUR = {"random": 0x0072b2, "annealing": 0xe69f00, "descent": 0x009e73, "equal": 0xd9d9d9}


def table(out):
    with open(out[:-3] + ".csv", encoding="utf-8", newline="") as file:
        return {(row["engine"], row["GlobalBuffer.capacity_byte"], row["DRAM.bandwidth_byte_per_s"], row["PE.mesh"]): row for row in csv.DictReader(file)}


def number(row, metric):
    return float(row[metric]) if row and row["status"] == "ok" and row[metric] else math.nan


def drawn(folder, *more):
    """Of the script: per panel {(x, y): [value, look, text, ink, mark, rgb]}; the script."""
    figure = os.path.join(folder, "f.svg")
    code, said = dse("plot", *more, "-x", "GlobalBuffer.capacity", "-y", "DRAM.bandwidth", "-o", figure, "--keep-script")
    check("drawn", code == 0 and read(figure).startswith(b"<?xml"), said)
    script = read(figure + ".gp").decode()
    panels = script.split("$cells << END_OF_CELLS\n")[1].split("END_OF_CELLS\n")[0].split("\n\n\n")[:-1]
    return [{tuple(map(int, words[:2])): [float(words[2]), int(words[3]), words[4].strip('"'), *map(int, words[5:])]
             for words in (line.split() for line in panel.split("\n") if line)} for panel in panels], script


def places():
    return [(x, y, m) for m in range(2) for y in range(2) for x in range(4)]


def at(rows, engine, x, y, m):
    return rows.get((engine, CAPACITY[x], BANDWIDTH[y], MESH[m]))


def check_relative(folder, out, rows):
    for metric, base in (("edp_js", "random"), ("latency_s", "descent"), ("utilization", "annealing")):
        others = [engine for engine in ENGINE if engine != base]
        panels, script = drawn(folder, out, "-m", metric, "--relative", "engine=" + base)
        check("a panel for each other engine and mesh", len(panels) == 4)
        scale = [float(script.split("dse_%s = " % end)[1].split("\n")[0]) for end in ("low", "high")]
        check("as far below 1 as above it", abs(scale[0] * scale[1] - 1) < 1e-8 and scale[1] > 1, str(scale))
        check("blue is better", "dse_palette = %d\n" % (2 if metric == "utilization" else 1) in script)
        ratios = []
        for e, engine in enumerate(others):
            for x, y, m in places():
                cell = panels[2 * e + m][x, y]
                want = number(at(rows, engine, x, y, m), metric) / number(at(rows, base, x, y, m), metric)
                check("over that engine's", math.isnan(want) and cell[1] == 1 or abs(cell[0] / want - 1) < 1e-8 and scale[0] * 0.9999 <= want <= scale[1] * 1.0001,
                      f"{metric} {engine} {x} {y} {m}: {cell} {want}")
                ratios += [] if math.isnan(want) else [want]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        said = script.split("dse_foot = 'geometric mean ")[1].split(",")[0]
        check("the mean", abs(float(said) - mean) <= 0.006 * mean, f"{said} {mean}")
        check("which is which", "over engine %s: %s 1 is better" % (base, "above" if metric == "utilization" else "below") in script)


def check_winner(folder, out, rows):
    for metric in ("energy_j", "latency_s", "utilization"):
        sign = -1 if metric == "utilization" else 1
        panels, script = drawn(folder, out, "-m", metric, "--winner", "engine")
        check("a panel for each mesh", len(panels) == 2 and "dse_palette = 3\n" in script)
        won = dict.fromkeys(COLOUR, 0)
        for x, y, m in places():
            cell = panels[m][x, y]
            value = sorted((sign * number(at(rows, engine, x, y, m), metric), engine) for engine in ENGINE)
            if math.isnan(value[0][0]):
                check("infeasible", cell[1] == 1)
                continue
            margin = (value[1][0] / value[0][0]) ** sign
            who = "equal" if value[0][0] == value[1][0] else value[0][1]
            won[who] += 1
            check("by how much", abs(cell[0] / margin - 1) < 1e-8, f"{cell} {value}")
            check("who", cell[5] == COLOUR[who] and (cell[2] == "=") == (who == "equal"), f"{cell} {value}")
        for who, n in won.items():
            name = "equally good" if who == "equal" else who
            check("how often", (" = '%s (%d)'\n" % (name, n) in script) == (n > 0), f"{who} {n}")
    panels, script = drawn(folder, out, "-m", "energy_j", "--winner", "PE.mesh", "-w", "engine=descent")
    check("any axis", len(panels) == 1 and "dse_colour_title = 'PE mesh'" in script)


def check_maps(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    code, said = dse("run", spec, "-o", out)
    check("the run ends, some points infeasible", code in (0, 1), said)
    rows = table(out)
    check_relative(folder, out, rows)
    check_winner(folder, out, rows)
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        for how in (("--relative", "PE.mesh=4x4"), ("--winner", "engine")):
            figure = os.path.join(folder, "f." + ending)
            code, said = dse("plot", out, *how, "-o", figure)
            check(ending, code == 0 and read(figure).startswith(magic) and len(read(figure)) > 2000, said)
    for more, want in ((["--relative", "engine=soma"], "unknown engine 'soma'"), (["--relative", "engine"], "'engine' should be axis=value"),
                       (["--winner", "engin"], "engin"), (["--winner", "engine", "-m", "n_mac"], "there is no best of n_mac"),
                       (["--winner", "engine", "--relative", "engine=descent"], "--relative and --winner are two figures"),
                       (["--winner", "engine", "-w", "engine=descent"], "which is always the best"),
                       (["--winner", "engine", "-x", "engine"], "cannot be drawn along"),
                       (["--relative", "engine=descent", "-w", "engine=descent"], "nothing is left to compare with engine=descent"),
                       (["--winner", "engine", "-k", "scatter"], "not of figures of kind scatter")):
        code, said = dse("plot", out, "-o", os.path.join(folder, "g.svg"), *more)
        check("refused", code == 2 and want in said, f"{more}: {said}")


def check_files(folder):
    """The engine that --set gave, and a file that has only some of the other's cells."""
    text = SPEC.replace("  engine: [random, annealing, descent]\n", "").replace("limits:", "engine: random\nlimits:")
    text = text.replace('kind: lines, metric: "latency_s,energy_j"', "relative: PE.mesh=4x4")
    part = text.replace("[5 GB/s, 20 GB/s]", "[20 GB/s]")
    one, other = os.path.join(folder, "one.h5"), os.path.join(folder, "other.h5")
    dse("run", write(os.path.join(folder, "one.yaml"), text), "-o", one)
    dse("run", write(os.path.join(folder, "other.yaml"), part), "--set", "engine=descent", "-o", other)
    panels, script = drawn(folder, one, other, "--relative", "engine=descent")
    check("what has no partner is marked", [panels[0][x, 0][1] for x in range(4)] == [1, 4, 4, 4] and [panels[0][x, 1][1] for x in range(4)] == [1, 0, 0, 0] and
          "dse_has_unmatched = 1" in script and "engine random, over engine descent" in script, str(panels))
    panels, script = drawn(folder, one, other, "--winner", "engine")
    check("or alone", [panels[0][x, 0][2] for x in range(1, 4)] == ["only"] * 3 and {panels[0][x, 0][5] for x in range(1, 4)} == {COLOUR["random"]}, str(panels))
    code, said = dse("plot", one, "--winner", "batch", "-o", os.path.join(folder, "g.svg"))
    check("no such axis", code == 2 and "unknown axis 'batch'" in said, said)
    script = drawn(folder, one, "-m", "edp_js")[1]
    check("as the specification says", "over PE mesh 4x4: below 1 is better" in script)
    check("unless another is asked for", "dse_colour_title = 'PE mesh'" in drawn(folder, one, "--winner", "PE.mesh")[1])
    check("or none", len(drawn(folder, one, "--relative", "none")[0]) == 2)
    code, said = dse("plot", one, other, "-k", "lines", "-w", "GlobalBuffer.capacity=64 KiB", "-w", "PE.mesh=4x4", "-m", "edp_js", "-o", os.path.join(folder, "g.svg"))
    check("other kinds take several files, too", code == 0, said)


if __name__ == "__main__":
    run_parts(check_maps, check_files)
