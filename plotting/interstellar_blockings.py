"""Fig. 10 of Interstellar: the energy of every blocking of AlexNet CONV3 by C|K, all that fit, and those that fill the memories to half. The blockings
are listed here and priced by `dse eval`, each with the best loop orders."""
import itertools
import math
import os
import subprocess

import paper_histogram
from interstellar_dataflows import within as share_within
from paper_tools import Missing, number, read_table, write_table

BOUND = {"FX": 3, "FY": 3, "OX": 13, "OY": 13, "OC": 384, "IC": 256, "ON": 16}
SIDE, RF_WORDS, SRAM_WORDS = 16, 256, 65536
MAC_PJ = 0.075 * math.prod(BOUND.values())
# A level is best when the reuse loops of one tensor are innermost (outputs, inputs, weights), so one of three orders is enough.
ORDERS = [["FX", "FY", "IC", "OC", "OX", "OY", "ON"], ["FX", "FY", "OC", "IC", "OX", "OY", "ON"], ["OX", "OY", "ON", "FX", "FY", "OC", "IC"]]
# Levels are priced apart: the first order everywhere, the others at one level each.
CHOICES = [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def splits(name):
    """(temporal factors of the three levels, extents of the tiles of two) of a loop. C and K have 16 iterations side by side, and any divisor
    of the bound from 16 on may be the tile, whose last iterations then do nothing."""
    bound, out = BOUND[name], []
    for tile in divisors(bound):
        if name in ("IC", "OC") and tile < SIDE:
            continue
        inner = -(-tile // SIDE) if name in ("IC", "OC") else tile
        out += [((inner, middle, bound // tile // middle), (tile, tile * middle)) for middle in divisors(bound // tile)]
    return out


def words(e):
    """Inputs, outputs and weights of a tile together."""
    return ((e["FX"] + e["OX"] - 1) * (e["FY"] + e["OY"] - 1) * e["IC"] * e["ON"] + e["OX"] * e["OY"] * e["OC"] * e["ON"] +
            e["FX"] * e["FY"] * e["IC"] * e["OC"])


def blockings():
    """Every blocking that fits register file and buffer: ({loop: temporal factors}, whether it fills both to half)."""
    by_inner = {name: {} for name in BOUND}
    for name in BOUND:
        for factors, tiles in splits(name):
            by_inner[name].setdefault(factors[0], []).append((factors, tiles[1]))
    for inner in itertools.product(*(by_inner[name] for name in BOUND)):
        in_rf = words(dict(zip(BOUND, inner)))
        if in_rf > RF_WORDS:
            continue
        for rest in itertools.product(*(by_inner[name][t] for name, t in zip(BOUND, inner))):
            in_sram = words({name: tile for name, (_, tile) in zip(BOUND, rest)})
            if in_sram <= SRAM_WORDS:
                yield {name: factors for name, (factors, _) in zip(BOUND, rest)}, 2 * in_rf >= RF_WORDS and 2 * in_sram >= SRAM_WORDS


def line(factors, orders):
    """A blocking in one line, as `dse eval` reads it, with the orders at buffer and DRAM."""
    names = [ORDERS[0]] + [ORDERS[order] for order in orders]
    levels = ["[%s]" % " ".join("%s:%d" % (name, factors[name][v]) for name in names[v] if factors[name][v] > 1) for v in range(3)]
    return " / ".join(levels) + " ; L0 IC:16 | OC:16"


def energies(experiments, folder):
    """(pJ without MACs by its best orders, whether the memories are half full) of each blocking."""
    points = os.path.join(folder, "fig10_points.txt")
    half_full = []
    with open(points, "w", encoding="utf-8") as file:
        for factors, half in blockings():
            half_full.append(half)
            file.writelines(line(factors, orders) + "\n" for orders in CHOICES)
    done = subprocess.run([os.environ.get("DSE", "build/dse"), "eval", os.path.join(experiments, "architectures", "eyeriss512.json"),
                           os.path.join(experiments, "networks", "alexnet.csv") + ":CONV3", points, "-a", "interstellar-compat", "-f", "csv",
                           "-r", "summary", "--set", "RF.min_utilization=0", "--set", "SRAM.min_utilization=0"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, encoding="utf-8")
    rows = done.stdout.splitlines()
    names = rows[0].split(",") if rows else []
    if len(rows) != 1 + len(half_full) * len(CHOICES):
        raise Missing("dse eval of %s: %s" % (points, done.stderr.strip()[:200]))
    at = names.index("energy_no_mac_pJ")
    pj = [float(row.split(",")[at]) for row in rows[1:]]
    os.remove(points)
    return [(best(pj[i * len(CHOICES):(i + 1) * len(CHOICES)]), half) for i, half in enumerate(half_full)]


def best(priced):
    """The energy with the best order of each level, from those of CHOICES."""
    base = priced[0]
    return base + min(0, priced[1] - base, priced[2] - base) + min(0, priced[3] - base, priced[4] - base)


def fig10(experiments, runs, out, report):
    """How many blockings are how far from the best, and the best of all dataflows."""
    priced, per_decade = energies(experiments, runs), 60
    every, half_full = [pj for pj, _ in priced], [pj for pj, half in priced if half]
    proved = [number(row["energy_j"]) for row in read_table(os.path.join(runs, "fig8_all.csv"))
              if (row["architecture"], row["network"], row["batch"]) == ("eyeriss512_u75", "alexnet_batch1", "16")]
    with_macs = [[pj + MAC_PJ for pj in of] for of in (half_full, every)]
    panels = [(title,) + paper_histogram.count([pj * 1e-9 for pj in of], per_decade)
              for title, of in zip(("register file and SRAM at least half full", "all that fit"), with_macs)]
    write_table(os.path.join(out, "fig10.csv"), ["panel", "energy_mj_from", "blockings"],
                [[title, 10 ** (low + i / per_decade), n] for title, low, bins in panels for i, n in enumerate(bins)])
    marks = [(1e3 * proved[0], "best of all dataflows", "#009e73")] if proved and proved[0] else []
    marks.append((1.25e-9 * min(with_macs[1]), "1.25 times the least of C|K", "#d55e00"))
    paper_histogram.draw(os.path.join(out, "fig10"), panels, per_decade, "energy (mJ), CONV3, C|K, 512 B", "blockings", marks, width=420, high=110)
    for suffix, of, macs in zip(("", "_free"), (half_full, every), with_macs):
        report.set("fig10", "points" + suffix, len(of))
        report.set("fig10", "within" + suffix, share_within(of, 1.25))
        report.set("fig10", "spread" + suffix, max(of) / min(of))
        report.set("fig10", "with_macs" + suffix, 100 * share_within(macs, 1.25))
        report.set("fig10", "best" + suffix, min(of))
    report.set("fig10", "all", 100 * (1 - 1e12 * proved[0] / min(with_macs[1])) if marks[1:] else None)
