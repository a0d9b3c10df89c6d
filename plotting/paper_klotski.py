#!/usr/bin/env python3
"""The figures of Klotski (Bai et al., ICCAD 2023) from the sweeps of experiments/klotski.

usage: paper_klotski.py EXPERIMENTS OUT    (scripts/run-figures calls it; EXPERIMENTS is experiments/klotski, the sweeps lie in OUT/runs)

Writes OUT/tableN.csv, OUT/tables.png, OUT/figN.csv, .png and .gp, OUT/ablation.csv, OUT/batch.png, OUT/report.csv and .md, and prints the
report. Fig. 2 is drawn by the program named in the environment variable DSE (build/dse without it).
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paper_bars
import paper_heatmap
import paper_tools
from paper_tools import Missing, geomean, number, ratio, read_table, short, write_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NETWORKS = {"vgg16": "VGG16", "vgg19": "VGG19", "resnet50": "ResNet-50", "resnet152": "ResNet-152", "inception_v3": "Inception-v3"}
MESHES = ["3x3", "4x4", "5x5"]
CELLS = [(network, mesh) for mesh in MESHES for network in NETWORKS]
ENGINES = {"tangram": "baseline 1 (tangram)", "atomic": "baseline 2 (atomic)", "klotski": "Klotski", "klotski-plus": "klotski-plus (ours)"}
PAPER_COLOUR = {"atomic": "#c9c9c9", "klotski": "#f2b98f"}
COLOUR = {"tangram": "#9a9a9a", "atomic": "#56b4e9", "klotski": "#d55e00", "klotski-plus": "#117755"}


def points(runs, stem, columns):
    """The rows of a sweep with a schedule, by the texts of `columns`."""
    rows = read_table(os.path.join(runs, stem + ".csv"))
    found = {tuple(row[column] for column in columns): row for row in rows if row["status"] == "ok"}
    if not found:
        raise Missing("%s has no points" % stem)
    return found


def cycles(row):
    """Of a result's row, which may be missing."""
    return number(row["latency_cycle"]) if row else None


def total(values):
    """The sum; None when one of them is missing."""
    return None if None in values or not values else sum(values)


def percent_less(less, more, unit=None):
    """By how many percent of `unit` (None: of `more`) `less` is below `more`; None when one is missing."""
    return None if None in (less, more) or not (unit or more) else 100 * (more - less) / (unit or more)


def mean(values):
    """The arithmetic mean; None when one of them is missing."""
    return None if None in values or not values else sum(values) / len(values)


class Paper:
    """Tables I to III: cycles, seconds, hardware utilisation by (network, mesh, engine)."""

    def __init__(self, folder):
        self.rows = {(row["network"], row["mesh"], row["engine"]): row for row in read_table(os.path.join(folder, "paper_tables.csv"))}

    def get(self, network, mesh, engine, column="cycles"):
        row = self.rows.get((network, mesh, engine))
        return number(row[column]) if row else None


def holds(pairs):
    """In words: in how many of the cases that are there, pairs (a, b), a is at most b."""
    known = [(a, b) for a, b in pairs if None not in (a, b)]
    return "%d of %d" % (sum(a <= b for a, b in known), len(known)) if known else None


class Tables:
    """Our Tables I to III."""

    def __init__(self, runs):
        self.rows = points(runs, "tables", ["network", "Core.mesh", "engine"])

    def get(self, network, mesh, engine, column="latency_cycle"):
        row = self.rows.get((network, mesh, engine))
        return number(row[column]) if row else None

    def hur(self, network, mesh, engine, column):
        """Utilisation over that of baseline 1 by one of two definitions: core_busy, the share of the time in which accelerators run
        uops, or utilization, that in which PEs do MACs."""
        return ratio(self.get(network, mesh, engine, column), self.get(network, mesh, "tangram", column))

    def sums(self, mesh):
        """Of all networks, by engine."""
        return {engine: total([self.get(network, mesh, engine) for network in NETWORKS]) for engine in ENGINES}


def tables(runs, out, report):
    ours, paper = Tables(runs), Paper(report.folder)
    for i, mesh in enumerate(MESHES):
        write_cells(os.path.join(out, "table%d.csv" % (i + 1)), ours, paper, mesh)
    draw_tables(out, ours, paper)
    for network in NETWORKS:
        report.set("tables", "b1_" + network, ours.get(network, "3x3", "tangram"))
    order = [(ours.get(*cell, "klotski"), ours.get(*cell, "atomic"), ours.get(*cell, "tangram")) for cell in CELLS]
    report.set("tables", "order_b2", holds([(klotski, atomic) for klotski, atomic, _ in order]))
    report.set("tables", "order_b1", holds([(atomic, tangram) for _, atomic, tangram in order]))
    for mesh in MESHES:
        report_mesh(report, ours, mesh)
    for network, mesh in CELLS:
        name = "%s_%s" % (network, mesh)
        klotski, plus = (ours.get(network, mesh, engine) for engine in ("klotski", "klotski-plus"))
        report.set("tables", "b1_of_" + name, ratio(klotski, ours.get(network, mesh, "tangram")))
        report.set("tables", "b2_of_" + name, ratio(klotski, ours.get(network, mesh, "atomic")))
        report.set("tables", "plus_of_" + name, ratio(plus, klotski))
    gains = [ratio(ours.get(*cell, "klotski"), ours.get(*cell, "klotski-plus")) for cell in CELLS]
    report.set("tables", "plus", geomean(gains))
    report.set("tables", "plus_atomic", geomean([ratio(ours.get(*cell, "atomic"), ours.get(*cell, "klotski-plus")) for cell in CELLS]))
    report.set("tables", "plus_order", holds([(ours.get(*cell, "klotski-plus"), min(filter(None, both), default=None))
                                              for cell, both in zip(CELLS, order)]))
    gaps = [number(ours.rows[cell + ("klotski",)]["bound_latency_ratio"]) for cell in CELLS if cell + ("klotski",) in ours.rows]
    report.set("tables", "gap", 100 * (mean(gaps) - 1) if gaps else None)
    report.set("tables", "gap_worst", 100 * (max(gaps) - 1) if gaps else None)


def report_mesh(report, ours, mesh):
    """Means and sums of one of the three tables."""
    sums = ours.sums(mesh)
    each = [{engine: ours.get(network, mesh, engine) for engine in ENGINES} for network in NETWORKS]
    report.set("tables", "sum_b1_" + mesh, percent_less(sums["klotski"], sums["tangram"]))
    report.set("tables", "sum_b2_in_b1_" + mesh, percent_less(sums["klotski"], sums["atomic"], sums["tangram"]))
    report.set("tables", "sum_b2_" + mesh, percent_less(sums["klotski"], sums["atomic"]))
    report.set("tables", "mean_b1_" + mesh, mean([percent_less(of["klotski"], of["tangram"]) for of in each]))
    report.set("tables", "mean_b2_" + mesh, mean([percent_less(of["klotski"], of["atomic"]) for of in each]))
    report.set("tables", "plus_b2_" + mesh, mean([percent_less(of["klotski-plus"], of["atomic"]) for of in each]))
    for name, column in (("busy", "core_busy"), ("mac", "utilization")):
        more = mean([ours.hur(network, mesh, "klotski", column) for network in NETWORKS])
        report.set("tables", "hur_%s_%s" % (name, mesh), 100 * (more - 1) if more else None)
    seconds = {engine: [ours.get(network, mesh, engine, "seconds") for network in NETWORKS] for engine in ENGINES}
    report.set("tables", "seconds_" + mesh, mean(seconds["klotski"]))
    report.set("tables", "seconds_plus_" + mesh, mean(seconds["klotski-plus"]))
    report.set("tables", "seconds_over_" + mesh, geomean([ratio(a, b) for a, b in zip(seconds["klotski"], seconds["atomic"])]))


def write_cells(path, ours, paper, mesh):
    """A table of the paper with ours beside it: a row per network and method."""
    rows = []
    for network in NETWORKS:
        for engine in ENGINES:
            theirs = [paper.get(network, mesh, engine, column) for column in ("cycles", "seconds", "hur")]
            rows.append([network, engine, theirs[0] and int(theirs[0]), ours.get(network, mesh, engine) and int(ours.get(network, mesh, engine)),
                         ratio(theirs[0], paper.get(network, mesh, "tangram")),
                         ratio(ours.get(network, mesh, engine), ours.get(network, mesh, "tangram")),
                         theirs[1], ours.get(network, mesh, engine, "seconds"), theirs[2],
                         ours.hur(network, mesh, engine, "core_busy"), ours.hur(network, mesh, engine, "utilization"),
                         ours.get(network, mesh, engine, "core_busy"), ours.get(network, mesh, engine, "utilization")])
    write_table(path, ["network", "engine", "paper_cycles", "cycles", "paper_ratio", "ratio", "paper_seconds", "seconds", "paper_hur",
                       "hur_busy", "hur_mac", "core_busy", "utilization"], rows)


def draw_tables(out, ours, paper):
    """How many times fewer cycles than baseline 1: the paper's two bars, then ours."""
    panels = []
    for mesh in MESHES:
        known = [network for network in NETWORKS if ours.get(network, mesh, "tangram")]
        if not known:
            continue
        bars = [[ratio(paper.get(network, mesh, "tangram"), paper.get(network, mesh, engine)) for network in known]
                for engine in ("atomic", "klotski")]
        bars += [[ratio(ours.get(network, mesh, "tangram"), ours.get(network, mesh, engine)) for network in known]
                 for engine in ("atomic", "klotski", "klotski-plus")]
        panels.append(paper_bars.Panel("%s accelerators" % mesh, [NETWORKS[network] for network in known], bars, 30, 5, row=len(panels),
                                       y_title="speedup over baseline 1"))
    paper_bars.draw(os.path.join(out, "tables"), panels, ["paper: baseline 2", "paper: Klotski", "baseline 2 (atomic)", "Klotski",
                                                          "klotski-plus (ours)"], width=640, rotate=0,
                    colours=[PAPER_COLOUR["atomic"], PAPER_COLOUR["klotski"], COLOUR["atomic"], COLOUR["klotski"], COLOUR["klotski-plus"]])


FIG2 = [("module", "fig2", "experiments/klotski/networks/inception_3a.yaml", "2x2", []),
        ("resnet50", "fig2_resnet50", "resnet50", "3x3", ["--cycles", "0:2000000"])]


def fig2(runs, out, report):
    """Lanes of accelerators, in rounds above, by dataflow below."""
    dse = os.environ.get("DSE", os.path.join(ROOT, "build/dse"))
    for name, stem, network, mesh, more in FIG2:
        found = {how: summary(runs, "fig2_%s_%s" % (name, how)) for how in ("rounds", "dataflow")}
        files = [os.path.join(runs, "fig2_%s%s.yaml" % (name, ending)) for ending in ("_rounds", "")]
        done = subprocess.run([dse, "plot"] + files + ["--arch", "klotski", "--set", "Core.mesh=" + mesh, "--network", network, "-o",
                                                       os.path.join(out, stem + ".png")] + more,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise Missing("%s plot: %s" % (dse, done.stdout.decode("utf-8", "replace").strip()))
        for how, values in found.items():
            report.set("fig2", "%s_%s" % (how, name), values["cycles"])
        report.set("fig2", "ratio_" + name, ratio(found["rounds"]["cycles"], found["dataflow"]["cycles"]))


def summary(runs, stem):
    """The summary of `dse eval` by its keys."""
    return {row["key"]: number(row["value"]) for row in read_table(os.path.join(runs, stem + ".csv"))}


# How messages go: a word of the report, and transport and width of the sweep.
WAYS = {"ideal": ("ideal", "4096", "no time"), "4096": ("flits", "4096", "4096 bit"), "192": ("flits", "192", "192 bit"),
        "64": ("flits", "64", "64 bit")}


class Equal:
    """Fig. 7: all three on one partition."""

    def __init__(self, runs):
        self.rows = points(runs, "fig7_equal", ["network", "Core.mesh", "engine", "option.transport", "noc.flit_bit", "option.firing"])

    def get(self, cell, engine, way, firing="static"):
        return cycles(self.rows.get(cell + (engine,) + WAYS[way][:2] + (firing,)))

    def cells(self):
        return [cell for cell in CELLS if self.get(cell, "klotski", "ideal")]


def fig7(runs, out, report):
    equal = Equal(runs)
    cells, rows = equal.cells(), []
    for way in WAYS:
        of = {engine: [equal.get(cell, engine, way) for cell in cells] for engine in ("tangram", "atomic", "klotski")}
        rows += [[cell[0], cell[1], WAYS[way][2], *(int(of[engine][i]) for engine in of)] for i, cell in enumerate(cells)]
        report.set("fig7", "order_b2_" + way, holds(list(zip(of["klotski"], of["atomic"]))))
        report.set("fig7", "order_b1_" + way, holds([(max(a, k), t) for t, a, k in zip(*of.values())]))
        for mesh in MESHES:
            sums = {engine: total([value for cell, value in zip(cells, of[engine]) if cell[1] == mesh]) for engine in of}
            report.set("fig7", "b1_%s_%s" % (mesh, way), percent_less(sums["klotski"], sums["tangram"]))
            report.set("fig7", "b2_%s_%s" % (mesh, way), percent_less(sums["klotski"], sums["atomic"], sums["tangram"]))
        report.set("fig7", "gain_b2_" + way, geomean([a / k for a, k in zip(of["atomic"], of["klotski"])]))
        report.set("fig7", "gain_b1_" + way, geomean([t / k for t, k in zip(of["tangram"], of["klotski"])]))
    write_table(os.path.join(out, "fig7.csv"), ["network", "mesh", "messages", "baseline 1", "baseline 2", "klotski"], rows)
    rounds = [ratio(equal.get(cell, "atomic", "ideal", "rounds"), equal.get(cell, "atomic", "ideal")) for cell in cells]
    report.set("fig2", "rounds", geomean(rounds))
    report.set("fig2", "rounds_worst", max(filter(None, rounds), default=None))
    draw_fig7(out, equal, cells)


def draw_fig7(out, equal, cells):
    """How many percent more cycles both baselines take than Klotski, a bar for each way of messages."""
    panels = []
    for row, (engine, title, limit, step) in enumerate((("tangram", "more than Klotski (%)", 35, 5), ("atomic", "more than Klotski (%)", 15, 5))):
        for mesh in MESHES:
            of_mesh = [cell for cell in cells if cell[1] == mesh]
            if not of_mesh:
                continue
            values = [[100 * (equal.get(cell, engine, way) / equal.get(cell, "klotski", way) - 1) for cell in of_mesh] for way in WAYS]
            panels.append(paper_bars.Panel("%s, %s accelerators" % (ENGINES[engine], mesh), [NETWORKS[cell[0]] for cell in of_mesh], values,
                                           limit, step, row=row, y_title=title if mesh == cells[0][1] else ""))
    paper_bars.draw(os.path.join(out, "fig7"), panels, ["messages take no time"] + ["links of " + WAYS[way][2] for way in list(WAYS)[1:]],
                    width=1000, colours=["#9a9a9a", "#117755", "#56b4e9", "#d55e00"])


def gains(of_choice, base):
    """By choice: geometric mean over the cells that all have of its cycles over the base's."""
    common = set.intersection(*(set(of) for of in of_choice.values())) if of_choice else set()
    return {choice: geomean([of[cell] / of_choice[base][cell] for cell in common]) for choice, of in of_choice.items()} if common else {}


def by_choice(rows, column, keep=lambda row: True):
    """{choice: {all other coordinates: cycles}} of rows."""
    found = {}
    for row in rows.values():
        if keep(row):
            key = tuple(row[c] for c in ("network", "Core.mesh", "noc.flit_bit", "option.firing", "option.mapping", "seed")
                        if c in row and c != column)
            found.setdefault(row[column], {})[key] = cycles(row)
    return found


def programs(rows, what):
    """In words: how many mixed-integer programs were proved optimal, of all."""
    return "%d of %d" % tuple(sum(int(number(row[what + ending]) or 0) for row in rows) for ending in ("_proved", ""))


def ablation(runs, out, report):
    """Order, mapping, firing, width of links; score and search of the tile size."""
    table = []

    def put(what, condition, values, key):
        for choice, value in values.items():
            table.append([what, condition, choice, value])
            report.set("ablation", key + choice, value)

    order = points(runs, "fig7_schedule", ["network", "Core.mesh", "option.schedule"])
    put("schedule", "no time for messages", gains(by_choice(order, "option.schedule"), "list"), "schedule_")
    for choice in sorted({row["option.schedule"] for row in order.values()}):
        mine = [row for row in order.values() if row["option.schedule"] == choice]
        report.set("ablation", "gap_" + choice, 100 * (mean([number(row["bound_latency_ratio"]) for row in mine]) - 1))
        report.set("ablation", "seconds_" + choice, mean([number(row["seconds"]) for row in mine]))
        if choice in ("ilp", "relaxed"):
            report.set("ablation", "programs_" + choice, programs(mine, "n_program"))
    rows = points(runs, "fig7_mapping", ["network", "Core.mesh", "option.mapping", "noc.flit_bit", "option.firing"])
    for flit in ("4096", "192", "64"):
        for what, column, base in (("mapping", "option.mapping", "zigzag"), ("firing", "option.firing", "static")):
            put(what, flit + " bit", gains(by_choice(rows, column, lambda row, f=flit: row["noc.flit_bit"] == f), base), "%s_%s_" % (what, flit))
    local = by_choice(rows, "noc.flit_bit", lambda row: row["option.mapping"] == "local" and row["option.firing"] == "static")
    put("width of links", "mapping local", gains(local, "4096"), "width_")
    report.set("ablation", "windows_mip", programs([row for key, row in rows.items() if key[2:] == ("mip", "4096", "static")], "n_window"))
    hops = {choice: {key[:2]: number(row["byte_hop"]) for key, row in rows.items() if key[2:] == (choice, "4096", "static")}
            for choice in {row["option.mapping"] for row in rows.values()}}
    put("bytes times hops", "", gains(hops, "zigzag"), "byte_hop_")
    score = points(runs, "score", ["network", "Core.mesh", "option.score", "option.search", "seed"])
    whole = {key[:2]: cycles(row) for key, row in score.items() if key[2:4] == ("makespan", "all")}
    for what in ("makespan", "entropy", "entropy-mean"):
        for search in ("bo", "random", "all"):
            over = [cycles(row) / whole[key[:2]] for key, row in score.items() if key[2:4] == (what, search) and key[:2] in whole]
            table.append(["score", search, what, geomean(over)])
            report.set("ablation", "score_%s_%s" % (what, search), geomean(over))
    write_table(os.path.join(out, "ablation.csv"), ["what", "condition", "choice", "cycles_ratio"], table)


MEMORIES = {"free": "weights are there", "dram": "weights from the DRAM"}


def batch(runs, out, report):
    """Milliseconds of a sample over mesh and batch."""
    rows = points(runs, "sweep_batch", ["option.memory", "batch", "Core.mesh"])
    batches = sorted({key[1] for key in rows}, key=int)
    meshes = sorted({key[2] for key in rows}, key=lambda mesh: (len(mesh), mesh))
    of = {memory: [[1e3 * number(rows[(memory, b, mesh)]["latency_s"]) / int(b) if (memory, b, mesh) in rows else None for mesh in meshes]
                   for b in batches] for memory in MEMORIES}
    known = [value for values in of.values() for line in values for value in line if value is not None]
    panels = [paper_heatmap.Panel(title, of[memory], min(known), max(known), 0, i) for i, (memory, title) in enumerate(MEMORIES.items())]
    paper_heatmap.draw(os.path.join(out, "batch"), panels, meshes, batches, "accelerators", "batch", "ResNet-50: ms of a sample")
    write_table(os.path.join(out, "batch.csv"), ["memory", "batch", "mesh", "ms_of_a_sample"],
                [[memory, b, mesh, of[memory][i][j]] for memory in MEMORIES for i, b in enumerate(batches) for j, mesh in enumerate(meshes)])
    report.set("batch", "largest", "%s, %s to %s" % (batches[-1], meshes[0], meshes[-1]))
    for memory, values in of.items():
        report.set("batch", "gain_" + memory, ratio(values[0][-1], values[-1][-1]))
        report.set("batch", "gain_least_" + memory, ratio(values[0][0], values[-1][0]))


def dram(runs, out, report):
    """What weights from the DRAM cost, with the machine's memory, and what a partition made for that gains."""
    rows = points(runs, "sweep_dram", ["engine", "DRAM.bandwidth_byte_per_s", "SRAM.capacity_byte"])
    of = {(engine, float(bandwidth) / 1e9): row for (engine, bandwidth, capacity), row in rows.items() if capacity == str(6000 * 1024)}
    for engine in ("klotski", "klotski-plus"):
        for bandwidth in (16, 64):
            row = of.get((engine, bandwidth))
            report.set("dram", "ms_%s_%d" % (engine, bandwidth), row and 1e3 * number(row["latency_s"]))
            report.set("dram", "mb_%s_%d" % (engine, bandwidth), row and number(row["dram_byte"]) / 1e6)
    report.set("dram", "plus", gain_of_plus(rows))


def gain_of_plus(rows):
    """Geometric mean, over all points that both have, of Klotski's cycles over klotski-plus'."""
    return geomean([ratio(cycles(row), cycles(rows.get(("klotski-plus",) + key[1:]))) for key, row in rows.items() if key[0] == "klotski"])


def network(runs, out, report):
    """All engines where messages take the time of the cycle-exact mesh."""
    rows = points(runs, "network", ["network", "Core.mesh", "noc.flit_bit", "engine"])
    cells = sorted({key[:3] for key in rows})
    of = {engine: [cycles(rows.get(cell + (engine,))) for cell in cells] for engine in ENGINES}
    write_table(os.path.join(out, "network.csv"), ["network", "mesh", "flit_bit"] + list(ENGINES),
                [[*cell, *(value[i] and int(value[i]) for value in of.values())] for i, cell in enumerate(cells)])
    others = [min(filter(None, line), default=None) for line in zip(of["tangram"], of["atomic"], of["klotski"])]
    report.set("network", "order", holds(list(zip(of["klotski-plus"], others))))
    for flit in ("4096", "192", "64"):
        report.set("network", "gain_" + flit, geomean([ratio(best, plus) for cell, best, plus in zip(cells, others, of["klotski-plus"])
                                                       if cell[2] == flit]))


def links(runs, out, report):
    """What narrow links cost ResNet-50, and what a partition made for them gains."""
    rows = points(runs, "sweep_links", ["engine", "Core.mesh", "noc.flit_bit"])
    for engine in ("klotski", "klotski-plus"):
        for flit in ("4096", "64"):
            row = rows.get((engine, "5x5", flit))
            report.set("links", "ms_%s_%s" % (engine, flit), row and 1e3 * number(row["latency_s"]))
    report.set("links", "plus", gain_of_plus(rows))


FIGURES = {"tables": tables, "fig2": fig2, "fig7": fig7, "ablation": ablation, "network": network, "batch": batch, "links": links, "dram": dram}

if __name__ == "__main__":
    sys.exit(paper_tools.main(FIGURES, __doc__.split("\n\n")[1], sys.argv[1:]))
