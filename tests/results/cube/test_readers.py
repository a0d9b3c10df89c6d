#!/usr/bin/env python3
"""The sample's files open, without options, in the readers users have: h5py, xarray with both engines, ncdump, h5dump,
pandas, gnuplot; and plotting/dse_results.py reads them. The expected values are those of tests/results/sample.h.
Tests: cube_hdf5.c."""
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.getcwd()
BUILD = os.path.join(os.environ.get("BUILD", "build"), os.environ.get("VARIANT", "release"))
MAKER = os.path.join(ROOT, BUILD, "tests/results/cube/test_cube")
sys.path.insert(0, os.path.join(ROOT, "plotting"))

AXES = ["global_buffer_byte", "dram_byte_per_s", "network"]
SHAPE = (3, 4, 2)


def latency_s(buffer, bandwidth, network):
    """sample_latency of tests/results/sample.h."""
    traffic = 1e7 * (1 + network) / math.sqrt([65536, 131072, 262144][buffer] / 65536)
    return max(traffic / [4e9, 8e9, 1.6e10, 3.2e10][bandwidth], 1e-3)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


@unittest.skipUnless(os.path.exists(MAKER), "build the tests first: make tests")
class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.h5 = os.path.join(cls.folder, "o.h5")
        cls.csv = os.path.join(cls.folder, "o.csv")
        subprocess.run([MAKER, "--sample", cls.h5], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def check_dataset(self, dataset):
        self.assertEqual(list(dataset["energy_j"].dims), AXES)
        self.assertEqual(dataset["energy_j"].shape, SHAPE)
        self.assertEqual(list(dataset["network"].values), ["alexnet", "r\u00e9snet"])
        self.assertIn("dram_preset", dataset.coords)
        self.assertEqual(dataset["dram_preset"].values[3], 'DDR4, "fast"')
        self.assertEqual(dataset["latency_s"].attrs["units"], "s")
        self.assertEqual(dataset["latency_s"].attrs["long_name"], "Latency")
        self.assertEqual(list(dataset["dram_byte_per_s"].attrs["labels"])[2], "16 GB/s")
        at = dataset["latency_s"].sel(global_buffer_byte=131072, dram_byte_per_s=8e9, network="alexnet")
        self.assertEqual(float(at), latency_s(1, 1, 0))
        # Cell 5 (0, 2, 1) is infeasible, cell 23 (2, 3, 1) was never computed.
        self.assertTrue(math.isnan(dataset["latency_cycle"].values[0, 2, 1]))
        self.assertEqual(dataset["status"].values[0, 2, 1], "infeasible")
        self.assertIn("133,888 B", dataset["reason"].values[0, 2, 1])
        self.assertTrue(math.isnan(dataset["latency_s"].values[2, 3, 1]))
        self.assertEqual(dataset["status"].values[2, 3, 1], "")
        self.assertEqual(dataset.attrs["specification"], "name: sample\naxes:\n  - a: [1, 2]\n")
        self.assertEqual(int(dataset.attrs["n_point"]), 23)
        self.assertEqual((int(dataset.attrs["shard"]), int(dataset.attrs["n_shard"])), (1, 1))
        self.assertIn("batch=2", dataset.attrs["set"])
        self.assertIn("HDF5 1.", dataset.attrs["libraries"])

    def check_groups(self, engine):
        import xarray
        with xarray.open_dataset(self.h5, engine=engine, group="layers") as layers:
            self.assertEqual(list(layers["energy_j"].dims), AXES + ["layer"])
            self.assertEqual(list(layers["level_energy_j"].dims), AXES + ["layer", "level"])
            self.assertEqual(list(layers["network"].values), ["alexnet", "r\u00e9snet"])
            one = layers.sel(layer="conv2_a", network="r\u00e9snet").isel(global_buffer_byte=0, dram_byte_per_s=0)
            self.assertEqual(one["mapping"].item(), "{DRAM: \"C4 K2\", GlobalBuffer: 'P7 Q7'}")
            self.assertEqual(one["count"].item(), 2)
            self.assertEqual(layers["status"].sel(layer="conv2_a", network="alexnet").values[0, 0], "")
            self.assertEqual(layers["mapping"].values[2, 3, 1, 0], "")
        with xarray.open_dataset(self.h5, engine=engine, group="levels") as levels:
            self.assertEqual(float(levels["energy_j"].sel(level="DRAM").values[1, 0, 0]), 1e-3)
        with xarray.open_dataset(self.h5, engine=engine, group="trace") as trace:
            self.assertEqual(list(trace["cost"].sel(layer="conv1").values[0, 0, 0]), [0.5, 0.25, 0.125])
            self.assertEqual(list(trace["seconds"].sel(layer="conv1").values[0, 0, 0]), [0.001, 0.02, 0.3])

        with xarray.open_dataset(self.h5, engine=engine, group="inputs") as inputs:
            self.assertEqual(list(inputs["content"].dims), ["input"])
            self.assertEqual(list(inputs["input"].values), ["sample.yaml", "r\u00e9snet"])
            self.assertEqual(list(inputs["role"].values), ["specification", "network"])
            self.assertEqual(inputs["content"].sel(input="r\u00e9snet").item(), "layers: []\n")
            self.assertEqual(inputs["path"].values[1], "networks/resnet.yaml")

    def test_xarray_with_netcdf4_labels_every_axis(self):
        import xarray
        with xarray.open_dataset(self.h5, engine="netcdf4") as dataset:
            self.check_dataset(dataset)
        self.check_groups("netcdf4")

    def test_xarray_with_h5netcdf_labels_every_axis(self):
        import xarray
        with xarray.open_dataset(self.h5, engine="h5netcdf") as dataset:
            self.check_dataset(dataset)
        self.check_groups("h5netcdf")

    def test_h5py_sees_scales_on_every_dimension(self):
        import h5py
        with h5py.File(self.h5, "r") as file:
            def check(name, item):
                if isinstance(item, h5py.Dataset) and not h5py.h5ds.is_scale(item.id):
                    for axis in range(item.ndim):
                        self.assertEqual(len(item.dims[axis]), 1, f"{name}, dimension {axis}")
                        self.assertEqual(item.dims[axis][0].shape[0], item.shape[axis])
                    if item.dtype.kind in "fu" and not name.split("/")[-1] in AXES:
                        self.assertTrue(item.shuffle and item.fletcher32 and item.compression == "gzip", name)
            file.visititems(check)
            text = file["network"].dtype
            self.assertIsNone(h5py.check_string_dtype(text).length)
            self.assertEqual(h5py.check_string_dtype(text).encoding, "utf-8")
            self.assertEqual([dim[0].name for dim in file["energy_j"].dims], ["/" + axis for axis in AXES])

    def test_ncdump_shows_axes_in_declared_order(self):
        code, text = run("ncdump", self.h5)
        self.assertEqual(code, 0, text[-500:])
        self.assertIn("double latency_s(global_buffer_byte, dram_byte_per_s, network) ;", text)
        self.assertIn('string latency_s:units = "s" ;', text)
        self.assertIn("group: layers {", text)
        dimensions = text[text.index("dimensions:"):text.index("variables:")]
        self.assertLess(dimensions.index(AXES[0]), dimensions.index(AXES[1]))
        self.assertLess(dimensions.index(AXES[1]), dimensions.index(AXES[2]))

    def test_h5dump_reads_every_dataset(self):
        code, text = run("h5dump", self.h5)
        self.assertEqual(code, 0, text[-500:])
        self.assertIn('DATASET "mapping"', text)

    def test_pandas_reads_both_tables_without_options(self):
        import pandas
        points = pandas.read_csv(self.csv)
        self.assertEqual(len(points), 23)
        self.assertEqual(list(points.columns[:6]), AXES[:2] + ["dram_preset", "network", "status", "reason"])
        self.assertEqual(points.columns[-1], "checksum")
        self.assertEqual(points["energy_j"].dtype.kind, "f")
        self.assertEqual(points["evaluations"].dtype.kind, "i")
        self.assertEqual(sorted(set(points["status"])), ["infeasible", "ok"])
        self.assertIn('DDR4, "fast"', set(points["dram_preset"]))
        parts = points[["energy_mac_j", "energy_buffer_j", "energy_noc_j", "energy_dram_j"]].sum(axis=1, skipna=False)
        self.assertTrue(((parts - points["energy_j"]).abs().dropna() < 1e-15).all())
        layers = pandas.read_csv(os.path.join(self.folder, "o.layers.csv"))
        self.assertEqual(len(layers), int(points["n_layer"].sum()))
        self.assertEqual(set(layers["layer"]), {"conv1", "conv2_a", "fc"})

    def test_gnuplot_reads_the_table_by_column_names(self):
        out = os.path.join(self.folder, "points.txt")
        script = (f"set datafile separator comma; set table '{out}'; "
                  f"plot '{self.csv}' using 'dram_byte_per_s':'latency_s' with points")
        code, text = run("gnuplot", "-d", "-e", script)
        self.assertEqual(code, 0, text)
        with open(out, encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
        drawn = [(float(row[0]), float(row[1])) for row in rows if row[-1] == "i"]
        self.assertEqual(len(drawn), 22)
        self.assertIn((8e9, 0.00125), drawn)  # alexnet with 64 KiB: 10 MB at 8 GB/s

    def test_dse_results_opens_tidies_and_finds_the_best(self):
        import dse_results
        self.check_dataset(dse_results.open(self.h5))
        self.assertEqual(dse_results.labels(dse_results.open(self.h5), "global_buffer_byte"),
                         ["64 KiB", "128 KiB", "256 KiB"])
        from_h5, from_csv = dse_results.tidy(self.h5), dse_results.tidy(self.csv)
        self.assertEqual(len(from_h5), len(from_csv))
        self.assertEqual(list(from_h5.columns[:4]), AXES[:2] + ["dram_preset", "network"])
        for source in (self.h5, self.csv):
            found = dse_results.best(source, "latency_s", over=["dram_byte_per_s", "dram_preset"])
            self.assertEqual(len(found), 6)  # 3 buffers x 2 networks
            self.assertEqual(found["latency_s"].max(), 1e-3)
            self.assertEqual(len(dse_results.best(source, "utilization")), 1)
        with self.assertRaises(KeyError):
            dse_results.best(self.h5, "latenzy_s")
        with self.assertRaises(KeyError):
            dse_results.best(self.h5, "latency_s", over="buffer")

    def test_dse_results_prints_a_summary(self):
        script = os.path.join(ROOT, "plotting/dse_results.py")
        code, text = run(sys.executable, script, self.h5)
        self.assertEqual(code, 0, text)
        self.assertIn("A made-up sweep", text)
        self.assertIn("points: 23 of 23 (22 ok, 1 infeasible)", text)
        self.assertIn("best edp_js: ", text)
        self.assertIn("infeasible: GlobalBuffer needs 133,888 B", text)
        self.assertEqual(run(sys.executable, script, "/nonexistent.h5")[0], 2)
        self.assertEqual(run(sys.executable, script)[0], 2)


if __name__ == "__main__":
    unittest.main()
