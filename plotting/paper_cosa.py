#!/usr/bin/env python3
"""The figures of CoSA (Huang et al., ISCA 2021) from the sweeps of experiments/cosa.

usage: paper_cosa.py EXPERIMENTS OUT    (scripts/run-figures calls it; EXPERIMENTS is experiments/cosa, the sweeps lie in OUT/runs)

Writes OUT/figN.csv, .png and .gp, OUT/report.csv and .md, and prints the report.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paper_bars
import paper_histogram
import paper_tools
from paper_bars import Panel
from paper_tools import Missing, geomean, number, ratio, read_table, write_table

ENGINES = ["random", "hybrid", "cosa", "cosa-best"]
NAMES = ["Random", "Timeloop Hybrid", "CoSA", "CoSA-best (ours)"]
NETWORKS = {"alexnet_cosa": "AlexNet", "resnet50_cosa": "ResNet-50", "resnext50_cosa": "ResNeXt-50 (32x4d)",
            "deepbench_cosa": "DeepBench"}
# In the authors' list of layers, but not in Figs. 6 and 10.
NOT_SHOWN = {("resnet50_cosa", "3_28_128_128_1")}
# Weights of CoSA's objective as the engine has them by default (docs/engines.md).
WEIGHTS = {"util": 0.1, "comp": 10.0, "traf": 1.0}


class Sweep:
    """The rows of a sweep over networks, engines and seeds: for each layer, or for each network, and engine. Of a sweep over
    `searchers` those with so many. `engine` is that of a sweep with only one."""

    def __init__(self, runs, name, layers=True, searchers=None, engine="hybrid"):
        self.name, self.keys, self.rows, newest = name, [], {}, {}
        for row in read_table(os.path.join(runs, name + (".layers.csv" if layers else ".csv"))):
            key = (row["network"], row["layer"]) if layers else row["network"]
            if searchers and int(row["option.searchers"]) != searchers:
                continue
            newest[(key, row.get("engine", engine), int(row.get("seed") or 0))] = row  # a machine may have changed since
        for (key, name_of_engine, _), row in sorted(newest.items(), key=lambda item: item[0][2]):
            self.rows.setdefault(key, {}).setdefault(name_of_engine, []).append(row)
        self.keys = list(dict.fromkeys(key for key, _, _ in newest))
        order = list(NETWORKS)
        self.keys.sort(key=lambda key: order.index(key[0] if layers else key))

    def value(self, key, engine, column):
        """The geometric mean over the seeds; None when one of them has no value."""
        rows = self.rows.get(key, {}).get(engine, [])
        values = [number(row.get(column)) if row["status"] == "ok" else None for row in rows]
        return geomean(values) if values and None not in values else None

    def mean(self, keys, engine, column):
        """The arithmetic mean over rows and seeds; None when there is none."""
        values = [number(row.get(column)) for key in keys for row in self.rows[key].get(engine, [])]
        values = [value for value in values if value is not None]
        return sum(values) / len(values) if values else None

    def speedups(self, column, keys):
        """keys -> one number per engine: Random's value over the engine's."""
        return {key: [ratio(self.value(key, "random", column), self.value(key, engine, column)) for engine in ENGINES]
                for key in keys}


def write_speedups(path, sweep, keys, column, speedups, means):
    """Data of Figs. 6 and 10: a row per layer, then the means."""
    header = ["network", "layer"] + [engine + "_" + column for engine in ENGINES] + [engine + "_speedup" for engine in ENGINES]
    rows = [[key[0], key[1]] + [sweep.value(key, engine, column) for engine in ENGINES] + speedups[key] for key in keys]
    rows += [[network, "GEOMEAN"] + [None] * len(ENGINES) + means[network] for network in list(NETWORKS) + ["OVERALL"]]
    write_table(path, header, rows)


def clipped(speedups, keys, limit):
    """The numbers a figure prints above its bars of Hybrid and CoSA, in its order."""
    return " ".join("%.0f" % speedups[key][e] for key in keys for e in (1, 2)
                    if speedups[key][e] is not None and speedups[key][e] > limit) or "none"


def speedup_figure(runs, out, report, figure, column, limit, platform):
    """Figs. 6 and 10: speedup over Random of every layer, geometric means by network and of all layers."""
    sweep = Sweep(runs, figure)
    keys = [key for key in sweep.keys if key not in NOT_SHOWN]
    if all(sweep.value(key, "random", column) is None for key in keys):
        raise Missing("column %s of %s is empty" % (column, figure))
    speedups = sweep.speedups(column, keys)
    means = {network: [geomean([speedups[key][e] for key in keys if key[0] == network]) for e in range(len(ENGINES))]
             for network in NETWORKS}
    means["OVERALL"] = [geomean([speedups[key][e] for key in keys]) for e in range(len(ENGINES))]
    write_speedups(os.path.join(out, figure + ".csv"), sweep, keys, column, speedups, means)
    panels = []
    for i, (network, title) in enumerate(NETWORKS.items()):
        mine = [key for key in keys if key[0] == network]
        groups = [key[1] for key in mine] + ["GEOMEAN"]
        values = [[speedups[key][e] for key in mine] + [means[network][e]] for e in range(len(ENGINES))]
        panels.append(Panel(title, groups, values, limit, row=i % 3, apart=len(mine), shown=[len(mine)],
                            y_title="Speedup [Platform: %s]" % platform if i < 3 else ""))
        report.set(figure, "clipped_" + network.split("_")[0], clipped(speedups, mine, limit))
    panels.append(Panel("OVERALL", ["GEOMEAN"], [[mean] for mean in means["OVERALL"]], limit, row=0, shown=[0]))
    paper_bars.draw(os.path.join(out, figure), panels, NAMES)
    for e, key in ((1, "hybrid"), (2, "cosa"), (3, "best")):
        report.set(figure, key, means["OVERALL"][e])
    report.set(figure, "over_hybrid", ratio(means["OVERALL"][2], means["OVERALL"][1]))
    return sweep, speedups, means


def fig6(runs, out, report):
    sweep, speedups, means = speedup_figure(runs, out, report, "fig6", "latency_cycle", 10, "Timeloop")
    report.set("fig6", "bound", geomean([sweep.value(key, "random", "bound_latency_ratio") for key in speedups]))
    report.set("fig6", "best_over_hybrid", ratio(means["OVERALL"][3], means["OVERALL"][1]))
    layer, gains = speedups[("resnet50_cosa", "3_7_512_512_1")], {}
    report.set("fig6", "layer_random", layer[2])
    report.set("fig6", "layer_hybrid", ratio(layer[2], layer[1]))
    counts = {int(row["option.searchers"]) for row in read_table(os.path.join(runs, "fig6_hybrids.layers.csv"))}
    for searchers, name in ((min(counts), "shorter"), (max(counts), "longer")):
        other = Sweep(runs, "fig6_hybrids", searchers=searchers)
        gains[name] = geomean([ratio(other.value(key, "hybrid", "latency_cycle"), sweep.value(key, "hybrid", "latency_cycle"))
                               for key in speedups])
    report.set("fig6", "longer", 100 * (1 - gains["longer"]))
    report.set("fig6", "over_one", ratio(means["OVERALL"][2], ratio(means["OVERALL"][1], gains["shorter"])))


def slower(speedups):
    """How many are below 1, in words."""
    return "%d of %d" % (sum(value < 1 for value in speedups if value is not None), len(speedups))


def fig10(runs, out, report):
    sweep, speedups, means = speedup_figure(runs, out, report, "fig10", "noc_latency_cycle", 5, "NoC Sim")
    report.set("fig10", "hybrid_conv", means["deepbench_cosa"][1])
    connected = [key for key in speedups if key[1].startswith("1_1_")]
    convolutions = [key for key in speedups if key not in connected]
    report.set("fig10", "hybrid_slower", slower([speedups[key][1] for key in convolutions]))
    one = Sweep(runs, "fig10_hybrid_one")
    over_random = [ratio(sweep.value(key, "random", "noc_latency_cycle"), one.value(key, "hybrid", "noc_latency_cycle"))
                   for key in convolutions]
    report.set("fig10", "hybrid_one", geomean(over_random))
    report.set("fig10", "hybrid_one_slower", slower(over_random))
    report.set("fig10", "conv", geomean([speedups[key][2] for key in convolutions]))
    report.set("fig10", "fc", geomean([speedups[key][2] for key in connected]))
    model = Sweep(runs, "fig10_model").speedups("noc_latency_cycle", list(speedups))
    means = [geomean([model[key][e] for key in speedups]) for e in range(len(ENGINES))]
    for e, key in ((1, "model_hybrid"), (2, "model_cosa"), (3, "model_best")):
        report.set("fig10", key, means[e])
    report.set("fig10", "model_over_hybrid", ratio(means[2], means[1]))


def network_bars(sweep, column, keys_of):
    """values[engine][network..., GEOMEAN] relative to Random; `keys_of` a network are the rows that its mean is over."""
    values = []
    for engine in ENGINES:
        line = [geomean([ratio(sweep.value(key, "random", column), sweep.value(key, engine, column)) for key in keys_of(network)])
                for network in NETWORKS]
        values.append(line + [geomean(line)])
    return values


def write_networks(path, values):
    write_table(path, ["network"] + ENGINES, [[name] + [line[i] for line in values]
                                              for i, name in enumerate(list(NETWORKS) + ["GEOMEAN"])])


def fig7(runs, out, report):
    sweep = Sweep(runs, "fig7", layers=False)
    values = network_bars(sweep, "energy_j", lambda network: [network])
    write_networks(os.path.join(out, "fig7.csv"), values)
    groups = list(NETWORKS.values()) + ["GEOMEAN"]
    panel = Panel("", groups, values, 5, apart=len(groups) - 1, shown=range(len(groups)), y_title="Improvement in energy")
    paper_bars.draw(os.path.join(out, "fig7"), [panel], NAMES, width=440, rotate=0)
    for e, key in ((1, "hybrid"), (2, "cosa"), (3, "best")):
        report.set("fig7", key, values[e][-1])
    report.set("fig7", "bound", geomean([sweep.value(network, "random", "bound_energy_ratio") for network in NETWORKS]))
    report.set("fig7", "over_hybrid", ratio(values[2][-1], values[1][-1]))


def fig8(runs, out, report):
    """The terms of the objective of the mappings of Fig. 6; of the random engines' seeds the first."""
    sweep, key = Sweep(runs, "fig6"), ("resnet50_cosa", "3_7_512_512_1")
    values = []
    for engine in ENGINES:
        row = sweep.rows[key].get(engine, [{}])[0]
        terms = [number(row.get("cosa_" + term)) for term in WEIGHTS]
        if None in terms:
            raise Missing("fig6 has no terms of the objective for %s" % engine)
        util, comp, traf = [weight * term for weight, term in zip(WEIGHTS.values(), terms)]
        values.append([util, comp, traf, -util + comp + traf])
    groups = ["wU Util", "wC Comp", "wT Traf", "Total"]
    write_table(os.path.join(out, "fig8.csv"), ["engine"] + groups, [[e] + line for e, line in zip(ENGINES, values)])
    panel = Panel("", groups, values, 250, step=50, shown=range(4), y_title="Objective terms, log2")
    paper_bars.draw(os.path.join(out, "fig8"), [panel], NAMES, width=440, rotate=0)
    # Util counts negative: its lowest contribution is the highest utilization.
    lowest = [groups[i] for i in range(4) if all((values[2][i] >= line[i] - 1e-9) if i == 0 else (values[2][i] <= line[i] + 1e-9)
                                                 for line in values[:2])]
    report.set("fig8", "lowest", " ".join(lowest) or "none")
    for e, name in ((0, "random"), (1, "hybrid"), (2, "cosa")):
        report.set("fig8", "total_" + name, values[e][3])


def fig9(runs, out, report, figure, title, limit):
    sweep = Sweep(runs, figure)
    keys = [key for key in sweep.keys if key not in NOT_SHOWN]
    values = network_bars(sweep, "latency_cycle", lambda network: [key for key in keys if key[0] == network])
    speedups = sweep.speedups("latency_cycle", keys)
    for e in range(len(ENGINES)):  # over all layers, as in Fig. 6
        values[e][-1] = geomean([speedups[key][e] for key in keys])
    write_networks(os.path.join(out, figure + ".csv"), values)
    groups = list(NETWORKS.values()) + ["GEOMEAN"]
    panel = Panel(title, groups, values, limit, apart=len(groups) - 1, shown=range(len(groups)),
                  y_title="Speedup [Platform: Timeloop]")
    paper_bars.draw(os.path.join(out, figure), [panel], NAMES, width=440, rotate=0)
    for e, key in ((1, "hybrid"), (2, "cosa"), (3, "best")):
        report.set(figure, key, values[e][-1])
    report.set(figure, "bound", geomean([sweep.value(key, "random", "bound_latency_ratio") for key in keys]))
    report.set(figure, "over_hybrid", ratio(values[2][-1], values[1][-1]))


def fig1(runs, out, report):
    """Latencies of random valid mappings. The paper's axis is linear and ends in 3+; ours differ by so much more that a third of them
    would lie in that last bar."""
    rows = read_table(os.path.join(runs, "fig1.csv"))
    cycles = [number(row["latency_cycle"]) / 1e6 for row in rows]
    per_decade = 20
    low, bins = paper_histogram.count(cycles, per_decade)
    edges = [10 ** (low + i / per_decade) for i in range(len(bins) + 1)]
    write_table(os.path.join(out, "fig1.csv"), ["from_mcycle", "to_mcycle", "valid_mappings"], list(zip(edges, edges[1:], bins)))
    spread, invalid = max(cycles) / min(cycles), 1 - len(rows) / number(rows[-1]["draw"])
    paper_histogram.draw(os.path.join(out, "fig1"), [("", low, bins)], per_decade, "Latency (MCycles)", "# of valid schedules")
    report.set("fig1", "valid", len(rows))
    report.set("fig1", "spread", spread)
    report.set("fig1", "spread_middle", cycles_at(cycles, 0.95) / cycles_at(cycles, 0.05))
    report.set("fig1", "invalid", invalid)


def cycles_at(values, share):
    """The value below which this share of the values lies."""
    return sorted(values)[int(share * (len(values) - 1))]


# The axes of Figs. 3 and 4, left to right.
ORDERS = ["CKP", "CPK", "KCP", "KPC", "PCK", "PKC"]
SPATIAL = ["s:, t:P4C4K4", "s:C2, t:P4C2K4", "s:P2, t:P2C4K4", "s:K2, t:P4C4K2", "s:P2K2, t:P2C4K2", "s:P2C2, t:P2C2K4",
           "s:P2K4, t:P2C4", "s:K4, t:P4C4", "s:C2K2, t:P4C2K2", "s:P2C2K4, t:P2C2", "s:C4, t:P4K4", "s:C2K4, t:P4C2",
           "s:P2C2K2, t:P2C2K2", "s:P4, t:C4K4", "s:C4K2, t:P4K2", "s:P2C4, t:P2K4", "s:C4K4, t:P4", "s:P4K4, t:C4",
           "s:P4K2, t:C4K2", "s:P4C2, t:C2K4", "s:P4C4, t:K4", "s:P4C2K2, t:C2K2", "s:P2C4K2, t:P2K2"]


def given_mappings(runs, out, figure, names):
    """Figs. 3 and 4: one bar per written mapping, in Timeloop's model and in the NoC simulator: {platform: {name: cycles}}."""
    rows = [row for row in read_table(os.path.join(runs, figure + ".layers.csv")) if row["status"] == "ok"]
    without = set(names) - {row["constraints"] for row in rows}
    if without:
        raise Missing("%s: no mapping for %s" % (figure, "; ".join(sorted(without))))
    cycles = {"Timeloop's model": {row["constraints"]: number(row["latency_cycle"]) for row in rows},
              "NoC simulator": {row["constraints"]: number(row.get("noc_latency_cycle")) for row in rows}}
    write_table(os.path.join(out, figure + ".csv"), ["mapping", "latency_cycle", "noc_latency_cycle"],
                [[name] + [cycles[platform][name] for platform in cycles] for name in names])
    return {platform: values for platform, values in cycles.items() if None not in values.values()}


def draw_mappings(out, figure, names, cycles, limit, step, width, x_title):
    values = [[cycle[name] / 1e6 for name in names] for cycle in cycles.values()]
    panel = Panel("", names, values, limit, step=step, y_title="Latency (MCycles)")
    paper_bars.draw(os.path.join(out, figure), [panel], list(cycles), width=width, rotate=90 if len(names) > 6 else 0,
                    x_title=x_title, colours=paper_bars.OTHER_COLOURS)


def fig3(runs, out, report):
    names, cycles = ORDERS, given_mappings(runs, out, "fig3", ORDERS)
    draw_mappings(out, "fig3", names, cycles, 0.4, 0.1, 340, "Loops at the global buffer, innermost first")
    timeloop, noc = cycles["Timeloop's model"], cycles.get("NoC simulator")
    report.set("fig3", "spread", max(timeloop.values()) / min(timeloop.values()))
    if noc:
        report.set("fig3", "spread_noc", max(noc.values()) / min(noc.values()))
    report.set("fig3", "best", " ".join(sorted(sorted(names, key=(noc or timeloop).get)[:2])))


def fig4(runs, out, report):
    names, cycles = SPATIAL, given_mappings(runs, out, "fig4", SPATIAL)
    draw_mappings(out, "fig4", names, cycles, 1.8, 0.2, 560, "s: shared among 16 PEs, t: loops at the global buffer")
    timeloop, noc = cycles["Timeloop's model"], cycles.get("NoC simulator")
    report.set("fig4", "spread", max(timeloop.values()) / min(timeloop.values()))
    report.set("fig4", "worst", max(names, key=timeloop.get))
    if noc:
        report.set("fig4", "spread_noc", max(noc.values()) / min(noc.values()))
        report.set("fig4", "best", min(names, key=noc.get))


def table6(runs, out, report):
    """Time to solution, from the searches of Fig. 6."""
    sweep = Sweep(runs, "fig6")
    keys = [key for key in sweep.keys if key not in NOT_SHOWN]
    columns = {"seconds": "seconds", "samples": "draws", "evaluations": "evaluations"}
    values = {what: {engine: sweep.mean(keys, engine, column) for engine in ENGINES} for what, column in columns.items()}
    write_table(os.path.join(out, "table6.csv"), ["per layer"] + ENGINES, [[what] + list(values[what].values()) for what in columns])
    for what in columns:
        for engine in ENGINES[:3]:
            report.set("table6", "%s_%s" % (what, engine), values[what][engine])
    report.set("table6", "seconds_best", values["seconds"]["cosa-best"])
    report.set("table6", "faster_random", ratio(values["seconds"]["random"], values["seconds"]["cosa"]))
    report.set("table6", "faster_hybrid", ratio(values["seconds"]["hybrid"], values["seconds"]["cosa"]))
    many = Sweep(runs, "table6_random", engine="random")
    report.set("table6", "seconds_20k", many.mean(keys, "random", "seconds"))
    report.set("table6", "evaluations_20k", many.mean(keys, "random", "evaluations"))
    cycles = {layer: many.value(layer, "random", "latency_cycle") for layer in keys}
    report.set("table6", "gain_20k", geomean([ratio(sweep.value(layer, "random", "latency_cycle"), cycles[layer]) for layer in keys]))
    report.set("table6", "cosa_over_20k", geomean([ratio(cycles[layer], sweep.value(layer, "cosa", "latency_cycle")) for layer in keys]))


# A thread block of the K80 (section V-D): threads, largest block, bytes of shared memory and of registers.
BLOCK_THREADS, BLOCK_LIMIT, SHARED_BYTE, REGISTER_BYTE = 1024, (1024, 1024, 64), 48 * 1024, 64 * 1024


def fig11(runs, out, report):
    """Schedules for the K80 only: what part of a thread block's limits each layer's launch uses."""
    rows = [row for row in read_table(os.path.join(runs, "fig11_launches.csv"))
            if ("resnet50_cosa", row["layer"]) not in NOT_SHOWN]
    used = [[number(row["threads"]) / BLOCK_THREADS for row in rows], [number(row["shared_byte"]) / SHARED_BYTE for row in rows],
            [number(row["register_byte_per_block"]) / REGISTER_BYTE for row in rows]]
    write_table(os.path.join(out, "fig11.csv"), list(rows[0]), [list(row.values()) for row in rows])
    panel = Panel("ResNet-50", [row["layer"] for row in rows], [[100 * share for share in line] for line in used], 100, step=20,
                  y_title="Used of a thread block's limit (%)")
    paper_bars.draw(os.path.join(out, "fig11"), [panel], ["threads of 1024", "shared memory of 48 KiB", "registers of 64 KiB"],
                    width=640, colours=paper_bars.OTHER_COLOURS)
    fits = [all(number(row["block_" + axis]) <= limit for axis, limit in zip("xyz", BLOCK_LIMIT)) and
            all(line[i] <= 1 for line in used) for i, row in enumerate(rows)]
    report.set("fig11", "valid", "%d of %d" % (sum(fits), len(rows)))
    seconds = [number(row["seconds"]) for row in read_table(os.path.join(runs, "fig11.layers.csv"))]
    report.set("fig11", "seconds", sum(seconds) / len(seconds))
    report.set("fig11", "faster", 50 * len(seconds) / sum(seconds))


FIGURES = {
    "fig1": fig1, "fig3": fig3, "fig4": fig4, "table6": table6, "fig6": fig6, "fig7": fig7, "fig8": fig8,
    "fig9a": lambda runs, out, report: fig9(runs, out, report, "fig9a", "8x8 PEs", 6),
    "fig9b": lambda runs, out, report: fig9(runs, out, report, "fig9b", "Larger buffers", 10),
    "fig10": fig10, "fig11": fig11,
}


if __name__ == "__main__":
    sys.exit(paper_tools.main(FIGURES, __doc__.split("\n\n")[1], sys.argv[1:]))
