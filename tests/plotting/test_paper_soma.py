#!/usr/bin/env python3
"""The figures of SoMa: operations of network files, what is read off sweeps and schedules, heatmaps, bars, and the check list of the artefact."""
import os
import re
import subprocess
import unittest

from figure_case import DSE, HAVE_DSE, HAVE_GNUPLOT, ROOT, Folder, write
import network_file
import paper_heatmap
import paper_scatter
import paper_soma
import paper_stacks
import paper_tools
import soma_points

FOLDER = os.path.join(ROOT, "experiments/soma")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Operations(unittest.TestCase):
    def test_totals_are_those_of_the_published_program(self):
        # Multiply-accumulates and vector operations per sample, from the published program's tables of its networks (4 digits, 2 digits).
        for name, macs, vector in (("resnet50_soma", 3.858e9, 12.9e6), ("resnet101_soma", 7.570e9, 19.8e6),
                                   ("inception_resnet_v1", 6.210e9, 13.8e6), ("randwire_small", 0.928e9, 1.77e6),
                                   ("gpt2_small_prefill512", 4.027e9, 7.9e6), ("gpt2_small_decode513", 7.87e6, 1.2e6),
                                   ("gpt2_xl_prefill1024", 34.8e9, 45.9e6), ("gpt2_xl_decode1025", 34.0e6, 5.0e6)):
            found = network_file.total(network_file.find(name, ROOT))
            self.assertAlmostEqual(found[0] / macs, 1, delta=1e-3, msg=name)
            self.assertAlmostEqual(found[1] / vector, 1, delta=1e-2, msg=name)

    def test_transformer_has_the_operations_that_its_file_says(self):
        path = os.path.join(FOLDER, "networks/transformer_large.yaml")
        said = int(re.search(r"([\d,]+) multiply-accumulates", text_of(path)).group(1).replace(",", ""))
        # By hand: 6 blocks of 4 projections, scores and context, 2 feed-forward layers; 512 tokens, 1024 and 4096 features.
        self.assertEqual(said, 6 * (4 * 512 * 1024 * 1024 + 2 * 512 * 512 * 1024 + 2 * 512 * 1024 * 4096))
        self.assertEqual(network_file.total(path)[0], said)

    def test_utilisation_of_decoding_is_the_published_one(self):
        # The published program's result for GPT-2 small, batch 1: 500,895 cycles; section VI-B prints 0.66 %.
        point = soma_points.Point({"architecture": "soma_edge", "network": "gpt2_small_decode513", "batch": "1", "n_mac": "7866624"})
        self.assertAlmostEqual(100 * point.utilisation(500895), 0.66, delta=0.005)


class Schedules(unittest.TestCase):
    TEXT = ("{soma: 1, network: n, compat: true, groups: [{cut: true, tiles: 4, layers: [a, b]}, {tiles: 2, layers: [c]}, "
            "{tiles: 2, layers: [d]}, {cut: true, tiles: 1, layers: [e]}], tensors: 7, dram: [[0, -1, 2], [3, 0, 1]]}\n")

    def test_stage_1_is_the_schedule_without_its_dram_order(self):
        self.assertEqual(paper_soma.double_buffered(self.TEXT), self.TEXT.split(", tensors")[0] + "}\n")

    def test_tiling_numbers_are_counted(self):
        self.assertEqual(paper_soma.tilings(self.TEXT), "4 2 (2 times) / 1")


class Demands(Folder):
    def test_a_tile_pays_for_the_loads_it_uses_first_and_for_its_stores(self):
        write(self.path("x_tiles.csv"), "position,layer,tile,b,k,h,w,cycle,start_cycle,finish_cycle\n0,a,0,1,2,3,4,10,5,15\n1,a,1,1,2,3,4,10,15,25\n")
        write(self.path("x_tensors.csv"), "kind,dram_order,producer,first_use,start_cycle,finish_cycle,dram_byte\nweights,0,,0,0,5,100\n"
              "ifmap,1,,1,5,10,30\nofmap,2,1,,25,30,7\nofmap,,0,1,,,50\n")
        self.assertEqual(paper_soma.demands(self.folder, "x", {"a": 5}), [(120, 100.0, "a", "0"), (120, 37.0, "a", "1")])
        self.assertEqual(paper_soma.busy(self.folder, "x"), (50.0, 2000 / 30))

    def test_points_near_an_axis_are_counted(self):
        self.assertEqual(paper_soma.near_axes([(1, 0), (0, 1), (1, 1), (0.5, 0.4), (0, 0)]), 50)


class Heatmap(Folder):
    def test_plateau_has_the_cells_that_are_equal_to_two_decimals(self):
        self.assertEqual(paper_heatmap.plateau([[3, 1.004], [None, 1.0], [1.006, 2]]), {(1, 0), (1, 1)})

    def test_outline_of_two_cells_side_by_side_has_six_edges(self):
        self.assertEqual(len(paper_heatmap.edges({(0, 0), (1, 0)})), 6)
        self.assertEqual(sorted(paper_heatmap.edges({(2, 1)})), [(2, 1, 0, 1), (2, 1, 1, 0), (2, 2, 1, 0), (3, 1, 0, 1)])

    def test_gains_are_ratios_over_eight_times_as_much(self):
        values = [[8.0, 4.0, 2.0, 1.0], [4.0, 2.0, 1.0, 1.0]]
        self.assertAlmostEqual(paper_soma.gain_of_bandwidth(values), 32 ** 0.5)
        self.assertAlmostEqual(paper_soma.gain_of_buffer(values), 8 ** 0.25)
        self.assertEqual(paper_soma.within(values, 1.5), {(3, 0), (2, 1), (3, 1)})

    @unittest.skipUnless(HAVE_GNUPLOT, "no gnuplot")
    def test_figures_are_drawn(self):
        panel = paper_heatmap.Panel("a", [[1.0, None], [2.0, 1500.0]], 1.0, 1500.0, 0, 0)
        panel.outlined = {(0, 0)}
        paper_heatmap.draw(self.path("h"), [panel, paper_heatmap.Panel("b", [[1.0, 1.0]] * 2, 1.0, 1.0, 0, 1)], ["1", "2"], ["3", "4"], "x", "y")
        paper_scatter.draw(self.path("s"), [("one", [(0, 0.5), (1, 1)]), ("two", [(0.1, 0.1)])], "x", "y")
        bars = [[[1, 2], None], [[2], [9]]]
        paper_stacks.draw(self.path("b"), [paper_stacks.Panel("y", bars, 5, 1, [3, None], 1, "top"), paper_stacks.Panel("z", bars, 5, 1)],
                          [[("n", "1"), ("n", "2")]] * 2, ["s", "t"], ["#9a9a9a", "#56b4e9"], "most", "note")
        for name in ("h.png", "s.png", "b.png"):
            self.assertGreater(os.path.getsize(self.path(name)), 3000)


class Paper(unittest.TestCase):
    def test_figures_and_expected_rows_name_the_same(self):
        rows = paper_tools.read_table(os.path.join(FOLDER, "expected.csv"))
        self.assertEqual({row["figure"] for row in rows}, set(paper_soma.FIGURES))

    def test_paper_s_means_are_arithmetic(self):
        # Section VI-B: the six networks' numbers, and the averages that it prints for all of them.
        rows = {row["key"]: row["paper"] for row in paper_tools.read_table(os.path.join(FOLDER, "expected.csv")) if row["figure"] == "fig6"}
        for what, average in (("speedup", 2.11), ("energy", 37.3)):
            numbers = [float(rows["%s_%s" % (what, key)]) for key, *_ in soma_points.NETWORKS]
            self.assertAlmostEqual(sum(numbers) / 6, average, delta=0.05)
            self.assertEqual(float(rows[what]), average)

    @unittest.skipUnless(HAVE_DSE, "no program")
    def test_specifications_have_the_points_of_the_paper(self):
        # Artefact: 96 of Fig. 6, and 2 networks x 3 batches x 4 buffers x 7 bandwidths x 2 schedulers of Fig. 7; 12 are in both.
        for name, n in (("fig6", "96 of 128"), ("fig7", "336"), ("artefact/checklist", "420 of 3,584"), ("quick/fig6", "48 of 64"),
                        ("quick/fig7", "112"), ("quick/fig6_parallel", "24 of 32"), ("quick/fig6_plus", "12 of 16")):
            done = subprocess.run([DSE, "check", "experiments/soma/%s.yaml" % name], cwd=ROOT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode())
            self.assertRegex(done.stdout.decode(), r"(?m)^points +%s( cells)?$" % re.escape(n))


if __name__ == "__main__":
    unittest.main()
