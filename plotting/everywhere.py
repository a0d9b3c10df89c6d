#!/usr/bin/env python3
"""Engines on machines and networks: what experiments/everywhere.yaml found, as two heatmaps and a table (docs/everywhere.md).

usage: everywhere.py SPEC RESULT.csv OUT    (`make everywhere` calls it)

Writes OUT/latency.png and OUT/energy.png with their scripts, and OUT/summary.csv and .md. A panel is a network, a row a machine, a column
an engine. A cell has the value; its colour is how many times the best of its row that is.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import paper_heatmap
from paper_tools import Missing, geomean, number, read_table, times, write_table

METRICS = {"latency": ("latency_s", "s"), "energy": ("energy_j", "J")}
# What an engine's number is: a sum over layers, a schedule with fused layers, or uops; lines stand between them.
FAMILIES = [("cosa-best", "interstellar", "gradient"), ("unfused", "cocco", "soma", "soma-plus"), ("tangram", "klotski-plus")]
PREFIXES = [(1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")]
WORST = 5.0  # times the best of the row: the darkest colour
LAYOUT = paper_heatmap.Layout(cell_width=33, left=78, gap_x=84, gap_y=26, bottom=78, rotate=40)
FOOT = "%s; colour: 1 (light) to %g (dark) times the best of the row, which is red (within 1 %%); -: refused; ...: no result yet"


def in_order(values, known=()):
    """Each once: those that are known in their order, with or without results, then the others as they come."""
    return list(dict.fromkeys([*known, *values]))


def prefix(values):
    """The unit's prefix for a panel: at least half of its values are 1 or more."""
    middle = sorted(values)[len(values) // 2]
    return next((entry for entry in PREFIXES if middle >= entry[0]), PREFIXES[-1])


def digits(value):
    """Three significant digits without an exponent."""
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value if value >= 0.1 else "%.3f" % value


def axis(spec, name):
    """The values of an axis that the specification has in one line."""
    with open(spec, encoding="utf-8") as file:
        found = re.search(r"^  %s: \[(.*)\]$" % name, file.read(), re.M)
    return [value.strip() for value in found[1].split(",")] if found else []


class Table:
    """The sweep's points by network, machine and engine, each in the order of the specification."""

    def __init__(self, spec, path):
        rows = read_table(path)
        if not rows:
            raise Missing("%s has no points" % path)
        self.networks, self.machines, self.engines = (in_order((row[name] for row in rows), axis(spec, name))
                                                      for name in ("network", "architecture", "engine"))
        self.row = {(row["network"], row["architecture"], row["engine"]): row for row in rows}

    def value(self, column, *cell):
        """Of a cell; None when there is none."""
        row = self.row.get(cell)
        return number(row[column]) if row and row["status"] == "ok" else None

    def lacking(self, *cell):
        """What stands in place of a value."""
        row = self.row.get(cell)
        return "..." if not row else {"failed": "-", "infeasible": "no fit"}.get(row["status"], row["status"])

    def ratios(self, column, network, machine):
        """Of each engine, times the best of the row."""
        values = [self.value(column, network, machine, engine) for engine in self.engines]
        best = min((value for value in values if value), default=None)
        return [value / best if value and best else None for value in values]


def rules(engines, n_row):
    """Lines between the families."""
    family = [next((i for i, names in enumerate(FAMILIES) if engine in names), -1) for engine in engines]
    return [(x, 0, 0, n_row) for x in range(1, len(engines)) if family[x] != family[x - 1]]


def draw(table, name, out):
    """One figure: a panel for each network."""
    column, unit = METRICS[name]
    panels = []
    for i, network in enumerate(table.networks):
        ratios = [table.ratios(column, network, machine) for machine in table.machines]
        values = [table.value(column, network, machine, engine) for machine in table.machines for engine in table.engines]
        known = [value for value in values if value]
        factor, letter = prefix(known) if known else PREFIXES[0]
        panel = paper_heatmap.Panel("%s, %s%s" % (network, letter, unit), ratios, 1.0, WORST, i // 2, i % 2)
        panel.texts = [[digits(value / factor) if (value := table.value(column, network, machine, engine)) else
                        '"%s"' % table.lacking(network, machine, engine) for engine in table.engines] for machine in table.machines]
        panel.rules = rules(table.engines, len(table.machines))
        panel.outlined = {(x, y) for y, line in enumerate(ratios) for x, value in enumerate(line) if value and value <= 1.01}
        panels.append(panel)
    paper_heatmap.draw(os.path.join(out, name), panels, table.engines, table.machines, "", "", FOOT % (name, WORST), LAYOUT)


def summary(table, out):
    """By engine: how many cells, how often the best, and the geometric mean of times the best of the row."""
    rows = []
    for engine in table.engines:
        x = table.engines.index(engine)
        row = [engine]
        for column, _ in METRICS.values():
            ratios = [table.ratios(column, network, machine)[x] for network in table.networks for machine in table.machines]
            known = [value for value in ratios if value]
            row += [len(known), sum(value <= 1.01 for value in known), geomean(known)]
        rows.append(row[:4] + row[5:])
    header = ["engine", "points"] + ["%s_%s" % (name, what) for name in METRICS for what in ("best", "times_best")]
    write_table(os.path.join(out, "summary.csv"), header, rows)
    with open(os.path.join(out, "summary.md"), "w", encoding="utf-8") as file:
        file.write("| engine | points | least latency | latency, times the best | least energy | energy, times the best |\n"
                   "|---|---|---|---|---|---|\n")
        for engine, n, *cells in rows:
            shown = [str(cell) if isinstance(cell, int) else times(cell) if cell else "-" for cell in cells]
            file.write("| `%s` | %d | %s |\n" % (engine, n, " | ".join(shown)))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n")[2])
    spec, path, out = sys.argv[1:]
    try:
        table = Table(spec, path)
        for name in METRICS:
            draw(table, name, out)
        summary(table, out)
    except Missing as missing:
        sys.exit("everywhere.py: %s" % missing)
    with open(os.path.join(out, "summary.md"), encoding="utf-8") as file:
        print(file.read(), end="")


if __name__ == "__main__":
    main()
