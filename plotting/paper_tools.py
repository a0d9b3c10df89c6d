"""What the figures of all papers need: reading result tables, means, the report that compares with the printed numbers, and gnuplot.

Only Python's standard library. `scripts/run-figures` runs the sweeps of experiments/PAPER and then plotting/paper_PAPER.py, which
computes the tables and figures with these helpers. A figure leaves its data (NAME.csv), its picture (NAME.png) and the gnuplot
script that draws it (NAME.gp, to be changed and drawn again with plain gnuplot).
"""
import csv
import math
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """A result that a figure needs is not there."""


def read_table(path):
    """The rows of a CSV file as dictionaries of text. Missing: no such file."""
    if not os.path.exists(path):
        raise Missing("no results in %s" % path)
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write_table(path, header, rows):
    """A CSV file; numbers keep 6 significant digits, None is an empty field."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(["" if cell is None else "%.6g" % cell if isinstance(cell, float) else cell for cell in row])


def number(text):
    """A field of a result table as a float; None when it is empty or not there."""
    return float(text) if text not in (None, "") else None


def geomean(values):
    """Geometric mean of the positive numbers among `values`; None when there is none."""
    logs = [math.log(value) for value in values if value is not None and value > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


def ratio(a, b):
    """a / b, or None when one of them is missing or b is 0."""
    return a / b if a is not None and b else None


def short(value):
    """A number as a report shows it: 3 significant digits, thousands and more in full up to 7 digits."""
    if value is None:
        return "-"
    if not isinstance(value, float) and not isinstance(value, int):
        return str(value)
    if value == 0 or 1000 <= abs(value) < 1e7:
        return "{:,.0f}".format(value)
    if 0.001 <= abs(value) < 1000:
        return "%.3g" % value
    return "%.2e" % value


def times(value):
    """A ratio as a report shows it."""
    return "%.2f" % value if 0.1 <= value < 100 else "%.1g" % value if value < 0.1 else "%.0f" % value


class Report:
    """What the paper says, what we get. `folder` has expected.csv (figure, key, quantity, paper, unit, where) and comments.csv
    (figure, key, comment; an empty key is a comment on the whole figure)."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = read_table(os.path.join(folder, "expected.csv"))
        self.comments = {}
        path = os.path.join(folder, "comments.csv")
        for row in read_table(path) if os.path.exists(path) else []:
            self.comments[(row["figure"], row["key"])] = row["comment"]
        self.known = {(row["figure"], row["key"]) for row in self.rows}
        self.ours = {}
        self.missing = {}

    def set(self, figure, key, value):
        """Our value of a row of expected.csv."""
        if (figure, key) not in self.known:
            raise KeyError("expected.csv has no row %s, %s" % (figure, key))
        self.ours[(figure, key)] = value

    def fail(self, figure, reason):
        """Nothing to compare for this figure, and why."""
        self.missing[figure] = reason

    def lines(self):
        """One entry per row: figure, quantity, unit, paper, ours, ratio, comment, where."""
        for row in self.rows:
            key = (row["figure"], row["key"])
            ours = self.ours.get(key)
            try:
                paper = float(row["paper"])
            except ValueError:
                paper = row["paper"] or None
            both = isinstance(paper, float) and isinstance(ours, (int, float))
            yield {"figure": row["figure"], "quantity": row["quantity"], "unit": row["unit"], "paper": paper, "ours": ours,
                   "ratio": ratio(ours, paper) if both else None, "comment": self.comments.get(key, ""), "where": row["where"]}

    def write(self, path):
        names = ["figure", "quantity", "unit", "paper", "ours", "ratio", "comment", "where"]
        write_table(path, names, [[line[name] for name in names] for line in self.lines()])

    def markdown(self):
        """The numbers as a table for a page."""
        out = ["| figure | quantity | paper | ours | ratio |", "|---|---|---|---|---|"]
        for line in self.lines():
            name = line["quantity"] + (", " + line["unit"] if line["unit"] else "")
            both = "" if line["ratio"] is None else times(line["ratio"])
            out.append("| %s | %s | %s | %s | %s |" % (line["figure"], name, short(line["paper"]), short(line["ours"]), both))
        return "\n".join(out) + "\n"

    def text(self, width=132):
        """The report for a terminal: a table per figure, with its comments below the rows they belong to."""
        out, figure = [], None
        form = "  %-76s %14s %14s %6s"
        out.append(form % ("", "paper", "ours", "ratio"))
        for line in self.lines():
            if line["figure"] != figure:
                figure = line["figure"]
                out.append(figure)
                about = self.comments.get((figure, ""), "")
                out.extend(textwrap.wrap(about, width, initial_indent="  ", subsequent_indent="  "))
                if figure in self.missing:
                    out.append("  not drawn: " + self.missing[figure])
            name = line["quantity"] + (", " + line["unit"] if line["unit"] else "")
            paper, ours = short(line["paper"]), short(line["ours"])
            if max(len(paper), len(ours)) > 14:
                out += ["  " + name, "      paper: " + paper, "      ours:  " + ours]
            else:
                out.append(form % (name, paper, ours, "" if line["ratio"] is None else times(line["ratio"])))
            out.extend(textwrap.wrap(line["comment"], width - 4, initial_indent="      ", subsequent_indent="      "))
        return "\n".join(row.rstrip() for row in out)


def main(figures, usage, arguments):
    """The program of a paper: make each figure of `figures` (name: function of runs, out, report) and write the report. `arguments`:
    EXPERIMENTS OUT; the sweeps lie in OUT/runs. Exit status 1 when results are missing."""
    if len(arguments) != 2:
        sys.exit(usage)
    folder, out = arguments
    report = Report(folder)
    for figure, make in figures.items():
        try:
            make(os.path.join(out, "runs"), out, report)
        except Missing as missing:
            report.fail(figure, str(missing))
    report.write(os.path.join(out, "report.csv"))
    with open(os.path.join(out, "report.md"), "w", encoding="utf-8") as file:
        file.write(report.markdown())
    print(report.text())
    return 1 if report.missing else 0


def quote(text):
    """Text as a gnuplot string. In single quotes nothing is a command; what would end the line becomes a blank."""
    return "'" + re.sub("[\x00-\x1f\x7f]", " ", text).replace("'", "''") + "'"


def array(name, values):
    """A gnuplot array of numbers or texts."""
    cells = [quote(value) if isinstance(value, str) else "%.6g" % value for value in values]
    return "array %s[%d]\n" % (name, len(cells)) + "".join("%s[%d] = %s\n" % (name, i + 1, c) for i, c in enumerate(cells))


def ticks(axis, name, labels, places):
    """The settings of an array `name` of labels, in which % is no format, and a command that sets them as ticks: text inside of a command
    would be read twice."""
    command = "set %stics (" % axis + ", ".join("%s[%d] %g" % (name, i + 1, place) for i, place in enumerate(places)) + ")"
    return array(name, [label.replace("%", "%%") or " " for label in labels]), command


def gnuplot(out, width, height, settings, template):
    """Draw OUT.png, `width` x `height` points, with a template of this folder; the whole script stays as OUT.gp."""
    with open(os.path.join(HERE, template), encoding="utf-8") as file:
        body = file.read()
    script = ("set terminal pngcairo noenhanced size %d,%d fontscale 1.5 linewidth 1.8 font 'Sans,8'\nset output %s\n"
              % (round(width * 2), round(height * 2), quote(os.path.basename(out) + ".png")))
    script += "fig_width = %g\nfig_height = %g\n" % (width, height) + settings + body
    with open(out + ".gp", "w", encoding="utf-8") as file:
        file.write(script)
    done = subprocess.run(["gnuplot", os.path.basename(out) + ".gp"], cwd=os.path.dirname(out) or ".",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0 or done.stdout.strip():
        raise Missing("gnuplot %s.gp: exit status %d %s" % (out, done.returncode, done.stdout.decode("utf-8", "replace").strip()))
