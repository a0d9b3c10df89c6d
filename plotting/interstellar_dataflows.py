"""Figs. 8 and 9 and Tables 1 and 2 of Interstellar: the best mapping of every dataflow."""
import os
import re

import paper_bars
import paper_lines
from paper_lines import Line
from paper_tools import Missing, number, read_table, write_table

PANELS = [("conv3_16", "(a) AlexNet CONV3, batch 16"), ("conv3_1", "(b) AlexNet CONV3, batch 1"),
          ("4c3r_16", "(c) GoogLeNet 4C3R, batch 16"), ("4c3r_1", "(d) GoogLeNet 4C3R, batch 1")]
SERIES = [("blue", "512 B register file", "#0072b2", "eyeriss512_u75"), ("red", "the same, broadcast bus", "#d55e00", "bcast512"),
          ("green", "64 B register file", "#009e73", "rf64_u75")]
NETWORKS = {"conv3": "alexnet_batch1", "4c3r": "googlenet_batch1"}
# Named in the figures: what the paper's text and Table 1 name, either side first.
WIDE, WIDE_9 = 400, 850  # of a panel of Figs. 8 and 9, in points
LABELLED = ["C|K", "X|Y", "FX|FY", "FY|Y", "C|B", "K|B", "Y|C", "Y|K", "X|C", "X|K"]


def dataflows(runs, name):
    """{dataflow: row} of one run, as the program orders them."""
    return {row["dataflow"]: row for row in read_table(os.path.join(runs, name + ".csv")) if row["layer"] != "total" and row["status"] == "ok"}


def same(a, b):
    """Whether two dataflows differ in the sides' order alone."""
    return a == b or a == "|".join(reversed(b.split("|")))


def labels(names, wide):
    """What stands below each of the dataflows over `wide` points: all names where there is room; else those of LABELLED, and where two would touch
    each other both below the first."""
    step = wide / len(names)
    if step >= 8:
        return list(names)
    shown, last = [], -len(names)
    for i, name in enumerate(names):
        shown.append("")
        if not any(same(name, one) for one in LABELLED):
            continue
        if (i - last) * step < 7:
            shown[last] += "  " + name
        else:
            last = i
            shown[i] = name
    return shown


def replicated(names):
    """What a panel's title says of its dataflows."""
    return "with replication" if any(re.search(r"[A-Z]\w*[A-Z]", re.sub("F[XY]", "F", side)) for name in names for side in name.split("|")) \
        else "without replication"


def fig8(runs, out, report):
    """Energy of every dataflow on three machines, by that of the first; dotted the proven optimum, with no threshold and nothing half full."""
    optimum = {(row["architecture"], row["network"], row["batch"]): number(row["energy_j"])
               for row in read_table(os.path.join(runs, "fig8_all.csv")) if row["status"] == "ok"}
    panels, rows = [], []
    for place, (key, title) in enumerate(PANELS):
        layer, batch = key.split("_")
        found = [dataflows(runs, "fig8_%s_%s" % (key, series)) for series, *_ in SERIES]
        if not all(found):
            raise Missing("fig8_%s has no dataflow" % key)
        names = sorted(found[0], key=lambda name, of=found[0]: number(of[name]["energy_j"]))
        proved = [optimum.get((machine, NETWORKS[layer], batch)) for *_, machine in SERIES]
        values = [[1e3 * number(of[name]["energy_j"]) if name in of else None for name in names] for of in found]
        values += [[value and 1e3 * value] * len(names) for value in proved]
        most = max(v for line in values for v in line if v)
        panels.append(paper_lines.Panel(title, labels(names, WIDE), values, 0, 1.1 * most, place // 2, place % 2, "", "energy (mJ)"))
        for (series, *_), of, value in zip(SERIES, found, proved):
            energies = [number(row["energy_no_mac_pJ"]) for row in of.values()]
            with_macs = min(number(row["energy_j"]) for row in of.values())
            report.set("fig8", "%s_%s" % (key, series), min(energies))
            rows += [[layer, batch, series, name, row["dataflow_key"], number(row["energy_j"]), number(row["utilization"])] for name, row in of.items()]
            report.set("fig8", "%s_%s_all" % (key, series), value and 100 * (1 - value / with_macs))
        fig8_rows(report, key, [{name: number(row["energy_no_mac_pJ"]) for name, row in of.items()} for of in found])
    write_table(os.path.join(out, "fig8.csv"), ["layer", "batch", "machine", "dataflow", "key", "energy_j", "utilization"], rows)
    paper_lines.draw(os.path.join(out, "fig8"), panels, [Line(name, colour) for _, name, colour, _ in SERIES] +
                     [Line("dotted: best of all dataflows, sounder counts" if i == 2 else "", colour, True) for i, (_, _, colour, _) in enumerate(SERIES)],
                     wide=WIDE, rotate=90, point_size=0.25)


def fig8_rows(report, key, found):
    """How alike the dataflows of a panel are, on each machine."""
    lines = [list(of.values()) for of in found]
    report.set("fig8", key + "_keys", " ".join("%d" % len(line) for line in lines))
    report.set("fig8", key + "_spread", " ".join("%.3f" % (max(line) / min(line)) for line in lines))
    for name, factor in (("_105", 1.05), ("_125", 1.25)):
        report.set("fig8", key + name, " ".join("%.2f" % within(line, factor) for line in lines))
    report.set("fig8", key + "_ck", " ".join("%.4g" % of["C|K"] if "C|K" in of else "-" for of in found))


def within(energies, factor):
    """The share of energies that are at most so many times the least."""
    most = factor * min(energies)
    return sum(value <= most for value in energies) / len(energies)


FIG9 = [("fig9_a", "a", "(a) CONV3"), ("fig8_conv3_16_blue", "b", "(b) CONV3"), ("fig8_4c3r_16_blue", "c", "(c) 4C3R")]


def fig9(runs, out, report):
    """Utilisation at the least energy of each dataflow."""
    panels, rows, means = [], [], {}
    proved = {row["network"]: number(row["utilization"]) for row in read_table(os.path.join(runs, "fig8_all.csv"))
              if row["architecture"] == "eyeriss512_u75" and row["batch"] == "16" and row["status"] == "ok"}
    for row, (name, key, title) in enumerate(FIG9):
        used = {dataflow: number(line["utilization"]) for dataflow, line in dataflows(runs, name).items()}
        if not used:
            raise Missing("%s has no dataflow" % name)
        panels.append(paper_bars.Panel("%s %s" % (title, replicated(used)), labels(list(used), WIDE_9) + ["best of all"],
                                       [list(used.values()) + [proved.get(NETWORKS["4c3r" if key == "c" else "conv3"])]], 1.0, 0.2, row=row,
                                       apart=len(used)))
        rows += [[key, flow, value] for flow, value in used.items()]
        means[key] = sum(used.values()) / len(used)
        for what, value in (("keys", len(used)), ("least", min(used.values())), ("most", max(used.values())), ("mean", means[key])):
            report.set("fig9", "%s_%s" % (key, what), value)
        if key == "a":
            report.set("fig9", "a_ck", next(value for flow, value in used.items() if same(flow, "C|K")))
            report.set("fig9", "a_fyy", next(value for flow, value in used.items() if same(flow, "FY|Y")))
    report.set("fig9", "b_over_a", means["b"] / means["a"])
    old = {flow: number(line["utilization"]) for flow, line in dataflows(runs, "fig9_2018").items()}
    shared = [value for flow, value in old.items() if re.fullmatch(r"FY[CKB]\|Y|Y\|FY[CKB]", flow)]
    report.set("fig9", "old_keys", len(old))
    report.set("fig9", "old_ck", old.get("C|K"))
    report.set("fig9", "old_fyy", max(shared) if shared else None)
    report.set("fig9", "old_ratio", old["C|K"] / max(shared) if shared and "C|K" in old else None)
    write_table(os.path.join(out, "fig9.csv"), ["panel", "dataflow", "utilization"], rows)
    paper_bars.draw(os.path.join(out, "fig9"), panels, ["active PEs / PEs, at the least energy of the dataflow"], width=900,
                    colours=("#0072b2",))


def table1(runs, out, report):
    """The dataflows that the paper names are found by their names, and as many as it counts."""
    found = dataflows(runs, "fig9_a")
    report.set("table1", "names", " ".join(name for name in ("X|Y", "FX|FY", "FY|Y", "C|K") if any(same(name, flow) for flow in found)))
    for key, name in (("conv", "fig9_a"), ("fc", "fig9_fc"), ("conv1x1", "fig9_4c3r")):
        report.set("table1", key, len(dataflows(runs, name)))
    write_table(os.path.join(out, "table1.csv"), ["dataflow", "key"], [[flow, row["dataflow_key"]] for flow, row in found.items()])


def table2(runs, out, report):
    """The primitives that a printed schedule uses."""
    path = os.path.join(runs, "table2.txt")
    if not os.path.exists(path):
        raise Missing("no schedule in %s" % path)
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"\.(\w+)\(", re.sub(r"//.*", "", file.read()))
    dimensions = [("blocking", ["split", "reorder"]), ("resources", ["in", "compute_at", "compute_root"]),
                  ("dataflow", ["unroll", "systolic", "accelerate"])]
    known = [name for _, names in dimensions for name in names]
    rows = [[dimension, name, found.count(name)] for dimension, names in dimensions for name in names]
    write_table(os.path.join(out, "table2.csv"), ["dimension", "primitive", "uses"], rows)
    report.set("table2", "used", " ".join(name for name in known if name in found))
    report.set("table2", "others", " ".join(sorted(set(found) - set(known) - {"update"})) or "none")
