#!/usr/bin/env python3
"""The figures of SoMa (Cai et al., HPCA 2025) from the sweeps of experiments/soma.

usage: paper_soma.py EXPERIMENTS OUT    (scripts/run-figures calls it; EXPERIMENTS is experiments/soma, the sweeps lie in OUT/runs)

Writes OUT/figN.csv, .png and .gp, OUT/report.csv and .md, and prints the report. Fig. 8 is drawn by the program named in the environment
variable DSE (build/dse without it).
"""
import csv
import itertools
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import network_file
import paper_heatmap
import paper_scatter
import paper_stacks
import paper_tools
from paper_tools import Missing, geomean, number, ratio, read_table, write_table
from soma_points import BATCHES, NETWORKS, PLATFORMS, ROOT, Overall, core_energy, energy_saved, mean, points, saved, speedup

# The networks of GPT-2 are one of so many equal blocks (Radford et al. 2019, Table 2); the paper's Fig. 7 has the whole network's latency.
BLOCKS = {"gpt2_small_prefill512": 12, "gpt2_small_decode513": 12, "gpt2_xl_prefill1024": 48, "gpt2_xl_decode1025": 48}
BUFFER_MIB = {"soma_edge": 8, "soma_cloud": 32}
SERIES = ["Cocco", "SoMa, stage 1", "SoMa, stage 2", "SoMa-plus (ours, not in the paper)"]
COLOURS = ["#9a9a9a", "#56b4e9", "#d55e00", "#117755"]


def fig6(runs, out, report):
    overall = Overall(runs)
    draw_fig6(out, overall)
    write_fig6(out, overall)
    report.set("fig6", "points", len(overall.cells))
    report.set("fig6", "speedup", overall.mean(speedup))
    report.set("fig6", "energy", overall.mean(energy_saved))
    report.set("fig6", "stage1", overall.mean(lambda cocco, soma: cocco.get("latency_cycle") / soma.stage1_cycles))
    report.set("fig6", "stage2", overall.mean(lambda _, soma: soma.stage1_cycles / soma.get("latency_cycle")))
    report.set("fig6", "gap", overall.mean(lambda _, soma: saved(soma.get("latency_cycle"), soma.bound)))
    for key, *_ in NETWORKS:
        report.set("fig6", "speedup_" + key, overall.mean(speedup, key=key))
        report.set("fig6", "energy_" + key, overall.mean(energy_saved, key=key))
    report.set("fig6", "core_energy", overall.mean(lambda cocco, soma: saved(core_energy(cocco), core_energy(soma))))
    report.set("fig6", "dram_energy", overall.mean(lambda cocco, soma: saved(cocco.get("energy_dram_j"), soma.get("energy_dram_j"))))
    for name, column in (("tiles", "n_tile"), ("lg", "n_layer_group"), ("flg", "n_fine_group")):
        report.set("fig6", name + "_cocco", overall.mean(lambda cocco, _, c=column: cocco.get(c)))
        report.set("fig6", name + "_soma", overall.mean(lambda _, soma, c=column: soma.get(c)))
    decode(overall, report)
    others(overall, report)
    rules(runs, overall, report)


def decode(overall, report):
    """Utilisations of GPT-2's decoding that section VI-B prints."""
    for platform, network, name in (("soma_edge", "gpt2_small_decode513", "small"), ("soma_cloud", "gpt2_xl_decode1025", "xl")):
        for batch in BATCHES:
            point = overall.points.get((platform, network, batch, "soma"))
            report.set("fig6", "decode_%s_%d" % (name, batch),
                       100 * point.utilisation(point.get("latency_cycle")) if point else None)


def others(overall, report):
    """The other reading of Cocco, and soma-plus."""
    report.set("fig6", "speedup_parallel", overall.mean(speedup, "parallel"))
    report.set("fig6", "energy_parallel", overall.mean(energy_saved, "parallel"))
    report.set("fig6", "tiles_parallel", overall.mean(lambda other, _: other.get("n_tile"), "parallel"))
    report.set("fig6", "lg_parallel", overall.mean(lambda other, _: other.get("n_layer_group"), "parallel"))
    report.set("fig6", "plus_speedup", overall.mean(lambda plus, soma: 1 / speedup(plus, soma), "soma-plus"))
    report.set("fig6", "plus_energy", overall.mean(lambda plus, soma: saved(soma.get("energy_j"), plus.get("energy_j")), "soma-plus"))
    report.set("fig6", "plus_over_cocco", mean([speedup(overall.of(cell, "cocco"), overall.of(cell, "soma-plus"))
                                                for cell in overall.cells if overall.of(cell, "soma-plus")]))
    cost = [ratio(overall.of(cell, "soma-plus").get("edp_js"), overall.of(cell, "soma").get("edp_js"))
            for cell in overall.cells if overall.of(cell, "soma-plus")]
    report.set("fig6", "plus_cost", geomean(cost))
    report.set("fig6", "plus_worse", "%d of %d" % (sum(value > 1.0000001 for value in cost), len(cost)) if cost else None)


def rules(runs, overall, report):
    """The same by the default rules, for batch 1. Nothing when that sweep is not there."""
    keys = ["architecture", "network", "batch", "engine"]
    try:
        sound = points(runs, "fig6_sound", keys)
    except Missing:
        return
    cells = [cell for cell in overall.cells if all((cell[0],) + cell[2:] + (engine,) in sound for engine in ("cocco", "soma"))]
    pairs = {"sound": [[sound[(cell[0],) + cell[2:] + (engine,)] for engine in ("cocco", "soma")] for cell in cells],
             "compat": [[overall.of(cell, engine) for engine in ("cocco", "soma")] for cell in cells]}
    for name, both in pairs.items():
        report.set("fig6", name + "_speedup", mean([speedup(*pair) for pair in both]))
        report.set("fig6", name + "_energy", mean([energy_saved(*pair) for pair in both]))
    for i, name in ((1, "sound_latency"), (0, "sound_cocco")):
        report.set("fig6", name, geomean([speedup(a[i], b[i]) for a, b in zip(pairs["sound"], pairs["compat"])]))


def write_fig6(out, overall):
    """The data of the figure: a row per bar."""
    rows = []
    for cell in overall.cells:
        platform, _, network, batch = cell
        for engine in ("cocco", "soma", "soma-plus", "parallel"):
            point = overall.of(cell, engine)
            if point:
                cycles = point.get("latency_cycle")
                rows.append([platform, network, batch, "cocco, tiling parallel" if engine == "parallel" else engine, int(cycles),
                             int(point.stage1_cycles), point.utilisation(cycles), point.utilisation(point.stage1_cycles),
                             point.utilisation(point.bound), core_energy(point), point.get("energy_dram_j"),
                             point.get("buffer_average_compute_byte"), point.get("stage1_buffer_average_compute_byte"),
                             int(point.get("n_layer_group")), int(point.get("n_fine_group")), int(point.get("n_tile")),
                             BLOCKS.get(network, 1)])
    write_table(os.path.join(out, "fig6.csv"), [
        "architecture", "network", "batch", "scheduler", "latency_cycle", "stage1_latency_cycle", "utilization", "stage1_utilization",
        "theoretical_maximum", "core_energy_j", "dram_energy_j", "buffer_average_compute_byte",
        "stage1_buffer_average_compute_byte", "layer_groups",
        "fine_groups", "tiles", "equal_blocks"], rows)


def draw_fig6(out, overall):
    """Utilisation with its theoretical maximum, energy over Cocco's, and buffer, for both chips."""
    panels, names = [], []
    titles = {key: title for key, title, *_ in NETWORKS}
    for platform, title in PLATFORMS:
        cells = [cell for cell in overall.cells if cell[0] == platform]
        if not cells:
            continue
        cocco, soma, plus = ([overall.of(cell, engine) for cell in cells] for engine in ("cocco", "soma", "soma-plus"))
        used = [[[100 * p.utilisation(p.get("latency_cycle"))] for p in cocco], [[100 * p.utilisation(p.stage1_cycles)] for p in soma],
                [[100 * p.utilisation(p.get("latency_cycle"))] for p in soma],
                [p and [100 * p.utilisation(p.get("latency_cycle"))] for p in plus]]
        energy = [[p and [core_energy(p) / c.get("energy_j"), p.get("energy_dram_j") / c.get("energy_j")] for p, c in zip(line, cocco)]
                  for line in (cocco, soma, soma, plus)]
        whole = BUFFER_MIB[platform] * 2**20 / 100
        buffer = [[p and [(p.get(column) or 0) / whole] for p in line]
                  for line, column in ((cocco, "buffer_average_compute_byte"), (soma, "stage1_buffer_average_compute_byte"),
                                       (soma, "buffer_average_compute_byte"), (plus, "buffer_average_compute_byte"))]
        most = [100 * p.utilisation(p.bound) for p in soma]
        panels += [paper_stacks.Panel("utilisation (%)", used, 100, 20, most, 2, title),
                   paper_stacks.Panel("energy over Cocco's", energy, 1.2, 0.2), paper_stacks.Panel("average buffer (%)", buffer, 100, 20)]
        names += [[(titles[cell[1]], str(cell[3])) for cell in cells]] * 3
    paper_stacks.draw(os.path.join(out, "fig6"), panels, names, SERIES, COLOURS, "theoretical maximum of stage 2",
                      "energy: core array (full), DRAM (pale)")


def fig3(runs, out, report):
    """Demand of layers and of tiles, each normalised to the largest."""
    files = {"resnet50": network_file.find("resnet50_soma", ROOT),
             "transformer": os.path.join(ROOT, "experiments/soma/networks/transformer_large.yaml")}
    panels, rows = [], []
    for letter, network, what in (("a", "resnet50", "layers"), ("b", "transformer", "layers"), ("c", "resnet50", "cocco"),
                                  ("d", "transformer", "cocco")):
        demand = demands(runs, "fig3_%s_%s" % (network, what), network_file.operations(files[network]))
        most = [max(line[i] for line in demand) for i in (0, 1)]
        points_of = [(ops / most[0], byte / most[1]) for ops, byte, _, _ in demand]
        rows += [[letter, name, tile, ops, int(byte), x, y] for (ops, byte, name, tile), (x, y) in zip(demand, points_of)]
        title = "ResNet-50" if network == "resnet50" else "Transformer (big)"
        panels.append(("(%s) %s: %d %s" % (letter, title, len(demand), "layers" if what == "layers" else "tiles of Cocco"), points_of))
        report.set("fig3", "axes_" + letter, near_axes(points_of))
        if what == "cocco":
            report.set("fig3", "idle_" + letter, 100 * sum(byte == 0 for _, byte, _, _ in demand) / len(demand))
            dram, core = busy(runs, "fig3_%s_cocco" % network)
            report.set("fig3", "dram_" + letter, dram)
            report.set("fig3", "core_" + letter, core)
    write_table(os.path.join(out, "fig3.csv"), ["panel", "layer", "tile", "operations", "dram_byte", "x", "y"], rows)
    paper_scatter.draw(os.path.join(out, "fig3"), panels, "operations, normalised", "DRAM access, normalised")
    point = Overall(runs).points.get(("soma_edge", "resnet50_soma", 4, "cocco"))
    for name, total in (("dram_c4", "dram_cycle"), ("core_c4", "compute_cycle")):
        report.set("fig3", name, 100 * ratio(point.get(total), point.get("latency_cycle")) if point else None)


def demands(runs, stem, operations):
    """Of each tile its operations, the bytes of the loads that it is the first to use and of its stores, its layer and its number."""
    tiles = read_table(os.path.join(runs, stem + "_tiles.csv"))
    byte = [0.0] * len(tiles)
    for row in read_table(os.path.join(runs, stem + "_tensors.csv")):
        if row["dram_order"] not in ("", "-1"):
            byte[int(row["producer"] if row["kind"] == "ofmap" else row["first_use"])] += number(row["dram_byte"])
    if not tiles:
        raise Missing("%s has no tiles" % stem)
    return [(math.prod(int(row[c]) for c in "bkhw") * operations[row["layer"]], byte[i], row["layer"], row["tile"])
            for i, row in enumerate(tiles)]


def near_axes(points_of):
    """The share, in percent, of points closer than 15 degrees to one of the axes: demands of one kind only."""
    angles = [math.degrees(math.atan2(y, x)) for x, y in points_of if x > 0 or y > 0]
    return 100 * sum(angle < 15 or angle > 75 for angle in angles) / len(angles)


def busy(runs, stem):
    """Utilisation of DRAM and core array in percent: the sum of their times over the latency."""
    tiles, tensors = (read_table(os.path.join(runs, "%s_%s.csv" % (stem, what))) for what in ("tiles", "tensors"))
    moved = [row for row in tensors if row["dram_order"] not in ("", "-1")]
    end = max([number(row["finish_cycle"]) for row in tiles] + [number(row["finish_cycle"]) for row in moved])
    return (100 * sum(number(row["finish_cycle"]) - number(row["start_cycle"]) for row in moved) / end,
            100 * sum(number(row["cycle"]) for row in tiles) / end)


FIG7 = [("resnet50_soma", "ResNet-50"), ("gpt2_small_prefill512", "GPT-2 small, prefill")]


class Grid:
    """Fig. 7: the latency in ms of the whole network over buffer (rows) and bandwidth (columns)."""

    def __init__(self, runs):
        self.points = points(runs, "fig7", ["network", "batch", "engine", "GBUF.capacity_byte", "DRAM.bandwidth_byte_per_s"])
        self.buffers = sorted({key[3] for key in self.points}, key=float)
        self.bandwidths = sorted({key[4] for key in self.points}, key=float)
        self.batches = sorted({key[1] for key in self.points})

    def latency(self, network, batch, engine, column="latency_s"):
        """values[buffer][bandwidth], None where there is no schedule."""
        cells = [[self.points.get((network, batch, engine, c, b)) for b in self.bandwidths] for c in self.buffers]
        return [[None if p is None else 1e3 * BLOCKS.get(network, 1) * p.get(column) for p in line] for line in cells]


def gain_of_bandwidth(values, step=3):
    """Geometric mean of how much faster 8 times the bandwidth is, over all buffers and bandwidths."""
    return geomean([ratio(line[i], line[i + step]) for line in values for i in range(len(line) - step)])


def gain_of_buffer(values):
    """Geometric mean of how much faster 8 times the buffer is, over all bandwidths."""
    return geomean([ratio(a, b) for a, b in zip(values[0], values[-1])])


def fig7(runs, out, report):
    grid = Grid(runs)
    panels, rows = [], []
    for n, (network, title) in enumerate(FIG7):
        for b, batch in enumerate(grid.batches):
            both = {engine: grid.latency(network, batch, engine) for engine in ("cocco", "soma")}
            known = [v for values in both.values() for line in values for v in line if v is not None]
            for e, (engine, name) in enumerate((("cocco", "Cocco"), ("soma", "Ours"))):
                panel = paper_heatmap.Panel("%s, %s, batch %d" % (title, name, batch), both[engine], min(known), max(known), 2 * n + e, b)
                panel.near = within(both[engine], 1.02)
                panel.outlined = paper_heatmap.plateau(both[engine]) if engine == "soma" else set()
                panels.append(panel)
                rows += [[network, batch, engine, float(c) / 2**20, float(w) / 1e9, both[engine][i][j],
                          int((j, i) in paper_heatmap.plateau(both[engine]))]
                         for i, c in enumerate(grid.buffers) for j, w in enumerate(grid.bandwidths)]
    write_table(os.path.join(out, "fig7.csv"), ["network", "batch", "scheduler", "buffer_mib", "dram_gbps", "latency_ms", "plateau"], rows)
    paper_heatmap.draw(os.path.join(out, "fig7"), panels, ["%g" % (float(w) / 1e9) for w in grid.bandwidths],
                       ["%g" % (float(c) / 2**20) for c in grid.buffers], "DRAM bandwidth (GB/s)", "Buffer (MB)",
                       "Latency in ms. Red: the smallest of the panel, to two decimals. Dashed: within 2 % of it")
    insights(grid, report)


def insights(grid, report):
    """Section VII-A in numbers, for each network and batch."""
    for network, _ in FIG7:
        short = network.split("_")[0]
        for batch in grid.batches:
            ours, cocco = grid.latency(network, batch, "soma"), grid.latency(network, batch, "cocco")
            report.set("fig7", "bandwidth_%s_%d" % (short, batch), gain_of_bandwidth(ours))
            report.set("fig7", "buffer_%s_%d" % (short, batch), gain_of_buffer(ours))
            for name, values in (("ours", ours), ("cocco", cocco)):
                cells = paper_heatmap.plateau(values)
                report.set("fig7", "plateau_%s_%s_%d" % (name, short, batch), len(cells))
            near = within(ours, 1.02)
            report.set("fig7", "near_%s_%d" % (short, batch), "%d, %d" % (len(near), len(within(cocco, 1.02))))
            report.set("fig7", "either_%s_%d" % (short, batch), either(ours))
    every = [(grid.latency(network, batch, "cocco"), grid.latency(network, batch, "soma")) for network, _ in FIG7 for batch in grid.batches]
    report.set("fig7", "speedup", mean([ratio(c, s) for cocco, soma in every for a, b in zip(cocco, soma) for c, s in zip(a, b)]))


def within(values, factor):
    """The cells whose value is at most `factor` times the smallest."""
    known = {(x, y): v for y, line in enumerate(values) for x, v in enumerate(line) if v is not None}
    return {cell for cell, v in known.items() if v <= factor * min(known.values())}


def either(values):
    """Over the latency with most of both: that with the smallest buffer and most bandwidth, with the largest buffer and an eighth of the
    bandwidth, as text."""
    best = values[-1][-1]
    return "%.2f, %.2f" % (values[0][-1] / best, values[-1][-4] / best) if None not in (best, values[0][-1], values[-1][-4]) else None


# The caption names no batch: the numbers and tiling numbers of section VII-B are those of batch 4.
FIG8 = [("resnet50", "soma_edge", "resnet50_soma", 4), ("gpt2", "soma_cloud", "gpt2_xl_prefill1024", 1)]


def fig8(runs, out, report):
    """Execution graphs of Cocco, stage 1 and stage 2. Stage 1 is the same schedule without its DRAM order and durations."""
    overall = Overall(runs)
    texts = {}
    csv.field_size_limit(2**30)  # a schedule with its DRAM order is one field
    for row in read_table(os.path.join(runs, "fig6.layers.csv")):
        if row["status"] == "ok":
            texts[(row["architecture"], row["network"], int(row["batch"]), row["engine"])] = row["mapping"]
    for name, platform, network, batch in FIG8:
        cell = (platform, None, network, batch)
        cocco, soma = overall.of(cell, "cocco"), overall.of(cell, "soma")
        if not cocco or not soma or (platform, network, batch, "soma") not in texts:
            raise Missing("fig6 has no batch %d of %s on %s" % (batch, network, platform))
        cocco_text, soma_text = texts[(platform, network, batch, "cocco")], texts[(platform, network, batch, "soma")]
        draw_graphs(out, name, cell, {"cocco": cocco_text, "soma_stage1": double_buffered(soma_text),
                                      "soma_stage2": soma_text})
        first = cocco.get("latency_cycle") / soma.stage1_cycles
        report.set("fig8", "stage1_" + name, first)
        report.set("fig8", "stage2_" + name, soma.stage1_cycles / soma.get("latency_cycle"))
        report.set("fig8", "speedup_" + name, speedup(cocco, soma))
        report.set("fig8", "energy_" + name, energy_saved(cocco, soma))
        report.set("fig8", "tilings_cocco_" + name, tilings(cocco_text))
        report.set("fig8", "tilings_soma_" + name, tilings(soma_text))


def double_buffered(text):
    """A schedule (in the flow form of result tables) with the default DRAM order and living durations: the result of the first stage."""
    return re.sub(r",\s*dram: \[(\s*\[[^\]]*\],?)*\s*\]", "", re.sub(r",\s*tensors: \d+", "", text))


def tilings(text):
    """Tiling numbers of the groups, / at DRAM cuts; equal ones in a row are counted."""
    groups = [("/ " if cut else "") + tiles for cut, tiles in re.findall(r"{(cut: true, )?tiles: (\d+)", text)]
    parts = []
    for group, same in itertools.groupby(groups):
        n = len(list(same))
        parts.append(group + (" (%d times)" % n if n > 1 else ""))
    return " ".join(parts).lstrip("/ ")


def draw_graphs(out, name, cell, texts):
    """OUT/fig8_NAME.png of schedules by name, one below the other; they stay in OUT/fig8_NAME."""
    dse, folder = os.environ.get("DSE", os.path.join(ROOT, "build/dse")), os.path.join(out, "fig8_" + name)
    os.makedirs(folder, exist_ok=True)
    files = [os.path.join(folder, stage + ".yaml") for stage in texts]
    for path, text in zip(files, texts.values()):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    platform, _, network, batch = cell
    done = subprocess.run([dse, "plot"] + files + ["--arch", platform, "--network", network, "--batch", str(batch), "--compat",
                                                   "-o", folder + ".png"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Missing("%s plot: %s" % (dse, done.stdout.decode("utf-8", "replace").strip()))


FIGURES = {"fig3": fig3, "fig6": fig6, "fig7": fig7, "fig8": fig8}


if __name__ == "__main__":
    sys.exit(paper_tools.main(FIGURES, __doc__.split("\n\n")[1], sys.argv[1:]))
