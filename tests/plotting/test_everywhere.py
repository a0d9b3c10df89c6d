#!/usr/bin/env python3
"""The heatmaps of engines on machines and networks: cells, colours and the table are counted by hand; the specifications agree."""
import os
import re
import subprocess
import sys
import unittest

from figure_case import DSE, HAVE_DSE, HAVE_GNUPLOT, ROOT, Folder, write
import everywhere
import paper_tools

SPEC = "axes:\n  network: [b, a]\n  architecture: [m]\n  engine: [cosa-best, unfused, tangram]\n"
# In network a unfused is best at latency and tangram at energy; in b tangram is refused, and unfused does not fit.
ROWS = ("network,architecture,engine,status,latency_s,energy_j\n"
        "a,m,tangram,ok,0.008,0.001\na,m,cosa-best,ok,0.004,0.002\na,m,unfused,ok,0.002,0.004\n"
        "b,m,cosa-best,ok,0.1,0.1\nb,m,unfused,infeasible,,\nb,m,tangram,failed,,\n")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Everywhere(Folder):
    def setUp(self):
        super().setUp()
        self.spec, self.csv = (os.path.join(self.folder, name) for name in ("s.yaml", "r.csv"))
        write(self.spec, SPEC)
        write(self.csv, ROWS)

    def test_order_is_that_of_the_specification(self):
        table = everywhere.Table(self.spec, self.csv)
        self.assertEqual((table.networks, table.machines), (["b", "a"], ["m"]))
        self.assertEqual(table.engines, ["cosa-best", "unfused", "tangram"])

    def test_ratios_are_times_the_best_of_the_row(self):
        table = everywhere.Table(self.spec, self.csv)
        self.assertEqual(table.ratios("latency_s", "a", "m"), [2.0, 1.0, 4.0])
        self.assertEqual(table.ratios("energy_j", "a", "m"), [2.0, 4.0, 1.0])
        self.assertEqual(table.ratios("energy_j", "b", "m"), [1.0, None, None])

    def test_what_is_no_value_says_why(self):
        table = everywhere.Table(self.spec, self.csv)
        self.assertEqual([table.lacking("b", "m", engine) for engine in table.engines[1:]], ["no fit", "-"])
        self.assertEqual(table.lacking("b", "m", "soma"), "...")

    def test_families_have_lines_between_them(self):
        self.assertEqual(everywhere.rules(["cosa-best", "gradient", "unfused", "soma", "tangram"], 3), [(2, 0, 0, 3), (4, 0, 0, 3)])

    def test_numbers_have_three_digits(self):
        self.assertEqual([everywhere.digits(value) for value in (1234.5, 99.96, 9.994, 0.0123)], ["1234", "100.0", "9.99", "0.012"])
        self.assertEqual(everywhere.prefix([0.002, 0.004, 5.0]), (1e-3, "m"))

    @unittest.skipUnless(HAVE_GNUPLOT, "gnuplot is missing")
    def test_figures_and_table(self):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "plotting/everywhere.py"), self.spec, self.csv, self.folder],
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("latency", "energy"):
            with open(os.path.join(self.folder, name + ".png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        self.assertIn('"no fit"', text_of(os.path.join(self.folder, "latency.gp")))
        rows = {row["engine"]: row for row in paper_tools.read_table(os.path.join(self.folder, "summary.csv"))}
        # cosa-best: 2 and 1 times the best latency, so sqrt(2); best in b alone.
        self.assertEqual((rows["cosa-best"]["points"], rows["cosa-best"]["latency_best"]), ("2", "1"))
        self.assertAlmostEqual(float(rows["cosa-best"]["latency_times_best"]), 2 ** 0.5, places=4)
        self.assertEqual((rows["tangram"]["points"], rows["tangram"]["energy_best"], rows["tangram"]["energy_times_best"]),
                         ("1", "1", "1"))

    def test_no_results_are_told(self):
        write(self.csv, ROWS.split("\n", maxsplit=1)[0] + "\n")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "plotting/everywhere.py"), self.spec, self.csv, self.folder],
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no points", done.stderr)


class Specifications(unittest.TestCase):
    NAMES = ("everywhere", "everywhere_quick")

    def test_quick_is_a_part(self):
        whole, quick = (os.path.join(ROOT, "experiments", name + ".yaml") for name in self.NAMES)
        for name in ("network", "architecture", "engine"):
            self.assertTrue(set(everywhere.axis(quick, name)) <= set(everywhere.axis(whole, name)))
            self.assertTrue(everywhere.axis(quick, name))

    def test_every_engine_has_a_family(self):
        families = {engine for family in everywhere.FAMILIES for engine in family}
        self.assertEqual(set(everywhere.axis(os.path.join(ROOT, "experiments/everywhere.yaml"), "engine")), families)

    @unittest.skipUnless(HAVE_DSE, "the program is missing")
    def test_specifications_are_good(self):
        for name in self.NAMES:
            done = subprocess.run([DSE, "check", "experiments/%s.yaml" % name], cwd=ROOT, text=True, capture_output=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: some points are refused
            self.assertTrue(re.search(r"^points  +[0-9]+$", done.stdout, re.M))


if __name__ == "__main__":
    unittest.main()
