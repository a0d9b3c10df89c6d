#!/usr/bin/env python3
"""plotting/dse.py: the blocks of docs/python.md run, and the search of the reader's own comes near the proved optimum; prices are those of the
program, from several threads too, with and without numpy and pandas; what is wrong is a sentence; Ctrl-C ends a search.
Expected numbers are the program's own answers to the same question (`dse sample`, `dse eval`, `dse map`).
LIBRARY_EVALS=200: so many mappings through `dse eval` instead of a few."""
import csv
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DSE = os.path.abspath(os.environ.get("DSE", os.path.join(ROOT, "build", "dse")))
VARIANT = os.environ.get("VARIANT", "release")
os.environ["DSE_LIBRARY"] = os.path.join(os.path.dirname(DSE), "libdse.so")
if VARIANT == "tsan":
    sys.exit(77)  # the sanitizer has to be there before Python is
if VARIANT == "asan" and "libasan" not in os.environ.get("LD_PRELOAD", ""):
    names = [subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], text=True, capture_output=True).stdout.strip() for name in ("asan", "ubsan")]
    os.environ.update(LD_PRELOAD=" ".join(names), ASAN_OPTIONS="detect_leaks=0")  # Python leaks at its end
    os.execv(sys.executable, [sys.executable, "-B", *sys.argv])
N_EVAL = int(os.environ.get("LIBRARY_EVALS", "3"))
sys.path.insert(0, os.path.join(ROOT, "plotting"))
import dse  # noqa: E402

csv.field_size_limit(1 << 27)
QUESTION = ("simba", "resnet50", "conv1")


def said(*command, text=None):
    return subprocess.run([DSE, *command], check=True, text=True, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def run_python(source, *, before="", **more):
    """Python in a process of its own."""
    return subprocess.run([sys.executable, "-B", "-c", before + textwrap.dedent(source)], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "plotting")}, **more)


class Page(unittest.TestCase):
    def test_the_blocks_run(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 8)
        space, here = {"print": lambda *words: None}, os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for block in blocks:
                    exec(compile(block, "docs/python.md", "exec"), space)
            finally:
                os.chdir(here)
        own, optimum = space["best_of_mine"], space["optimum"]
        self.assertGreaterEqual(own, optimum.edp_js * (1 - 1e-12))
        self.assertLess(own, 1.1 * optimum.edp_js)
        self.assertEqual(optimum.stop, "optimal")
        self.assertEqual(len(space["table"]), 2)
        self.assertEqual(sum(map(len, space["parts"])), 2000)
        latency, energy = zip(*((point.latency_s, point.energy_j) for point in space["front"]))
        self.assertEqual(list(latency), sorted(latency))
        self.assertEqual(list(energy), sorted(energy, reverse=True))


class Prices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.layer = dse.machine("simba", {"DRAM.bandwidth": "10 GB/s"}).layer(*QUESTION[1:])
        where = ["--set", "DRAM.bandwidth=10 GB/s"]
        cls.listed = list(csv.DictReader(io.StringIO(said("sample", *QUESTION, "-n", "200", "-s", "5", "--mapping", *where))))
        cls.where = where

    def test_draws_and_prices_are_the_programs(self):
        rows = self.layer.draw(200, seed=5)
        names = ("latency_cycle", "latency_s", "energy_j", "edp_js", "utilization")
        expected = [tuple(float(row[name]) for name in names) for row in self.listed]
        self.assertEqual([tuple(values) for values in self.layer.price(rows, names)], expected)
        self.assertEqual([self.layer.price(row, names) for row in rows], expected)
        self.assertEqual([self.layer.price(list(map(int, row)), names) for row in rows[:3]], expected[:3])
        read = [self.layer.read(row["mapping"]) for row in self.listed]
        self.assertTrue((rows == read).all())
        self.assertEqual([self.layer.write(row, "line").strip() for row in rows], [row["mapping"].strip() for row in self.listed])

    def test_dse_eval_says_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            for row in self.listed[:N_EVAL]:
                path = os.path.join(folder, "m.yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(row["mapping"])
                summary = dict(csv.reader(io.StringIO(said("eval", "simba", "resnet50:conv1", path, "-r", "summary", "-f", "csv", *self.where))))
                mine = self.layer.evaluate(row["mapping"])
                for name in ("latency_cycle", "utilization"):
                    self.assertEqual(float(summary[name]), mine[name])
                # dse eval adds up the plain evaluation's parts: another order, as in tests of the fast one
                self.assertLess(abs(float(summary["energy_j"]) / mine["energy_j"] - 1), 1e-14)

    def test_threads_get_the_same(self):
        rows = self.layer.draw(200, seed=5)
        alone = self.layer.price(rows)
        with ThreadPoolExecutor(4) as pool:
            for together in pool.map(lambda i: self.layer.price(rows) if i % 2 else [self.layer.price(row) for row in rows], range(8)):
                self.assertEqual(list(together), list(alone))

    def test_a_search_is_the_programs(self):
        row = next(csv.DictReader(io.StringIO(said("map", "simba", "resnet50", "-l", "conv1", "-e", "annealing", "-n", "300", "-s", "2", "-f", "csv",
                                                   *self.where))))
        found = self.layer.map(engine="annealing", max_evaluations=300, seed=2)
        for name in ("latency_cycle", "energy_j", "edp_js", "bound_edp_ratio", "evaluations"):
            self.assertEqual(float(row[name]), found[name])
        self.assertEqual(self.layer.price(found.mapping), found.edp_js)
        self.assertEqual((self.layer.read(found.text) == found.mapping).all(), True)
        self.assertRegex(repr(found), r"<conv1: [\d,]+ cycles, .* J s, .* times the bound; max_evaluations>")

    def test_padded_mappings_know_their_layer(self):
        found = dse.machine("simba_tablev").layer("alexnet", "conv5").map(engine="cosa", options={"pad": 7})
        self.assertEqual(found.padded, "P 13->14, Q 13->14")
        self.assertEqual(found.layer.price(found.mapping), found.edp_js)
        self.assertIn("Q in 0..", found.nest())

    def test_arrays_of_any_kind_are_taken_or_refused(self):
        rows = self.layer.draw(4, seed=5)
        cost = list(self.layer.price(rows))
        for same in (rows.astype("int64"), rows[::1], rows.tolist(), rows.copy(order="F"), rows.astype("uint16")):
            self.assertEqual(list(self.layer.price(same)), cost)
        frozen = rows[0].copy()
        frozen.flags.writeable = False
        self.assertEqual(self.layer.price(frozen), cost[0])
        self.assertEqual(list(self.layer.price(rows[:1])), cost[:1])
        self.assertEqual(len(self.layer.price(rows[:0])), 0)
        for bad in (rows.astype(float), rows[:, :-1], rows[0, :5], rows[None], [1, 2], [], None, [[1], [1, 2]], "mapping: []", rows.astype("int64") << 33, {}):
            with self.assertRaises(dse.Error, msg=repr(bad)):
                self.layer.price(bad)
        with self.assertRaisesRegex(dse.Error, "no metric 'edp'"):
            self.layer.price(rows, "edp")

    def test_what_does_not_fit_is_nan_with_a_reason(self):
        rows = self.layer.draw(3, seed=5)
        self.layer.parts(rows).temporal[1, 0, 0] = 0
        cost = self.layer.price(rows)
        self.assertEqual([value == value for value in cost], [True, False, True])
        self.assertIn("is 0, less than 1", self.layer.explain(rows[1]))
        with self.assertRaisesRegex(dse.Error, "does not fit"):
            self.layer.evaluate(rows[1])
        self.assertEqual(list(self.layer.evaluate(rows)["edp_js"].isna()), [False, True, False])


class Sentences(unittest.TestCase):
    def test_errors_are_the_programs(self):
        layer = dse.machine("simba").layer(*QUESTION[1:])
        for words, call in (
                ("did you mean simba", lambda: dse.machine("simbo")), ("empty", lambda: dse.machine("")),
                ("DRAM.bandwidth", lambda: dse.machine("simba", {"DRAM.width": 1})), ("byte 0", lambda: dse.machine("a\0b")),
                ("no value", lambda: dse.machine("simba", {"DRAM.bandwidth": ""})), ("unknown network", lambda: dse.network("nothing")),
                ("has no layer", lambda: dse.machine("simba").layer("resnet50", "conv0")), ("choose one", lambda: dse.machine("simba").layer("resnet50")),
                ("type", lambda: dse.machine("simba").layer({"C": 3})), ("did you mean cosa", lambda: layer.map(engine="casa")),
                ("seed=-1", lambda: layer.map(seed=-1)), ("schedules whole networks", lambda: layer.map(engine="soma")),
                ("mapping:1:", lambda: layer.read("mapping: [{}]")), ("no form", lambda: layer.write(layer.draw(1)[0], "prose")),
                ("n=-1: a whole number", lambda: layer.draw(-1)), ("batch=0.5", lambda: dse.machine("simba").layer("alexnet", "fc8", batch=0.5)), ("the network:1:", lambda: dse.machine("simba").layer({"type": 'conv"', "\n": []})),
                ("/no/such/file", lambda: layer.map(constraints="/no/such/file"))):
            with self.assertRaisesRegex(dse.Error, re.escape(words)):
                call()

    def test_flags_end_searches(self):
        flag = dse.Flag()
        flag.set()
        with self.assertRaises(dse.Cancelled):
            dse.machine("simba").map("resnet50", engine="genetic", cancel=flag)

    def test_objects_show_themselves(self):
        machine = dse.machine("simba", {"PE.mesh": "2x2"})
        self.assertEqual(repr(machine), "dse.machine('simba', {'PE.mesh': '2x2'})")
        self.assertEqual(repr(dse.network("alexnet")), "dse.network('alexnet')  # 11 layers")
        self.assertEqual(repr(machine.layer({"type": "linear", "C": 4, "K": 2})), "<dse.Layer problem of problem on simba: "
                         "R=1 S=1 P=1 Q=1 C=4 K=2 N=1>")
        network = dse.network("alexnet")
        self.assertEqual(machine.layer(network, network.layers[0]).name, network.layers[0]["name"])

    def test_a_library_that_is_not_there(self):
        done = run_python("import dse", before="import os; os.environ['DSE_LIBRARY'] = '/no/libdse.so'\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: libdse.so cannot be loaded", done.stderr)


class Processes(unittest.TestCase):
    def test_the_standard_library_is_enough(self):
        """Without numpy and pandas: the same numbers from lists."""
        done = run_python("""
            layer = dse.machine("simba", {"DRAM.bandwidth": "10 GB/s"}).layer("resnet50", "conv1")
            rows = layer.draw(5, seed=5)
            assert dse.numpy is None and [layer.price(row) for row in rows] == layer.price(rows)
            assert layer.price(rows, ("edp_js", "energy_j"))[0] == (layer.price(rows[0]), layer.evaluate(rows)[0]["energy_j"])
            assert list(layer.read(layer.write(rows[2]))) == list(rows[2])
            found = layer.map(engine="random", max_evaluations=20)
            assert layer.price(found.mapping) == found.edp_js and layer.evaluate(found.text)["edp_js"] == found.edp_js
            for bad in (rows[0][:-1], [rows[0], rows[0][:-1]], ["a"], 7, [2 ** 40] * layer.width):
                try:
                    layer.price(bad)
                    raise SystemExit(f"{bad} is taken")
                except dse.Error:
                    pass
            print(*layer.price(rows))""", before="import sys; sys.modules['numpy'] = sys.modules['pandas'] = None\nimport dse\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = dse.machine("simba", {"DRAM.bandwidth": "10 GB/s"}).layer(*QUESTION[1:])
        self.assertEqual([float(word) for word in done.stdout.split()], list(expected.price(expected.draw(5, seed=5))))

    def test_ctrl_c_ends_a_search(self):
        """KeyboardInterrupt, though the search would take hours."""
        source = """
            import dse, signal
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
            layer = dse.machine("simba").layer("resnet50", "conv1")
            print("ready", flush=True)
            try:
                layer.map(engine="random", options={"search_size": 10 ** 12})
            except KeyboardInterrupt:
                print("interrupted", layer.price(layer.draw(1)[0]) > 0, signal.getsignal(signal.SIGINT) is signal.default_int_handler)"""
        with subprocess.Popen([sys.executable, "-B", "-c", textwrap.dedent(source)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "plotting")}) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.2)  # into the search
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=60)
            finally:
                process.kill()  # which does nothing to one that has ended
        self.assertEqual((out, process.returncode), ("interrupted True True\n", 0), err)


if __name__ == "__main__":
    unittest.main()
