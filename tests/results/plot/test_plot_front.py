#!/usr/bin/env python3
"""`dse plot --kind front`: the data of the script are the fronts of the tables, of the network and of a layer, in the panels and series that are
asked for; what cannot be drawn is said; the Python reader has the same points from either file. Nothing here is a known value.
Tests: plot_front.c, front.gp."""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dse", "run"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plotting"))
import dse_results  # noqa: E402
from program import check, dse, read, run_parts, write  # noqa: E402

SPEC = """experiment: fronts
title: Fronts
architecture: simba
network: resnet50
layers: [conv1, conv2_shortcut, conv5_1_a, conv5_2_a]
engine: optimal
options: {starts: 2}
axes:
  objective: [pareto, edp]
  PE.mesh: [4x4, 8x8]
  DRAM.bandwidth: [5 GB/s, 20 GB/s, 40 GB/s]
"""
UNIT = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "J": 1, "mJ": 1e-3, "µJ": 1e-6, "nJ": 1e-9}
csv.field_size_limit(1 << 27)


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pairs(text):
    return [tuple(map(float, pair.split(":"))) for pair in text.split()]


def drawn(folder, out, *more):
    """The fronts of a figure, [(latency_s, energy_j), ...] each, as its script has them, and how many are marked as best."""
    figure = os.path.join(folder, "f.svg")
    code, said = dse("plot", out, "-k", "front", "-o", figure, "--keep-script", *more)
    check("drawn", code == 0 and read(figure).startswith(b"<?xml"), said)
    script = read(figure + ".gp").decode()
    unit = [UNIT[script.split("dse_%s_title = '" % axis)[1].split("(")[1].split(")")[0]] for axis in "xy"]
    blocks = script.split("$fronts << END_OF_FRONTS\n")[1].split("END_OF_FRONTS\n")[0].split("\n\n\n")[:-1]
    best = script.split("$best << END_OF_BEST\n")[1].split("END_OF_BEST\n")[0].splitlines()
    return [[tuple(float(word) * factor for word, factor in zip(line.split(), unit)) for line in block.splitlines() if "NaN" not in line]
            for block in blocks], sum(line != "" and "NaN" not in line for line in best)


def same(one, two):
    return len(one) == len(two) and all(len(a) == len(b) and all(abs(x - y) <= 1e-9 * y for p, q in zip(a, b) for x, y in zip(p, q))
                                        for a, b in zip(one, two))


def check_figures(folder):
    spec, out = write(os.path.join(folder, "spec.yaml"), SPEC), os.path.join(folder, "one.h5")
    code, said = dse("run", spec, "-o", out)
    check("the run ends", code == 0, said)
    rows = {(row["objective"], row["PE.mesh"], row["DRAM.bandwidth_byte_per_s"]): row for row in table(out[:-3] + ".csv")}
    bandwidths, meshes = ["5000000000", "20000000000", "40000000000"], ["4x4", "8x8"]
    fronts = {key: pairs(row["front"]) for key, row in rows.items() if key[0] == "pareto"}
    got, best = drawn(folder, out, "-w", "objective=pareto")
    check("a panel for each mesh", same(got, [fronts["pareto", mesh, bandwidth] for mesh in meshes for bandwidth in bandwidths]), str(got))
    check("the best of each front", best == sum(len(front) > 1 for front in fronts.values()) > 0)
    got, _ = drawn(folder, out, "-w", "objective=pareto", "-y", "PE.mesh")
    check("a panel for each bandwidth", same(got, [fronts["pareto", mesh, bandwidth] for bandwidth in bandwidths for mesh in meshes]))
    got, _ = drawn(folder, out, "-w", "DRAM.bandwidth=5 GB/s", "-y", "objective")
    check("other objectives have none", same(got, [front for mesh in meshes for front in (fronts["pareto", mesh, bandwidths[0]], [])]))
    layers = {(row["PE.mesh"], row["DRAM.bandwidth_byte_per_s"]): row for row in table(out[:-3] + ".layers.csv")
              if row["objective"] == "pareto" and row["layer"] == "conv1"}
    got, _ = drawn(folder, out, "-w", "objective=pareto", "-l", "conv1")
    check("of a layer", same(got, [pairs(layers[mesh, bandwidth]["front"]) for mesh in meshes for bandwidth in bandwidths]))
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        figure = os.path.join(folder, "f." + ending)
        code, said = dse("plot", out, "-k", "front", "-w", "objective=pareto", "-o", figure)
        check(ending, code == 0 and read(figure).startswith(magic) and len(read(figure)) > 2000, said)
    dse("plot", out, "-k", "front", "-w", "objective=pareto", "-w", "PE.mesh=4x4", "--title", "0123456789" * 6, "-o", os.path.join(folder, "f.svg"), "--keep-script")
    width = read(os.path.join(folder, "f.svg.gp")).decode().split("dse_width = ")[1].split()[0]
    check("as wide as the title", float(width) >= 576, width)
    for more, want in ((["-k", "front", "-w", "objective=edp"], "no point of the slice has a front"),
                       (["-k", "front", "-l", "conv9"], "unknown layer 'conv9' (did you mean conv1?)"),
                       (["-k", "front", "-m", "latency_s"], "a figure of kind front shows energy_j by its parts"),
                       (["-l", "conv1"], "--layer is of figures of kind front")):
        code, said = dse("plot", out, "-o", os.path.join(folder, "g.svg"), *more)
        check("refused", code == 2 and want in said, said)
    check_reader(out, fronts)
    check_without(folder)


def check_reader(out, fronts):
    for path in (out, out[:-3] + ".csv"):
        frame, layers = dse_results.front(path), dse_results.front(path, layers=True)
        check("all points", sorted(zip(frame.latency_s, frame.energy_j)) == sorted(point for front in fronts.values() for point in front), path)
        check("numbered", all(list(group.n) == list(range(len(group))) for _, group in frame.groupby(["PE.mesh", "DRAM.bandwidth_byte_per_s"])))
        check("with a mapping each", all(text.startswith("mapping: [") for text in layers.mapping) and set(layers.layer) >= {"conv1", "conv5_2_a"})
    check("the same from both", len(dse_results.front(out, layers=True)) == len(layers))


def check_without(folder):
    spec, out = write(os.path.join(folder, "none.yaml"), SPEC.replace("[pareto, edp]", "[edp]")), os.path.join(folder, "none.h5")
    dse("run", spec, "-o", out)
    code, said = dse("plot", out, "-k", "front", "-o", os.path.join(folder, "g.svg"))
    check("without fronts", code == 2 and said.endswith("there are no fronts: no point has the objective pareto\n"), said)
    check("and columns", "front" not in table(out[:-3] + ".csv")[0])


if __name__ == "__main__":
    run_parts(check_figures)
