#!/usr/bin/env python3
"""The figures of Interstellar: what is read off its sweeps, the rule of 4 to 16, lines, and that specifications and report agree."""
import json
import os
import subprocess
import unittest

from figure_case import DSE, HAVE_DSE, HAVE_GNUPLOT, ROOT, Folder, write
import interstellar_blockings
import interstellar_checks
import interstellar_dataflows
import interstellar_networks
import interstellar_points
import paper_interstellar
import paper_lines
import paper_tools

FOLDER = os.path.join(ROOT, "experiments/interstellar")
HEADER = "rf,layer,status,count,energy_j,energy_mac_j,energy_noc_j,RF.energy_j,RF.byte,SRAM.energy_j,SRAM.byte,DRAM.energy_j,DRAM.byte\n"


class Layers(Folder):
    def setUp(self):
        super().setUp()
        write(self.path("x.layers.csv"), HEADER + "64,CONV1,ok,2,10e-12,1e-12,0.035e-12,4e-12,180,2e-12,10,2.965e-12,8\n"
              "64,FC1,ok,1,5e-12,1e-12,0,1e-12,2,1e-12,2,2e-12,2\n128,CONV1,infeasible,2,,,,,,,,,\n")
        self.cells = interstellar_points.cells(self.folder, "x", ["rf"])

    def test_energies_are_those_of_all_copies_by_level(self):
        parts = self.cells["64"]["CONV1"].parts()
        self.assertEqual(list(parts), ["RF", "array", "SRAM", "DRAM", "MAC"])
        self.assertAlmostEqual(1e12 * parts["RF"], 8)
        self.assertAlmostEqual(sum(parts.values()), self.cells["64"]["CONV1"].energy)
        self.assertAlmostEqual(1e12 * self.cells["64"]["CONV1"].without_macs, 18)

    def test_share_of_accesses(self):
        # 90 words of the register file, 5 + 4 further out, one hop; twice.
        self.assertAlmostEqual(self.cells["64"]["CONV1"].rf_share(False), 90 / 99)
        self.assertAlmostEqual(self.cells["64"]["CONV1"].rf_share(True), 90 / 100)

    def test_sums_leave_out_what_has_no_mapping(self):
        self.assertEqual(list(interstellar_points.totals(self.cells, ("CONV1", "FC1"))), ["64"])
        self.assertAlmostEqual(1e12 * interstellar_points.total(self.cells["64"], ("CONV1", "FC1")), 25)
        self.assertEqual(interstellar_points.best({"a": 2, "b": 1}, lambda key: key == "c"), (None, None))
        self.assertEqual(interstellar_points.best({"a": 2, "b": 1}), ("b", 1))

    def test_sizes_are_written_as_in_the_paper(self):
        self.assertEqual([interstellar_points.size(n) for n in ("64", 131072, "1048576")], ["64 B", "128 KB", "1 MB"])

    @unittest.skipUnless(HAVE_GNUPLOT, "no gnuplot")
    def test_lines_are_drawn(self):
        panels = [paper_lines.Panel("a", ["x", "y's"], [[1, None], [2, 3]], 0, 4, 0, 0, "places", "size"),
                  paper_lines.Panel("b", ["x", "y"], [[1, 16]], 0.5, 32, 0, 1, log=True)]
        lines = [paper_lines.Line("one", "#0072b2"), paper_lines.Line("", "#e69f00", True)]
        paper_lines.draw(self.path("l"), panels, lines)
        paper_lines.draw(self.path("r"), panels, lines, rotate=90)
        for name in ("l.png", "r.png"):
            self.assertGreater(os.path.getsize(self.path(name)), 3000)


class Hints(Folder):
    def test_hints_become_schedules_and_options(self):
        words = interstellar_networks.arguments("IC3 OC16 +OX/ON", "opt4", self.folder)
        self.assertEqual(words[0], "-c")
        with open(words[1], encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"schedule_hint": {"IC": {"level1": {"partitioning_size": 3}}, "OC": {"level1": {"partitioning_size": 16}}},
                                               "partition_loops": ["OX", "ON"]})
        self.assertEqual(interstellar_networks.arguments("any dataflow thr 0.75 x512 channels (half-full rule off)", "eyeriss512", self.folder),
                         ["--set", "RF.min_utilization=0", "--set", "SRAM.min_utilization=0", "-o", "threshold=0.75"])

    def test_every_layer_of_nine_networks_has_a_hint_on_three_machines(self):
        found = {}
        for (machine, network, _), layers in interstellar_networks.groups(os.path.join(FOLDER, "fig14_hints.csv")).items():
            found.setdefault((machine, network), []).extend(layers)
        self.assertEqual(len(found), 27)
        for (_, network), layers in found.items():
            rows = paper_tools.read_table(os.path.join(FOLDER, "networks", network + ".csv"))
            self.assertEqual(sorted(layers), sorted(row["name"] for row in rows))

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_authors_energies_of_fig_14(self):
        # Made with the authors' scheduler and an independent search by its rules; pJ with MACs, 4 digits.
        here = os.getcwd()
        os.chdir(ROOT)
        try:
            found = interstellar_networks.energies(FOLDER, self.folder, DSE, {"lstm_m", "lstm_l", "rhn", "mlp_m", "mlp_l"})
        finally:
            os.chdir(here)
        for network, pj in (("lstm_m", (1.968e9, 1.167e9, 1.074e9)), ("lstm_l", (7.497e9, 4.527e9, 4.421e9)), ("rhn", (2.063e9, 1.260e9, 1.179e9)),
                            ("mlp_m", (1.348e9, 8.117e8, 7.807e8)), ("mlp_l", (2.978e9, 1.810e9, 1.678e9))):
            for machine, value in zip(interstellar_networks.MACHINES, pj):
                joule, without = found[machine, network]
                self.assertEqual(without, [])
                self.assertAlmostEqual(1e12 * joule / value, 1, delta=5e-4, msg="%s on %s" % (network, machine))


class Checks(Folder):
    def test_loss_by_the_half_full_rule(self):
        header = "architecture,SRAM.min_utilization,network,layer,status,count,energy_j,energy_mac_j,evaluations\n"
        write(self.path("prune.layers.csv"), header + "eyeriss512,0.5,alexnet,CONV3,ok,1,11e-12,1e-12,5\neyeriss512,0,alexnet,CONV3,ok,1,11e-12,1e-12,20\n"
              "eyeriss512,0.5,alexnet,FC1,infeasible,1,,,5\neyeriss512,0,alexnet,FC1,ok,1,2e-12,1e-12,5\n")
        write(self.path("prune_opt4.layers.csv"), header + "opt4,0.5,lstm_l,GATE,ok,1,12e-12,1e-12,1\nopt4,0,lstm_l,GATE,ok,1,11e-12,1e-12,10\n")
        report = paper_tools.Report(FOLDER)
        interstellar_checks.prune(self.folder, self.folder, report)
        self.assertEqual({key: value if isinstance(value, str) else round(value, 6) for (_, key), value in report.ours.items()},
                         {"cases": "1 of 2", "alexnet": 0, "lstm_l": 10, "kept": "4.0 to 10", "points": 5, "points_free": 20})
        self.assertEqual(len(paper_tools.read_table(self.path("prune.csv"))), 2)

    def test_layers_of_all_cells(self):
        self.assertEqual(interstellar_checks.merged({"x": {"a": 1}, "y": {"b": 2}}), {"a": 1, "b": 2})

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_hops_between_copies_are_four_times_as_far(self):
        done = subprocess.run([DSE, "eval", "experiments/interstellar/architectures/os8.json", "experiments/interstellar/networks/alexnet.csv:CONV3",
                               "experiments/interstellar/fig3_points.txt", "-a", "interstellar-compat", "--no-fit", "-f", "csv", "-r", "networks"],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        write(self.path("fig3.csv"), done.stdout.decode())
        report = paper_tools.Report(FOLDER)
        os.mkdir(self.path("out"))
        interstellar_checks.fig3(self.folder, self.path("out"), report)
        self.assertEqual((report.ours["fig3", "near"], report.ours["fig3", "far"]), (0.035, 4))


class Blockings(unittest.TestCase):
    def test_as_many_as_the_authors_search_prices(self):
        # Points that the authors' scheduler evaluates for CONV3, C|K, 512 B: with its half-full rule, and without.
        found = list(interstellar_blockings.blockings())
        half_full = [factors for factors, half in found if half]
        self.assertEqual((len(half_full), len(found)), (10413, 122372))
        self.assertEqual(interstellar_blockings.line(half_full[0], (0, 2)),
                         "[IC:8 ON:16] / [IC:2 OC:8] / [OX:13 OY:13 FX:3 FY:3 OC:3] ; L0 IC:16 | OC:16")

    def test_best_order_of_each_level(self):
        self.assertEqual(interstellar_blockings.best([10, 9, 12, 13, 8]), 7)
        self.assertEqual(interstellar_blockings.best([10, 11, 12, 13, 14]), 10)


class Dataflows(Folder):
    def test_sides_may_be_exchanged(self):
        self.assertTrue(interstellar_dataflows.same("FY|FX", "FX|FY"))
        self.assertFalse(interstellar_dataflows.same("FY|YK", "YK|F"))

    def test_names_below_a_figure_do_not_touch(self):
        flows = ["K|C", "Y|FY", "CK|Y", "X|Y"]
        self.assertEqual(interstellar_dataflows.labels(flows, 40), flows)
        self.assertEqual(interstellar_dataflows.labels(flows, 20), ["K|C  Y|FY", "", "", "X|Y"])

    def test_titles_say_whether_loops_share_a_side(self):
        self.assertEqual(interstellar_dataflows.replicated(["FY|FX", "C|K"]), "without replication")
        self.assertEqual(interstellar_dataflows.replicated(["C|K", "FYK|Y"]), "with replication")

    def test_rows_of_a_run_without_its_total(self):
        write(self.path("x.csv"), "layer,status,dataflow\nCONV3,ok,C|K\nCONV3,infeasible,X|Y\ntotal,ok,\n")
        self.assertEqual(list(interstellar_dataflows.dataflows(self.folder, "x")), ["C|K"])

    def test_share_within_a_factor(self):
        self.assertEqual(interstellar_dataflows.within([4, 5, 6, 8], 1.25), 0.5)


class Rules(unittest.TestCase):
    def test_neighbours_are_4_to_16_apart(self):
        # Section 6.3, with 256 PEs: 16 KB and 128 KB; 4 KB, 32 KB, 256 KB; 4 KB, 64 KB, 256 KB.
        for sizes, good in (([64, 128 << 10], True), ([16, 128, 256 << 10], True), ([16, 256, 256 << 10], True), ([512, 128 << 10], False),
                            ([16, 128 << 10], False)):
            self.assertEqual(paper_interstellar.by_rule(sizes, 256), good, sizes)


class Paper(unittest.TestCase):
    def test_figures_and_expected_rows_name_the_same(self):
        rows = paper_tools.read_table(os.path.join(FOLDER, "expected.csv"))
        self.assertEqual({row["figure"] for row in rows}, set(paper_interstellar.FIGURES))
        keys = [(row["figure"], row["key"]) for row in rows]
        self.assertEqual(len(keys), len(set(keys)))
        for row in paper_tools.read_table(os.path.join(FOLDER, "comments.csv")):
            self.assertIn((row["figure"], row["key"]), keys + [(figure, "") for figure in paper_interstellar.FIGURES])

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_specifications_have_the_points_of_the_paper(self):
        # Fig. 11: two register files. Fig. 12: 6 register files x 5 buffers x 2 tables. Section 6.2: 4 x 5 pairs. Fig. 13: 4 arrays x 6 x 6
        # sizes, for the optima 2 x 3. Of C|K four parts of AlexNet, of which each has its schedule; of Fig. 11 both accountings.
        for name, n in (("fig11", "16"), ("fig11_all", "4"), ("fig12", "240"), ("fig12_all", "60"), ("sec62", "80"), ("sec62_all", "20"),
                        ("fig13", r"576 of [\d,]+"), ("fig13_all", "24"), ("fig7", "3"), ("fig7_all", "3"), ("fig7b", "4"), ("fig7b_all", "1"), ("prune", "20"), ("prune_opt4", "10"),
                        ("fig8_all", "12"), ("fig14", "34 of 36"), ("fig14_opt4", "17 of 18"),
                        ("quick/fig13_all", "8"), ("quick/fig14", "14"), ("quick/fig14_opt4", "9")):
            done = subprocess.run([DSE, "check", "experiments/interstellar/%s.yaml" % name], cwd=ROOT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode())
            self.assertRegex(done.stdout.decode(), r"(?m)^points +%s( cells)?$" % n)


if __name__ == "__main__":
    unittest.main()
