"""Fig. 10 of Interstellar: the energy of every blocking of AlexNet CONV3 by C|K. The blockings are listed here and priced by `dse eval`, each with the
best loop orders."""
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


def blockings(least=0.5):
    """Every blocking that fits register file and buffer, and fills them to `least`: {loop: temporal factors}."""
    by_inner = {name: {} for name in BOUND}
    for name in BOUND:
        for factors, tiles in splits(name):
            by_inner[name].setdefault(factors[0], []).append((factors, tiles[1]))
    for inner in itertools.product(*(by_inner[name] for name in BOUND)):
        held = words(dict(zip(BOUND, inner)))
        if held > RF_WORDS or held < least * RF_WORDS:
            continue
        for rest in itertools.product(*(by_inner[name][t] for name, t in zip(BOUND, inner))):
            held = words({name: tile for name, (_, tile) in zip(BOUND, rest)})
            if least * SRAM_WORDS <= held <= SRAM_WORDS:
                yield {name: factors for name, (factors, _) in zip(BOUND, rest)}


def line(factors, orders):
    """A blocking in one line, as `dse eval` reads it, with the orders at buffer and DRAM."""
    names = [ORDERS[0]] + [ORDERS[order] for order in orders]
    levels = ["[%s]" % " ".join("%s:%d" % (name, factors[name][v]) for name in names[v] if factors[name][v] > 1) for v in range(3)]
    return " / ".join(levels) + " ; L0 IC:16 | OC:16"


def energies(experiments, folder):
    """pJ of each blocking without MACs, by its best orders."""
    points = os.path.join(folder, "fig10_points.txt")
    n = 0
    with open(points, "w", encoding="utf-8") as file:
        for factors in blockings():
            n += 1
            file.writelines(line(factors, orders) + "\n" for orders in CHOICES)
    done = subprocess.run([os.environ.get("DSE", "build/dse"), "eval", os.path.join(experiments, "architectures", "eyeriss512.json"),
                           os.path.join(experiments, "networks", "alexnet.csv") + ":CONV3", points, "-a", "interstellar-compat", "-f", "csv",
                           "-r", "summary"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, encoding="utf-8")
    rows = done.stdout.splitlines()
    names = rows[0].split(",") if rows else []
    if len(rows) != 1 + n * len(CHOICES):
        raise Missing("dse eval of %s: %s" % (points, done.stderr.strip()[:200]))
    at = names.index("energy_no_mac_pJ")
    pj = [float(row.split(",")[at]) for row in rows[1:]]
    os.remove(points)
    return [best(pj[i:i + len(CHOICES)]) for i in range(0, len(pj), len(CHOICES))]


def best(priced):
    """The energy with the best order of each level, from those of CHOICES."""
    base = priced[0]
    return base + min(0, priced[1] - base, priced[2] - base) + min(0, priced[3] - base, priced[4] - base)


def fig10(experiments, runs, out, report):
    """How many blockings are how far from the best."""
    pj, per_decade = energies(experiments, runs), 60
    with_macs = [value + MAC_PJ for value in pj]
    low, bins = paper_histogram.count([value * 1e-9 for value in with_macs], per_decade)
    write_table(os.path.join(out, "fig10.csv"), ["energy_mj_from", "blockings"], [[10 ** (low + i / per_decade), n] for i, n in enumerate(bins)])
    paper_histogram.draw(os.path.join(out, "fig10"), low, bins, per_decade, "energy (mJ), CONV3, C|K, 512 B", "blockings", width=420)
    report.set("fig10", "points", len(pj))
    report.set("fig10", "within", share_within(pj, 1.25))
    report.set("fig10", "spread", max(pj) / min(pj))
    report.set("fig10", "with_macs", 100 * share_within(with_macs, 1.25))
    report.set("fig10", "best", min(pj))
    proved = [number(row["energy_j"]) for row in read_table(os.path.join(runs, "fig8_all.csv"))
              if (row["architecture"], row["network"], row["batch"]) == ("eyeriss512_u75", "alexnet_batch1", "16")]
    report.set("fig10", "all", 100 * (1 - 1e12 * proved[0] / min(with_macs)) if proved and proved[0] else None)
