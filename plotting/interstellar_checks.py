"""Figs. 3 and 7, the half-full rule and Observation 2 of Interstellar: what its model says of single layers."""
import os

import paper_stacks
from interstellar_points import CONV, cells, saved
from paper_tools import Missing, number, read_table, write_table

PARTS = ["RF", "array", "SRAM", "DRAM", "MAC"]
PART_COLOURS = ["#e69f00", "#cc79a7", "#56b4e9", "#0072b2", "#999999"]  # as in Fig. 11
DESIGNS = ["os4", "os8", "ws16"]
LAYERS = ["CONV2", "CONV3", "CONV5"]


def fig3(runs, out, report):
    """A hop between copies against one between neighbours."""
    rows = read_table(os.path.join(runs, "fig3.csv"))
    hop = {row["group"]: number(row["hop_pJ"]) for row in rows}
    if not {"near", "far1"} <= set(hop):
        raise Missing("fig3.csv has no hops between neighbours and copies")
    write_table(os.path.join(out, "fig3.csv"), ["group", "dataspace", "hops_per_element", "hop_pj", "energy_pj"],
                [[row["group"], row["dataspace"]] + [number(row[c]) for c in ("hops_per_element", "hop_pJ", "energy_pJ")] for row in rows])
    report.set("fig3", "near", hop["near"])
    report.set("fig3", "far", hop["far1"] / hop["near"])


def fig7(runs, out, report):
    """The model's side of (a): three designs on layers of AlexNet; (b): row stationary by the ratios of Eyeriss."""
    designs = [cells(runs, name, ["architecture"]) for name in ("fig7", "fig7_all")]
    eyeriss = [merged(cells(runs, name, ["network"]) if name == "fig7b" else cells(runs, name, ["status"])) for name in ("fig7b", "fig7b_all")]
    names = [(design, layer) for design in DESIGNS for layer in LAYERS]
    of_b = CONV + ["FC1", "FC2"]
    bars = [[parts(found[design].get(layer)) for design, layer in names] for found in designs]
    bars_b = [[parts(found.get(layer)) for layer in of_b] for found in eyeriss]
    write_table(os.path.join(out, "fig7.csv"), ["panel", "design", "layer", "dataflows"] + [part.lower() + "_mj" for part in PARTS],
                [["a", design, layer, kind] + bar for kind, line in zip(("schedule", "all"), bars) for (design, layer), bar in zip(names, line) if bar] +
                [["b", "eyeriss_ratios", layer, kind] + bar for kind, line in zip(("schedule", "all"), bars_b) for layer, bar in zip(of_b, line) if bar])
    paper_stacks.draw(os.path.join(out, "fig7"), [
        paper_stacks.Panel("energy (mJ)", bars, 10, 2, title="(a) three designs, the model's side"),
        paper_stacks.Panel("energy (MACs x 1e9)", bars_b, 25, 5, title="(b) row stationary, the ratios of Eyeriss")],
                      [[(design.upper(), layer) for design, layer in names], [("AlexNet, batch 16", layer) for layer in of_b]],
                      PARTS, PART_COLOURS, note="left the figure's dataflow, right the best of all (sounder counts)", by_part=True)
    for design, layer in names:
        at = designs[0][design].get(layer)
        report.set("fig7", "%s_%s" % (design, layer.lower()), at and 1e12 * at.without_macs)
    report.set("fig7", "shares", " ".join("%.2f" % (bar[0] / sum(bar)) for bar in bars_b[0] if bar))
    report.set("fig7", "all", " ".join("%.1f" % saved(sum(a), sum(b)) for a, b in zip(*bars_b) if a and b))


def merged(found):
    """The layers of all cells together."""
    return {name: layer for layers in found.values() for name, layer in layers.items()}


def parts(layer):
    """The energies of a bar in mJ, None without a mapping."""
    return [1e3 * layer.parts()[part] for part in PARTS] if layer else None


def prune(runs, out, report):
    """What the half-full rule loses, and the share of the blockings that it keeps: three machines, nine layers."""
    found = {}
    for name in ("prune", "prune_opt4"):
        found.update(cells(runs, name, ["architecture", "SRAM.min_utilization", "network"]))
    rows = []
    for (machine, rule, network), layers in found.items():
        free = found.get((machine, "0", network), {})
        rows += [[machine, network, name, layer.without_macs, free[name].without_macs, int(layer.row["evaluations"]), int(free[name].row["evaluations"])]
                 for name, layer in layers.items() if rule != "0" and name in free]
    lost = {(machine, network, name): 100 * (kept / free - 1) for machine, network, name, kept, free, *_ in rows}
    spared = [free / kept for *_, kept, free in rows]
    points = {(machine, name): kept_and_free for machine, _, name, _, _, *kept_and_free in rows}.get(("eyeriss512", "CONV3"), [None, None])
    write_table(os.path.join(out, "prune.csv"), ["architecture", "network", "layer", "half_full_j", "free_j", "half_full_points", "free_points"], rows)
    report.set("prune", "cases", "%d of %d" % (sum(value < 1e-6 for value in lost.values()), len(lost)))
    report.set("prune", "alexnet", max(value for (_, network, _), value in lost.items() if network.startswith("alexnet")))
    report.set("prune", "lstm_l", lost.get(("opt4", "lstm_l", "GATE")))
    report.set("prune", "kept", "%.1f to %.0f" % (min(spared), max(spared)))
    report.set("prune", "points", points[0])
    report.set("prune", "points_free", points[1])


def observation2(runs, out, report):
    """No level dominates an efficient design: 16 B + 128 B + 256 KB, CONV3 by C|K."""
    layer = cells(runs, "prune_opt4", ["SRAM.min_utilization", "network"]).get(("0.5", "alexnet_conv3_to_fc2"), {}).get("CONV3")
    if not layer:
        raise Missing("prune_opt4 has no mapping of CONV3")
    shares = {part: joule / layer.without_macs for part, joule in layer.parts().items() if part != "MAC"}
    write_table(os.path.join(out, "observation2.csv"), ["part", "share"], [list(pair) for pair in shares.items()])
    report.set("observation2", "shares", " ".join("%.3f" % shares[part] for part in ("RF1", "RF2", "SRAM", "DRAM")))
    report.set("observation2", "most", max(shares.values()))
