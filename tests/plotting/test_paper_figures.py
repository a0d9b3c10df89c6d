#!/usr/bin/env python3
"""The figures of papers: helpers, what the paper folders hold, and the runner end to end on a figure that takes no time."""
import csv
import glob
import os
import re
import subprocess
import sys
import unittest

from figure_case import DSE, HAVE_DSE, HAVE_GNUPLOT, ROOT, Folder, write
import paper_bars
import paper_cosa
import paper_heatmap
import paper_histogram
import paper_scatter
import paper_stacks
import paper_tools



class Tools(Folder):
    def test_geomean_is_the_root_of_the_product(self):
        self.assertAlmostEqual(paper_tools.geomean([1, 8, None]), 8 ** 0.5)
        self.assertIsNone(paper_tools.geomean([None]))

    def test_short_keeps_three_digits(self):
        self.assertEqual([paper_tools.short(value) for value in (None, 5.2345, 20000.0, 6.7e7, 0.00071, "PCK")],
                         ["-", "5.23", "20,000", "6.70e+07", "7.10e-04", "PCK"])

    def test_a_missing_table_says_so(self):
        with self.assertRaisesRegex(paper_tools.Missing, "no results in"):
            paper_tools.read_table(self.path("none.csv"))

    def test_bins_are_equal_factors_and_hold_every_value(self):
        self.assertEqual(paper_histogram.count([0.1, 0.99, 1.0, 9.9, 50, 1000], 1), (-1.0, [2, 2, 1, 0, 1]))
        self.assertEqual(paper_histogram.count([2, 3, 4], 2), (0.0, [2, 1]))  # the second half of a decade begins at 3.16

    def test_a_logarithmic_axis_has_ticks_at_1_2_and_5(self):
        found = paper_histogram.ticks(-0.31, 1)
        self.assertEqual([text for _, text in found], ["0.5", "1", "2", "5", "10"])
        self.assertAlmostEqual(found[-1][0], 1)
        self.assertEqual([text for _, text in paper_histogram.ticks(1.1, 2.2)], ["15", "20", "30", "50", "70", "100", "150"])


class ReportOf(Folder):
    def setUp(self):
        super().setUp()
        write(self.path("expected.csv"), "# comment\nfigure,key,quantity,paper,unit,where\nfig1,a,speed,4,x,page 1\n"
                                         "fig1,b,name,PCK,,page 2\nfig2,c,ours only,,,\n")
        write(self.path("comments.csv"), "figure,key,comment\nfig1,a,because\nfig2,,about fig2\n")
        self.report = paper_tools.Report(self.folder)

    def test_report_compares_numbers(self):
        self.report.set("fig1", "a", 5.0)
        self.report.set("fig1", "b", "KCP")
        lines = list(self.report.lines())
        self.assertEqual([line["ratio"] for line in lines], [1.25, None, None])
        self.assertEqual(lines[0]["comment"], "because")
        self.assertIn("| fig1 | speed, x | 4 | 5 | 1.25 |\n| fig1 | name | PCK | KCP |  |", self.report.markdown())

    def test_report_text_has_comments_and_what_is_missing(self):
        self.report.fail("fig2", "no results")
        text = self.report.text()
        for part in ("because", "about fig2", "not drawn: no results"):
            self.assertIn(part, text)

    def test_report_refuses_a_value_that_nothing_expects(self):
        with self.assertRaises(KeyError):
            self.report.set("fig1", "z", 1)


class Bars(Folder):
    def panels(self):
        return [paper_bars.Panel("left", ["a", "b", "MEAN"], [[1, 12, 3], [None, 2, 4]], 10, row=0, apart=2, shown=[2]),
                paper_bars.Panel("right", ["it's"], [[1], [2]], 10, row=0),
                paper_bars.Panel("below", ["c", "d"], [[1, 1], [2, 2]], 10, row=1)]

    def test_panels_lie_side_by_side_inside_the_canvas(self):
        panels = self.panels()
        paper_bars._place(panels, 600, 400, 60)
        boxes = [panel.box for panel in panels]
        for left, right, top, bottom in boxes:
            self.assertTrue(0 < left < right <= 600 and 0 < bottom < top < 400)
        self.assertLess(boxes[0][1], boxes[1][0])
        self.assertLess(boxes[2][2], boxes[0][3])

    def test_numbers_stand_on_clipped_and_chosen_bars_only(self):
        text = paper_bars._blocks(self.panels(), 2)
        numbers = text.split("$numbers << EOD\n")[1].split("EOD")[0]
        self.assertEqual([line.split()[1:] for line in numbers.splitlines() if line],
                         [["10", "12"], ["3", "3.0"], ["4", "4.0"]])
        self.assertIn("panel_numbers[2] = 0", text)

    def test_numbers_do_not_reach_over_to_the_next_bar(self):
        # 26 groups of 4 bars in 1000 points, all with the same number: as Fig. 6's, which ran into each other.
        for width, value in ((2000, 12), (1000, 12), (600, 12), (1000, 5.5), (2000, 12345), (4000, 12345)):
            panel = paper_bars.Panel("", ["l"] * 26, [[value] * 26] * 4, 5)
            paper_bars._place([panel], width, 300, 60)
            upright, size = paper_bars._number_style([panel], 4)
            pitch = (panel.box[1] - panel.box[0]) / 26.2 * 0.82 / 4
            # In font sizes, of DejaVu Sans: a digit is 0.64 wide and 0.73 high; lines of text want 1.
            reach = 1 if upright else 0.64 * len(paper_bars._label(value))
            self.assertLessEqual(size * reach, pitch, (width, value))

    @unittest.skipUnless(HAVE_GNUPLOT, "no gnuplot")
    def test_bars_are_drawn_with_and_without_numbers(self):
        paper_bars.draw(self.path("bars"), self.panels(), ["one's", "two"])
        self.assertGreater(os.path.getsize(self.path("bars.png")), 5000)

    @unittest.skipUnless(HAVE_GNUPLOT, "no gnuplot")
    def test_names_are_no_commands(self):
        for n, name in enumerate(["it's `touch OWNED`", "a'\nsystem('touch OWNED')\n", "\"; system(\"touch OWNED\"); \"",
                                  "$(touch OWNED) @HOME", "%d \\ | \x1b[31m\r", "EOD", "x', 1); system('touch OWNED') #"]):
            panel = paper_bars.Panel(name, [name], [[1]], 10, shown=[0], y_title=name)
            paper_bars.draw(self.path("bars%d" % n), [panel], [name], x_title=name)
            paper_heatmap.draw(self.path("map%d" % n), [paper_heatmap.Panel(name, [[1.0, 2.0]], 1, 2, 0, 0)], [name[:9], "b"], [name[:9]],
                               name, name, name)
            paper_histogram.draw(self.path("h%d" % n), [(name, -1.0, [3, 4])] * 2, 2, name, name, [(0.2, name, "#009e73")])
            paper_scatter.draw(self.path("s%d" % n), [(name, [(0.5, 0.5)])], name, name)
            stack = paper_stacks.Panel(name, [[[0.5]]], 1, 0.5, title=name)
            paper_stacks.draw(self.path("st%d" % n), [stack], [[(name, name)]], [name], ["#102030"], name, name)
        self.assertFalse(os.path.exists(self.path("OWNED")))

    @unittest.skipUnless(HAVE_GNUPLOT, "no gnuplot")
    def test_a_histogram_is_drawn(self):
        paper_histogram.draw(self.path("h"), [("", -1.0, [3, 4, 100])], 2, "Latency", "Count")
        self.assertGreater(os.path.getsize(self.path("h.png")), 3000)


class CosaSweep(Folder):
    def test_a_layer_is_the_mean_of_its_seeds(self):
        header = "network,engine,seed,layer,status,latency_cycle\n"
        write(self.path("s.layers.csv"), header + "deepbench_cosa,random,1,l,ok,100\ndeepbench_cosa,random,2,l,ok,400\n"
              "deepbench_cosa,cosa,1,l,ok,50\ndeepbench_cosa,hybrid,1,l,infeasible,\nalexnet_cosa,cosa,1,m,ok,7\n")
        sweep = paper_cosa.Sweep(self.folder, "s")
        key = ("deepbench_cosa", "l")
        self.assertEqual(sweep.keys, [("alexnet_cosa", "m"), key])
        self.assertAlmostEqual(sweep.value(key, "random", "latency_cycle"), 200)
        self.assertIsNone(sweep.value(key, "hybrid", "latency_cycle"))
        speedups = sweep.speedups("latency_cycle", [key])[key]
        self.assertAlmostEqual(speedups[2], 4)
        self.assertIsNone(speedups[1])

    def test_bars_of_given_mappings_stand_in_the_order_of_the_paper(self):
        rows = ["%s,ok,%d,7" % (name, 100 + i) for i, name in enumerate(reversed(paper_cosa.ORDERS))]
        write(self.path("fig3.layers.csv"), "constraints,status,latency_cycle,noc_latency_cycle\n" + "\n".join(rows) + "\n")
        cycles = paper_cosa.given_mappings(self.folder, self.folder, "fig3", paper_cosa.ORDERS)
        self.assertEqual(cycles["Timeloop's model"]["PKC"], 100)
        with open(self.path("fig3.csv"), encoding="utf-8") as file:
            self.assertEqual([line.split(",")[0] for line in file][1:], paper_cosa.ORDERS)
        with self.assertRaisesRegex(paper_tools.Missing, "no mapping for"):
            paper_cosa.given_mappings(self.folder, self.folder, "fig3", ["XYZ"])

    def test_orders_of_the_figures_are_those_of_the_specifications(self):
        for name, expected in (("fig3", paper_cosa.ORDERS), ("fig4", paper_cosa.SPATIAL)):
            with open(os.path.join(ROOT, "experiments/cosa/%s.yaml" % name), encoding="utf-8") as file:
                found = re.findall(r"^    '?([^'\[\n-]+?)'?:(?: \[|$)", file.read(), re.MULTILINE)
            self.assertEqual(found, expected)

    def test_of_equal_points_the_newest_counts(self):
        write(self.path("s.layers.csv"), "network,engine,seed,layer,status,latency_cycle\nalexnet_cosa,cosa,2,l,ok,9\n"
              "alexnet_cosa,cosa,1,l,ok,1\nalexnet_cosa,cosa,1,l,ok,4\n")
        rows = paper_cosa.Sweep(self.folder, "s").rows[("alexnet_cosa", "l")]["cosa"]
        self.assertEqual([row["latency_cycle"] for row in rows], ["4", "9"])

    def test_clipped_numbers_are_those_of_the_published_bars(self):
        speedups = {"l": [1, 12.4, 9.9, 50], "m": [1, None, 23.1, 3]}
        self.assertEqual(paper_cosa.clipped(speedups, ["l", "m"], 10), "12 23")
        self.assertEqual(paper_cosa.clipped(speedups, ["l"], 20), "none")


class PaperFolders(unittest.TestCase):
    """What holds for every folder experiments/PAPER."""

    def test_expected_rows_are_unique_and_say_where_they_are_printed(self):
        for path in glob.glob(os.path.join(ROOT, "experiments/*/expected.csv")):
            rows = paper_tools.read_table(path)
            self.assertEqual(len({(row["figure"], row["key"]) for row in rows}), len(rows), path)
            for row in rows:
                self.assertTrue(row["quantity"] and (not row["paper"] or row["where"]), row)

    def test_comments_belong_to_expected_rows(self):
        for path in glob.glob(os.path.join(ROOT, "experiments/*/comments.csv")):
            rows = paper_tools.read_table(os.path.join(os.path.dirname(path), "expected.csv"))
            known = {(row["figure"], row["key"]) for row in rows} | {(row["figure"], "") for row in rows}
            for row in paper_tools.read_table(path):
                self.assertIn((row["figure"], row["key"]), known)
                self.assertTrue(row["comment"])

    def test_every_paper_has_its_script(self):
        for path in glob.glob(os.path.join(ROOT, "experiments/*/expected.csv")):
            name = os.path.basename(os.path.dirname(path))
            self.assertTrue(os.path.exists(os.path.join(ROOT, "plotting/paper_%s.py" % name)), name)

    def test_figures_and_expected_rows_name_the_same(self):
        rows = paper_tools.read_table(os.path.join(ROOT, "experiments/cosa/expected.csv"))
        self.assertEqual({row["figure"] for row in rows}, set(paper_cosa.FIGURES))

    def test_every_paper_has_a_quick_part_that_replaces_what_is_there(self):
        for path in glob.glob(os.path.join(ROOT, "experiments/*/expected.csv")):
            quick = glob.glob(os.path.join(os.path.dirname(path), "quick/*"))
            self.assertTrue(quick, path)
            for part in quick:
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), os.path.basename(part))), part)

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_every_specification_is_in_order(self):
        papers = [os.path.dirname(path) for path in glob.glob(os.path.join(ROOT, "experiments/*/expected.csv"))]
        for path in [path for paper in papers for path in glob.glob(paper + "/*.yaml") + glob.glob(paper + "/quick/*.yaml")]:
            with open(path, encoding="utf-8") as file:
                if "$RUNS/" in file.read():
                    continue  # needs what an earlier step makes: test_paper_mindmappings.py
            done = subprocess.run([DSE, "check", os.path.relpath(path, ROOT)], cwd=ROOT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode())


class Runner(Folder):
    def run_figures(self, *words):
        done = subprocess.run([sys.executable, "scripts/run-figures", "--dse", DSE or "none", "--out", self.folder] + list(words),
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def test_runner_refuses_an_unknown_paper(self):
        code, text = self.run_figures("nobody")
        self.assertEqual(code, 1)
        self.assertRegex(text, 'unknown paper "nobody"; there .* cosa')

    @unittest.skipUnless(HAVE_DSE and HAVE_GNUPLOT, "no program or no gnuplot")
    def test_a_quick_run_takes_the_quick_part(self):
        _, text = self.run_figures("--quick", "--only", "fig1", "cosa")
        self.assertRegex(text, r"valid mappings in the histogram +40,000 +4,000")  # quick/fig1.dse has -n 4000
        self.assertTrue(os.path.exists(os.path.join(self.folder, "cosa-quick", "fig1.png")))

    @unittest.skipUnless(HAVE_DSE and HAVE_GNUPLOT, "no program or no gnuplot")
    def test_runner_runs_draws_reports_and_resumes(self):
        code, text = self.run_figures("--only", "fig3", "cosa")
        self.assertEqual(code, 1)  # the other figures have no results
        self.assertIn("not drawn: no results in", text)
        out = os.path.join(self.folder, "cosa")
        for name in ("fig3.png", "fig3.csv", "fig3.gp", "runs/fig3.h5", "report.csv"):
            self.assertTrue(os.path.exists(os.path.join(out, name)), name)
        with open(os.path.join(out, "report.csv"), newline="", encoding="utf-8") as file:
            ours = {row["quantity"]: row["ours"] for row in csv.DictReader(file)}
        self.assertEqual(ours["the two best orders"], "PCK PKC")
        # By hand: weights of 294,912 words come once or twice (P = 2) over 10 words a cycle.
        self.assertAlmostEqual(float(ours["worst over best order, Timeloop's model"]), 2.0, delta=0.05)
        first = re.search(r"when they were computed: fig3 (\S+);", text).group(1)
        _, again = self.run_figures("--only", "fig3", "cosa")
        self.assertEqual(re.search(r"when they were computed: fig3 (\S+);", again).group(1), first)
        self.assertIn("6 were there already", again)
        write(os.path.join(out, "runs/fig3.yaml"), "an earlier specification\n")
        _, changed = self.run_figures("--only", "fig3", "cosa")
        self.assertIn("6 points in", changed)


if __name__ == "__main__":
    unittest.main()
