#!/usr/bin/env python3
"""`dse plot --kind scatter`: the data of the script are the points of the table, those on the front are the ones that `dse pareto` prints, and
the line is the edge of what they beat; colours, panels, formats, hostile names; what cannot be drawn is said. Nothing here is a known value.
Tests: plot_scatter.c."""
import csv
import math
import io
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dse", "run"))
from program import DSE, check, dse, read, run_parts, write  # noqa: E402

SPEC = """experiment: points
title: "It's `a` $(title) {x} %d"
architecture: eyeriss_16x16
networks_
engine: random
limits: {max_evaluations: 20}
layers: [conv3]
plot: {kind: scatter, x: latency_s, y: energy_j, color: PE.mesh}
axes:
  GlobalBuffer.capacity: [2 B, 32 KiB, 64 KiB, 128 KiB]
  PE.mesh: [4x4, 8x8, 16x16]
  batch: [1, 2]
""".replace("networks_", "network: alexnet")
UNIT = {"s": 1, "ms": 1e-3, "µs": 1e-6, "J": 1, "mJ": 1e-3, "µJ": 1e-6, "µJ s": 1e-6, "nJ s": 1e-9, "mJ s": 1e-3, "GiB": 2 ** 30, "MiB": 2 ** 20}


def drawn(folder, *more):
    """Of the script: per panel the points [(x, y, rgb, shape, on the front), ...] and the lines [[(x, y), ...], ...]; the script."""
    figure = os.path.join(folder, "f.svg")
    code, said = dse("plot", *more, "-o", figure, "--keep-script")
    check("drawn", code == 0 and read(figure).startswith(b"<?xml"), said)
    script = read(figure + ".gp").decode()
    factor = [UNIT[words.split("(")[1].split(")")[0]] if "(" in words else 1
              for words in (script.split("dse_%s_title = '" % axis)[1].split("'\n")[0] for axis in "xy")]
    block = {name: [index.split("\n\n") for index in script.split("$%s << END_OF_%s\n" % (name, name.upper()))[1]
                    .split("END_OF_%s\n" % name.upper())[0].split("\n\n\n")[:-1]] for name in ("points", "fronts")}
    points = [[tuple(float(word) * f for word, f in zip(line.split(), (*factor, 1, 1, 1))) for line in "\n".join(index).split("\n")
               if line and "NaN" not in line] for index in block["points"]]
    lines = [[[tuple(float(word) * f for word, f in zip(line.split(), factor)) for line in one.split("\n") if line]
              for one in index if one.strip() and "NaN" not in one] for index in block["fronts"]]
    return points, lines, script


def front(*more):
    """What `dse pareto` prints, x and y in the order of the first."""
    text = subprocess.run([DSE, "pareto", "-f", "csv", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=60).stdout
    rows = list(csv.reader(io.StringIO(text.decode())))[1:]
    return sorted((float(row[-2]), float(row[-1])) for row in rows)


def near(one, two):
    return len(one) == len(two) and all(abs(a - b) <= 1e-8 * abs(b) for p, q in zip(one, two) for a, b in zip(p, q))


def edge(front_points, better):
    """From one point to the next by way of the corner that both beat: the worse of either coordinate."""
    worse = [max if b < 0 else min for b in better]
    line = []
    for here, after in zip(front_points, front_points[1:] + front_points[-1:]):
        line += [here, tuple(w(a, b) for w, a, b in zip(worse, here, after))]
    return line


def check_points(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    code, said = dse("run", spec, "-o", out)
    check("the run ends, some points infeasible", code in (0, 1), said)
    with open(out[:-3] + ".csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file)]
    fine = [row for row in rows if row["status"] == "ok"]
    points, lines, script = drawn(folder, out)
    check("a panel for each batch", len(points) == 2 and [len(panel) for panel in points] == [9, 9])
    check("each without what has no value", "18 points on the fronts, 6 without a value" in script, script[:900])
    for panel, batch in enumerate("12"):
        want = sorted((float(row["latency_s"]), float(row["energy_j"])) for row in fine if row["batch"] == batch)
        check("all points", near(sorted(p[:2] for p in points[panel]), want))
        best = front(out, "--min", "latency_s,energy_j", "-w", "batch=" + batch)
        check("those on the front", near(sorted(p[:2] for p in points[panel] if p[4]), best))
        check("one line", len(lines[panel]) == 1 and near(lines[panel][0], edge(best, (-1, -1))), str(lines[panel]))
    check("a colour and a shape for each mesh, lighter off the front", len({p[2:4] for p in points[0] if p[4]}) <= 3 >= len({p[3] for p in points[0]}) > 1)
    check("the legend", "dse_series_title = 'PE mesh'" in script and "series_name[3] = '16x16'" in script and "dse_front_word = 'front'" in script)
    check("the title is text", "dse_title = 'It''s `a` $(title) {x} %d'" in script)
    points, lines, script = drawn(folder, out, "-x", "dram_byte", "-y", "utilization", "--color", "none", "-w", "batch=2")
    check("less of one, more of the other", near(lines[0][0], edge(front(out, "--min", "dram_byte", "--max", "utilization", "-w", "batch=2"), (-1, 1))))
    check("no legend but the front", "dse_n_series = 0" in script and len({p[3] for p in points[0]}) == 1)
    points, lines, _ = drawn(folder, out, "--color", "batch")
    check("batches in one panel have a front each", len(points) == 1 and len(lines[0]) == 2 and
          all(near(lines[0][k], edge(front(out, "--min", "latency_s,energy_j", "-w", f"batch={k + 1}"), (-1, -1))) for k in range(2)))
    points, lines, script = drawn(folder, out, "-x", "n_mac", "--color", "GlobalBuffer.capacity", "-w", "batch=1")
    check("without a better end there is no front", lines == [[]] and "dse_front_word = ''" in script and not any(p[4] for p in points[0]))
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        figure = os.path.join(folder, "f." + ending)
        code, said = dse("plot", out, "-o", figure)
        check(ending, code == 0 and read(figure).startswith(magic) and len(read(figure)) > 2000, said)
    for more, want in ((["-x", "edp"], "unknown metric 'edp' (did you mean edp_js?)"), (["-x", "energy_j"], "the same metric, energy_j"),
                       (["--color", "PE.mash"], "unknown axis 'PE.mash' (did you mean PE.mesh?)"), (["-m", "edp_js"], "write edp_js as one of these"),
                       (["-k", "heatmap", "--color", "batch"], "--color is of figures of kind scatter"),
                       (["-x", "area_mm2"], "no point of the slice has a value of area_mm2 and of energy_j"),
                       (["-w", "PE.mesh=4x4", "--color", "PE.mesh"], "cannot be drawn along and be fixed"),
                       ([out, "-k", "breakdown"], "a figure of kind breakdown is of one file")):
        code, said = dse("plot", out, "-o", os.path.join(folder, "g.svg"), *more)
        check("refused", code == 2 and want in said, f"{more}: {said}")
    for line, want in (("x: latenzy_s", "plot.x"), ("color: PE.mash", "plot.color"), ("metric: edp_js", "write edp_js as one of these"),
                       ("kind: lines, color: batch", "plot.color is of kind scatter")):
        text = SPEC.replace("kind: scatter, x: latency_s, y: energy_j, color: PE.mesh", line if "kind" in line else "kind: scatter, " + line)
        code, said = dse("check", write(spec, text))
        check("in the specification", code == 2 and want in said, said)


def share(value, low, high):
    """Where a value lies on the axis that is drawn, which is logarithmic over a factor of 6."""
    return math.log(value / low) / math.log(high / low) if high > 6 * low else (value - low) / (high - low)


def check_many(folder):
    """Of more than 3000 points one of those of a colour is drawn that lie within half of 1/72 inch; the front is all there."""
    text = SPEC.replace("max_evaluations: 20", "max_evaluations: 1").replace("batch: [1, 2]", "seed: {from: 1, to: 1100}")
    out = os.path.join(folder, "many.h5")
    dse("run", write(os.path.join(folder, "many.yaml"), text.replace("  GlobalBuffer.capacity: [2 B, 32 KiB, 64 KiB, 128 KiB]\n", "")), "-o", out)
    points, _, script = drawn(folder, out)
    with open(out[:-3] + ".csv", encoding="utf-8", newline="") as file:
        rows = [(float(row["latency_s"]), float(row["energy_j"]), row["PE.mesh"]) for row in csv.DictReader(file)]
    ends = [(min(row[k] for row in rows), max(row[k] for row in rows)) for k in range(2)]
    mesh = {shape + 1: name for shape, name in enumerate(("4x4", "8x8", "16x16"))}

    def place(point, name):
        return int(share(point[0], *ends[0]) * 720), int(share(point[1], *ends[1]) * 520), name
    shown = {place(p, mesh[p[3]]) for p in points[0]}
    near_one = [any((a + i, b + k, name) in shown for i in (-1, 0, 1) for k in (-1, 0, 1)) for a, b, name in (place(row, row[2]) for row in rows)]
    check("each is drawn or lies on one that is", len(rows) == 3300 and all(near_one), f"{near_one.count(False)} of {len(rows)}")
    check("one of a place", len(shown) <= len(points[0]) < 0.9 * len(rows), f"{len(shown)} {len(points[0])}")
    check("those on the front", near(sorted(p[:2] for p in points[0] if p[4]), front(out, "--min", "latency_s,energy_j")))
    check("which is said", "of 3300 points on the front, what lies on another is drawn once" in script)


if __name__ == "__main__":
    run_parts(check_points, check_many)
