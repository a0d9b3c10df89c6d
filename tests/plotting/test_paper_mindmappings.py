#!/usr/bin/env python3
"""The figures of Mind Mappings: minima and sizes of its problems, means of traces over evaluations and time, the price from which on a search is
ahead, that every row of the report gets its number, and that specifications and models agree."""
import csv
import glob
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

from figure_case import DSE, HAVE_DSE, HAVE_GNUPLOT, ROOT, Folder, write
import mindmappings_curves as curves
import mindmappings_space as space
import paper_mindmappings
import paper_tools

FOLDER = os.path.join(ROOT, "experiments/mindmappings")


class Problems(unittest.TestCase):
    def test_minima_are_those_of_the_authors_program(self):
        rows = {row["problem"].lower().replace("conv_", "conv"): row
                for row in paper_tools.read_table(os.path.join(ROOT, "tests/known/mindmappings/problems.csv"))}
        for problem, (dims, _) in curves.PROBLEMS.items():
            row = rows[problem]
            self.assertEqual([int(row["d%d" % i]) for i in range(len(dims))], list(dims))
            self.assertAlmostEqual(1e6 * curves.minimum(problem)[0] / float(row["min_energy_uJ_code"]), 1, places=6)
            self.assertAlmostEqual(1e15 * curves.minimum_edp(problem) / float(row["min_edp_uJcycle_code"]), 1, places=6)

    def test_sizes_count_every_vector(self):
        for size in (12, 27):
            count = sum(math.prod(four) == size for four in itertools.product(range(1, size + 1), repeat=4))
            shares = sum(sum(three) == 16 for three in itertools.product(range(1, 17), repeat=3))
            self.assertEqual(space.space_size((size, 1, 1, 1, 1, 1, 1)), count * math.factorial(7) ** 3 * shares ** 2)
        shares = sum(sum(four) == 16 for four in itertools.product(range(1, 17), repeat=4))
        self.assertEqual(space.space_size((1, 1, 1, 1)), 24 ** 3 * shares ** 2)

    def test_groups_are_pooled(self):
        values = [1.0, 3.0, 10.0, 30.0]
        mean, deviation = space.pooled([(2.0, 1.0), (20.0, 10.0)])
        self.assertAlmostEqual(mean, sum(values) / 4)
        self.assertAlmostEqual(deviation ** 2, sum((value - mean) ** 2 for value in values) / 4)

    def test_a_local_minimum_is_below_each_neighbour(self):
        self.assertEqual(space.local_minima([[1, 2, 1], [2, 2, 3], [5, 4, 0]]), 3)
        self.assertEqual(space.local_minima([[1, 1], [1, 1]]), 0)

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_the_surface_is_of_vectors(self):
        vector = space.surface_vector((2, 7), (4, 3, 1))
        self.assertEqual(len(vector), 62)
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "mm_surface_%d.csv" % os.getpid())
        write(path, ",".join(map(str, vector)) + "\n")
        done = subprocess.run([DSE, "eval", "mindmappings_banks", "--vectors", path, "-f", "csv"], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, encoding="utf-8")
        os.remove(path)
        self.assertEqual(next(csv.DictReader(done.stdout.splitlines()))["member"], "1")


class Curves(unittest.TestCase):
    def setUp(self):
        # Nine times the minimum at once, four times at the hundredth evaluation, 0.1 s of processor time later.
        self.run = curves.Run([(1, 0.0, 9.0), (100, 0.1, 4.0)], 1000)

    def test_what_is_best_by_then(self):
        self.assertEqual([self.run.at_evaluation(n) for n in (0, 1, 99, 100)], [None, 9.0, 9.0, 4.0])
        self.assertEqual([self.run.at_time(t, 0.0) for t in (0.0, 0.0999, 0.1)], [9.0, 9.0, 4.0])
        self.assertEqual([self.run.at_time(t, 0.01) for t in (0.0, 0.01, 1.09, 1.11)], [None, 9.0, 9.0, 4.0])

    def test_trial_moves_are_paid_before(self):
        tuned = curves.Run([(1, 0.5, 9.0)], 1000, before=50)
        self.assertEqual([tuned.at_time(t, 0.1) for t in (5.59, 5.61)], [None, 9.0])

    def test_means_begin_where_all_runs_have_something(self):
        late = curves.Run([(50, 0.05, 5.0)], 1000)
        self.assertIsNone(curves.after([self.run, late], 49))
        self.assertEqual(curves.after([self.run, late], 50), 7.0)
        self.assertEqual(curves.at_time([[self.run, late], [late]], 0.05), 5.0)
        self.assertAlmostEqual(curves.seconds_per_evaluation([self.run, late]), 0.1 / 99)

    def test_the_price_from_which_on_a_search_is_ahead(self):
        # It ends after 1.45 s and 10 evaluations, with 5. The other has 4 by then where 0.1 + 100 p <= 1.45 + 10 p, so p <= 15 ms.
        ends, values = {"x": (1.45, 10)}, {"x": 5.0}
        self.assertAlmostEqual(curves.overtaking(ends, values, {"x": [[self.run]]}), 10 ** -1.8)
        self.assertEqual(curves.overtaking(ends, {"x": 3.9}, {"x": [[self.run]]}), 0.0)
        self.assertIsNone(curves.overtaking(ends, {"x": 10.0}, {"x": [[self.run]]}))
        slow = curves.Run([(1, 100.0, 1.0)], 1000)  # has nothing by then
        self.assertEqual(curves.overtaking(ends, values, {"x": [[slow]]}), 0.0)
        self.assertAlmostEqual(curves.overtaking(ends, values, {"x": [[slow], [self.run]]}), 10 ** -1.8)

    def test_prices_in_words(self):
        self.assertEqual([paper_mindmappings.seconds_in_words(value) for value in (10.0, 0.251, 0.0126, 7.94e-6, 1e-9)],
                         ["10 s", "250 ms", "13 ms", "7.9 us", "1 ns"])

    def test_an_axis_has_few_names(self):
        self.assertEqual(paper_mindmappings.sparse([1, 2, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14])[:7], ["1", "", "", "3", "", "5", ""])


class WholeReport(Folder):
    """Every figure from small tables of the same form as the sweeps'."""

    def sweep(self, name, columns, seeds=2, problems=None):
        """A sweep whose searches halve their cost at each of three improvements."""
        header = ["network"] + [column for column, _ in columns] + ["seed", "status", "evaluations", "draws", "trace", "trace_seconds"]
        rows = []
        for problem in problems or curves.PROBLEMS:
            least = curves.minimum_edp(problem)
            for values in itertools.product(*[choices for _, choices in columns]):
                trace = " ".join("%d:%.17g" % (n, least * cost) for n, cost in ((1, 40), (10, 20), (900, 10)))
                rows += [["mindmappings_" + problem, *values, seed, "ok", 1000, 3000, trace, "0.001 0.002 0.09"] for seed in range(seeds)]
        paper_tools.write_table(self.path("runs/%s.layers.csv" % name), header, rows)

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("runs"))
        modes = ("option.mode", curves.MODES)
        for name in ("fig5_mm", "fig5_mm_mustfit"):
            self.sweep(name, [])
            self.sweep(name.replace("mm", "nets", 1), [("option.network", [1, 2])])
        self.sweep("fig5_black", [("engine", ["mm-random", "mm-ga"]), modes])
        self.sweep("fig5_sa", [("option.cost", ["raw", "log"]), modes])
        self.sweep("fig5_rl", [modes], seeds=1)
        self.sweep("fig5_native", [("engine", ["gradient", "descent"]), ("option.search_bypass", ["true", "false"])])
        self.sweep("fig6_mm", [("option.evaluate", ["every", "best"])])
        self.sweep("fig6_black", [("engine", ["mm-random", "mm-ga"])])
        self.sweep("fig6_native", [("engine", ["gradient", "descent"])])
        self.sweep("fig6_sa", [("option.cost", ["raw", "log"]), ("option.moves", [1000, 10000])])
        models = ["cnn.h5"] + ["fig7_%s.h5" % name for name in ("mse", "mae", "10k", "50k", "200k")]
        self.sweep("fig7_search", [("option.model", models), ("option.network", [1, 2])], problems=curves.CNN)
        for name in ("cnn", "cnn_mustfit", "mttkrp", "mttkrp_mustfit"):
            write(self.path("runs/%s_nets.csv" % name), "network,spearman,spearman_within,spearman_low,median_error,search_trial\n"
                                                        "1,0.9,0.8,0.7,0.1,6\n2,0.91,0.81,0.71,0.1,6.5\n")
        write(self.path("runs/fig7a_epochs.csv"), "network,seed,epochs,train_loss,test_loss\n1,0,1,0.4,0.3\n1,0,2,0.2,0.25\n")
        for problem in curves.PROBLEMS:
            least = curves.minimum(problem)[0]
            write(self.path("runs/table1_%s.csv" % problem), "value,mappings,draws,best,median,mean,deviation,worst\n"
                  "energy_j,10,10,1,2,%.9g,%.9g,3\n" % (50 * least, 55 * least))

    @unittest.skipUnless(HAVE_DSE and HAVE_GNUPLOT, "no program or no gnuplot")
    def test_every_row_has_a_number_and_every_figure_is_drawn(self):
        done = subprocess.run([sys.executable, "plotting/paper_mindmappings.py", "experiments/mindmappings", self.folder], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stdout)
        for name in ("fig3", "fig5", "fig5_mustfit", "fig6", "fig6_prices", "fig7a", "fig7b", "fig7c"):
            self.assertGreater(os.path.getsize(self.path(name + ".png")), 3000, name)
        rows = {row["quantity"]: row["ours"] for row in paper_tools.read_table(self.path("report.csv"))}
        self.assertEqual([quantity for quantity, ours in rows.items() if ours == ""], [])
        self.assertEqual(rows["seeds of each problem"], "2, RL 1")
        self.assertAlmostEqual(float(rows["CNN, mustfit: GA over the minimum"]), 10)
        self.assertEqual(float(rows["energy of random mappings over the minimum, MTTKRP, mean"]), 50)


class Specifications(Folder):
    def test_figures_and_expected_rows_name_the_same(self):
        rows = paper_tools.read_table(os.path.join(FOLDER, "expected.csv"))
        self.assertEqual({row["figure"] for row in rows}, set(paper_mindmappings.FIGURES))

    def models(self, quick):
        """{name of a model: the words of its training, without sizes} of all steps, in order."""
        found = {}
        for path in glob.glob(os.path.join(FOLDER, "*.dse")):
            part = os.path.join(FOLDER, "quick", os.path.basename(path))
            with open(part if quick else path, encoding="utf-8") as file:
                for words, model in re.findall(r"^train (.*?) +-o \$RUNS/(\S+)", file.read(), re.MULTILINE):
                    found[model] = re.sub(r"--(nets|preset|samples|epochs|loss|rows) \S+", "", words).replace("-f csv", "").split()
        return found

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_specifications_with_models_are_in_order(self):
        trained = {}
        for quick in (False, True):
            models = self.models(quick)
            for path in glob.glob(os.path.join(FOLDER, "quick" if quick else "", "*.yaml")):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for model in set(re.findall(r"\$RUNS/(\w+\.h5)", text)):
                    words = tuple(models[model])
                    if words not in trained:  # all that tells models of one machine and mode apart is how good they are
                        trained[words] = self.path("%d.h5" % len(trained))
                        subprocess.run([DSE, "train", *words, "--nets", "3", "--samples", "1000", "--epochs", "1", "-o", trained[words]], cwd=ROOT,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                    shutil.copy(trained[words], self.path(model))
                copy = self.path("quick.yaml")
                write(copy, text.replace("$RUNS/", ""))
                done = subprocess.run([DSE, "check", copy], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                self.assertEqual(done.returncode, 0, path + done.stdout.decode())


class Steps(Folder):
    """Lines of a .dse file are left out when what they make is there and newer than what it is made of."""

    def run_table1(self):
        done = subprocess.run([sys.executable, "scripts/run-figures", "--dse", DSE, "--out", self.folder, "--quick", "--only", "table1",
                               "mindmappings"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout.decode("utf-8", "replace")

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_a_step_is_left_out_until_it_changes(self):
        drawn = "10,000 valid mappings"
        text = self.run_table1()
        self.assertEqual(text.count(drawn), 8)
        # The authors' sampler has 50.5 and 57.3, of 100,000 mappings a problem.
        for quantity, known in (("CNN layers", 50.5), ("MTTKRP", 57.3)):
            ours = float(re.search(r"over the minimum, %s, mean +\S+ +(\S+)" % quantity, text).group(1))
            self.assertAlmostEqual(ours / known, 1, delta=0.05)
        self.assertEqual(self.run_table1().count(drawn), 0)
        os.remove(self.path("mindmappings-quick/runs/table1_vgg_conv2.csv"))
        self.assertEqual(self.run_table1().count(drawn), 1)
        write(self.path("mindmappings-quick/runs/table1.dse"), "an earlier version\n")
        self.assertEqual(self.run_table1().count(drawn), 8)


if __name__ == "__main__":
    unittest.main()
