#!/usr/bin/env python3
"""The figures of Interstellar (Yang et al., ASPLOS 2020) from the sweeps of experiments/interstellar.

usage: paper_interstellar.py EXPERIMENTS OUT    (scripts/run-figures calls it; EXPERIMENTS is experiments/interstellar, the sweeps lie in
                                                OUT/runs)

Writes OUT/figN.csv, .png and .gp, OUT/report.csv and .md, and prints the report. Energies are in J and include the MACs, as in the paper,
unless a name says otherwise.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import interstellar_blockings
import interstellar_checks
import interstellar_dataflows
import interstellar_networks
import paper_lines
import paper_stacks
import paper_tools
from interstellar_points import ALEXNET, CONV, best, cells, saved, size, total, totals
from paper_lines import Line
from paper_tools import ratio, write_table

# From the MACs outwards; Okabe and Ito's colours.
PARTS = ["RF", "array", "SRAM", "DRAM", "MAC"]
PART_COLOURS = ["#e69f00", "#cc79a7", "#56b4e9", "#0072b2", "#999999"]
LINE_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7"]
TABLES = [("interstellar-shifted", "files", "costs of the authors' files"), ("interstellar", "table3", "costs of Table 3")]


def digits(values, form):
    """Numbers in a row, as a report shows them; None when one is missing."""
    return None if None in values else " ".join(form % value for value in values)


def every_dataflow(colours):
    """Lines of the proven optimum over all dataflows, each of the colour of its C|K."""
    return [Line("dotted: best of all dataflows, sounder counts" if i + 1 == len(colours) else "", colour, True) for i, colour in enumerate(colours)]


def table3(runs, out, report):
    """What an access costs on the machines of Fig. 12, by the energies and accesses of the layers priced on them."""
    cost = {}
    for (table, rf, sram), layers in cells(runs, "fig12", ["SRAM.energy_rule.table", "RF.capacity_byte", "SRAM.capacity_byte"]).items():
        for layer in layers.values():
            cost["RF", rf] = per_access(layer, "RF")
            cost[table, sram] = per_access(layer, "SRAM")
            cost["DRAM", ""] = per_access(layer, "DRAM")
            cost["MAC", ""] = 1e12 * layer.get("energy_mac_j") / layer.get("n_mac")
    found = {kind: [(place, pj) for (k, place), pj in sorted(cost.items(), key=lambda item: float(item[0][1] or 0)) if k == kind]
             for kind in ("RF", "interstellar", "interstellar-shifted", "DRAM", "MAC")}
    write_table(os.path.join(out, "table3.csv"), ["memory", "capacity", "pj_per_access"],
                [[kind, place and size(place), pj] for kind, row in found.items() for place, pj in row])
    for kind, key in (("RF", "rf"), ("interstellar", "sram"), ("interstellar-shifted", "shifted"), ("DRAM", "dram"), ("MAC", "mac")):
        report.set("table3", key, " ".join("%.6g" % pj for _, pj in found[kind]))


def per_access(layer, level):
    """pJ of an access, 9 digits: what is lost in sums."""
    return float("%.9g" % (1e12 * layer.get(level + ".energy_j") / layer.accesses(level)))


FIG11 = [("eyeriss512", "512"), ("rf64", "64")]
RULES = [("interstellar-compat", "the authors' counts (all dataflows: one loop a side)"), ("interstellar", "sounder counts")]


def fig11(runs, out, report):
    """Energy of AlexNet's layers by level: C|K, and the proven optimum over all dataflows, for both register files and both ways to count."""
    keys = ["architecture", "accounting_chosen"]
    schemes = [("C|K", cells(runs, "fig11", keys)), ("all dataflows", cells(runs, "fig11_all", keys))]
    panels, rows = [], []
    for rule, title in RULES:
        bars = []
        for machine, rf in FIG11:
            for scheme, found in schemes:
                layers = found[machine, rule]
                bars.append([[1e3 * layers[name].parts()[part] for part in PARTS] if name in layers else None for name in ALEXNET])
                rows += [[rule, int(rf), scheme, name] + [1e3 * layers[name].parts()[part] for part in PARTS] +
                         [layers[name].row["mapping"]] for name in ALEXNET if name in layers]
        panels.append(paper_stacks.Panel("energy (mJ)", bars, 20, 4, title=title))
    write_table(os.path.join(out, "fig11.csv"), ["accounting", "rf_byte", "dataflows", "layer"] +
                [part.lower() + "_mj" for part in PARTS] + ["mapping"], rows)
    paper_stacks.draw(os.path.join(out, "fig11"), panels, [[("AlexNet, batch 16", name) for name in ALEXNET]] * 2, PARTS, PART_COLOURS,
                      note="of each four 512 B: C|K, best of all dataflows; 64 B: C|K, best of all", by_part=True)
    fig11_rows(dict(schemes), report)


def fig11_rows(schemes, report):
    layers = {rf: schemes["C|K"][machine, "interstellar-compat"] for machine, rf in FIG11}
    for rf, of in layers.items():
        for name in ALEXNET[:7]:
            report.set("fig11", "%s_%s" % (name.lower(), rf), 1e12 * of[name].without_macs if name in of else None)
    shares = {hops: [layers["512"][name].rf_share(hops) for name in CONV] for hops in (False, True)}
    report.set("fig11", "accesses", digits(shares[False], "%.4f"))
    report.set("fig11", "accesses_hops", digits(shares[True], "%.3f"))
    report.set("fig11", "accesses_mean", 100 * sum(shares[True]) / len(CONV))
    # The shares of FIGURES leave out the MACs.
    report.set("fig11", "rf_energy", digits([layers["512"][name].parts()["RF"] / layers["512"][name].without_macs for name in CONV], "%.3f"))
    report.set("fig11", "dram_change", max(abs(saved(*(layers[rf][name].parts()["DRAM"] for rf in ("512", "64")))) for name in CONV))
    for machine, rf in FIG11:
        for rule, key in (("interstellar-compat", "all"), ("interstellar", "sound")):
            pair = [schemes[scheme][machine, rule] for scheme in ("C|K", "all dataflows")]
            report.set("fig11", "%s_%s" % (key, rf), digits([saved(*(of[name].energy for of in pair)) for name in ALEXNET[:7]], "%.1f"))
        report.set("fig11", "conv1_sound_" + rf, 1e12 * schemes["C|K"][machine, "interstellar"]["CONV1"].without_macs)


GRID = ["SRAM.energy_rule.table", "RF.capacity_byte", "SRAM.capacity_byte"]
WHAT = [("", "all layers", tuple(ALEXNET)), ("_conv", "CONV layers", tuple(CONV))]


def fig12(runs, out, report):
    """Energy of AlexNet over register file and buffer, for two tables of costs, all layers and CONV alone."""
    found, every = cells(runs, "fig12", GRID), cells(runs, "fig12_all", GRID)
    rfs, srams = ([str(n) for n in sorted({int(key[i]) for key in every})] for i in (1, 2))
    panels, rows = [], []
    for row, (table, key, title) in enumerate(TABLES):
        for column, (suffix, layers, names) in enumerate(WHAT):
            ck, best_of_all = totals(found, names), totals(every, names)
            values = [[sums.get((table, rf, sram)) for rf in rfs] for sums in (ck, best_of_all) for sram in srams]
            panels.append(paper_lines.Panel("%s, %s" % (title, layers), [size(rf) for rf in rfs],
                                            [[v and 1e3 * v for v in line] for line in values], 0, 100 if suffix == "" else 70, row, column,
                                            "register file per PE", "energy (mJ)"))
            rows += [[table, layers, int(rf), int(sram)] + [sums.get((table, rf, sram)) for sums in (ck, best_of_all)]
                     for sram in srams for rf in rfs]
            fig12_rows(report, key + suffix, {k[1:]: v for k, v in ck.items() if k[0] == table},
                       {k[1:]: v for k, v in best_of_all.items() if k[0] == table})
    write_table(os.path.join(out, "fig12.csv"), ["costs", "layers", "rf_byte", "sram_byte", "ck_j", "all_dataflows_j"], rows)
    paper_lines.draw(os.path.join(out, "fig12"), panels,
                     [Line("%s SRAM" % size(sram), colour) for sram, colour in zip(srams, LINE_COLOURS)] +
                     every_dataflow(LINE_COLOURS[:len(srams)]))


def fig12_rows(report, key, ck, every):
    """The best sizes, what the best register file gains over 512 B at one buffer, and what 512 KB give over 256 KB."""
    for name, sums in (("", ck), ("_all", every)):
        place, energy = best(sums)
        report.set("fig12", key + name, 1e12 * energy)
        report.set("fig12", key + "_place" + name, "%s / %s" % tuple(map(size, place)))
    gains = {sram: ratio(ck.get(("512", sram)), best(ck, lambda k, at=sram: k[1] == at)[1]) for _, sram in ck}
    report.set("fig12", key + "_gain", max(gain for gain in gains.values() if gain))
    report.set("fig12", key + "_512kb", saved(*(best(ck, lambda k, at=sram: k[1] == at)[1] for sram in ("262144", "524288"))))
    report.set("fig12", key + "_rule", "yes" if best(ck)[0] in [place for place in ck if by_rule([int(n) for n in place], 256)] else "no")


def by_rule(capacities, instances):
    """Whether the sizes of neighbouring levels, capacity times copies, are 4 to 16 apart (section 6.3); only the outermost is there once."""
    sizes = [byte * instances for byte in capacities[:-1]] + capacities[-1:]
    return all(4 <= b / a <= 16 for a, b in zip(sizes, sizes[1:]))


def sec62(runs, out, report):
    """Two register files in each PE against the best single one of Fig. 12."""
    found, every = (cells(runs, name, ["RF1.capacity_byte", "RF2.capacity_byte"]) for name in ("sec62", "sec62_all"))
    one = {suffix: best(totals(cells(runs, "fig12", GRID), names), lambda key: key[0] == TABLES[0][0])[1] for suffix, _, names in WHAT}
    panels, rows = [], []
    first, second = ([str(n) for n in sorted({int(key[i]) for key in every})] for i in (0, 1))
    for column, (suffix, layers, names) in enumerate(WHAT):
        ck, best_of_all = totals(found, names), totals(every, names)
        values = [[sums.get((a, b)) for b in second] for sums in (ck, best_of_all) for a in first] + [[one[suffix]] * len(second)]
        panels.append(paper_lines.Panel(layers, [size(b) for b in second], [[v and 1e3 * v for v in line] for line in values], 0,
                                        50 if suffix == "" else 30, 0, column, "second register file per PE", "energy (mJ)"))
        rows += [[layers, int(a), int(b)] + [sums.get((a, b)) for sums in (ck, best_of_all)] for a in first for b in second]
        place, energy = best(ck)
        report.set("sec62", "best" + suffix, 1e12 * energy)
        report.set("sec62", "place" + suffix, "%s + %s" % tuple(map(size, place)))
        report.set("sec62", "gain" + suffix, saved(one[suffix], energy))
        report.set("sec62", "gain_all" + suffix, saved(one[suffix], best(best_of_all)[1]))
        for b in ("128", "256"):
            if suffix == "":
                report.set("sec62", "rf16_" + b, 1e12 * ck["16", b] if ("16", b) in ck else None)
        report.set("sec62", "rule" + suffix, "yes" if by_rule([int(n) for n in place] + [256 << 10], 256) else "no")
    write_table(os.path.join(out, "sec62.csv"), ["layers", "rf1_byte", "rf2_byte", "ck_j", "all_dataflows_j"], rows)
    paper_lines.draw(os.path.join(out, "sec62"), panels,
                     [Line("%s first" % size(a), colour) for a, colour in zip(first, LINE_COLOURS)] +
                     every_dataflow(LINE_COLOURS[:len(first)]) +
                     [Line("best single register file", "#777777")])


def fig13(runs, out, report):
    """The best sizes for four arrays, and their energy."""
    keys = ["PE.mesh", "RF.capacity_byte", "SRAM.capacity_byte"]
    both = [totals(cells(runs, name, keys)) for name in ("fig13", "fig13_all")]
    meshes = sorted({key[0] for key in both[1]}, key=lambda mesh: int(mesh.split("x")[0]))
    picked = [[best(sums, lambda key, at=mesh: key[0] == at) for mesh in meshes] for sums in both]
    for mesh, (place, energy), (place_all, energy_all) in zip(meshes, *picked):
        for name, at, value in (("", place, energy), ("_all", place_all, energy_all)):
            report.set("fig13", mesh + name, value and 1e12 * value)
            report.set("fig13", mesh + "_place" + name, at and "%s / %s" % (size(at[1]), size(at[2])))
    write_table(os.path.join(out, "fig13.csv"), ["dataflows", "array", "rf_byte", "sram_byte", "energy_j"],
                [[name] + list(place) + [energy] for name, line in zip(("C|K", "all"), picked) for place, energy in line if place])
    per_pe, rf, sram = ([[place and of(place) for place, _ in line] for line in picked] for of in (
        lambda p: float(p[1]), lambda p: float(p[1]) * int(p[0].split("x")[0]) ** 2, lambda p: float(p[2])))
    sizes = [line[i] for i in (0, 1) for line in (per_pe, rf, sram)]
    energies = [[v and 1e3 * v for _, v in line] for line in picked]
    paper_lines.draw(os.path.join(out, "fig13"), [
        paper_lines.Panel("best sizes", meshes, sizes, 8, 2 << 20, 0, 0, "array", "size", log=True,
                          y_ticks=[(4 ** i, size(4 ** i)) for i in range(2, 11)]),
        paper_lines.Panel("energy", meshes, [[]] * 6 + energies, 0, 50, 0, 1, "array", "energy (mJ)")],
                     [Line(name, colour) for name, colour in zip(("register file", "all register files", "SRAM"), LINE_COLOURS)] +
                     every_dataflow(LINE_COLOURS[:3]) + [Line("energy", LINE_COLOURS[3]), Line("", LINE_COLOURS[3], True)])


def fig14(runs, out, report):
    interstellar_networks.fig14(report.folder, runs, out, report)


def fig10(runs, out, report):
    interstellar_blockings.fig10(report.folder, runs, out, report)


FIGURES = {"table1": interstellar_dataflows.table1, "table2": interstellar_dataflows.table2, "table3": table3,
           "fig3": interstellar_checks.fig3, "fig7": interstellar_checks.fig7, "fig8": interstellar_dataflows.fig8, "fig9": interstellar_dataflows.fig9, "fig10": fig10, "fig11": fig11, "fig12": fig12, "sec62": sec62, "fig13": fig13, "fig14": fig14,
           "prune": interstellar_checks.prune, "observation2": interstellar_checks.observation2}

if __name__ == "__main__":
    sys.exit(paper_tools.main(FIGURES, __doc__, sys.argv[1:]))
