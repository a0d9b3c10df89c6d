#!/usr/bin/env python3
"""The attribute `libraries` of a result file names the libraries that the program is linked with, no others, and the versions that are
installed."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import h5py

DSE = os.environ["DSE"]
SPEC = """experiment: libraries
architecture: simba
network: resnet50
layers: [fc]
engine: random
limits: {max_evaluations: 10}
axes:
  seed: [1]
"""
# What a file that the program needs is a part of. HDF5 has two files; the rest of glibc's counts as glibc.
PART_OF = {"yaml-0": "libyaml", "xxhash": "xxHash", "hdf5_serial": "HDF5", "hdf5_serial_hl": "HDF5", "glpk": "GLPK",
           "gsl": "GSL", "protobuf-c": "protobuf-c", "csv": "libcsv", "gomp": "OpenMP", "omp": "OpenMP", "c": "glibc", "m": "glibc"}
PKG_CONFIG = {"libyaml": "yaml-0.1", "xxHash": "libxxhash", "HDF5": "hdf5-serial", "GSL": "gsl", "protobuf-c": "libprotobuf-c"}
PACKAGE = {"GLPK": "libglpk-dev", "libcsv": "libcsv-dev"}  # these two know nothing of pkg-config


def said_by(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            spec, out = os.path.join(folder, "spec.yaml"), os.path.join(folder, "out.h5")
            with open(spec, "w", encoding="ascii") as file:
                file.write(SPEC)
            subprocess.run([DSE, "run", spec, "-o", out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with h5py.File(out, "r") as file:
                text = file.attrs["libraries"]
        text = text.decode() if isinstance(text, bytes) else text
        cls.named = dict(entry.rsplit(" ", 1) for entry in text.split(", "))

    def test_they_are_those_linked(self):
        needed = re.findall(r"\(NEEDED\).*\[lib([^\]]*?)\.so[.\d]*\]", said_by("readelf", "-d", DSE))
        self.assertGreater(len(needed), 5)
        self.assertEqual(set(self.named), {PART_OF.get(name, "unknown: " + name) for name in needed})

    def test_versions_are_those_installed(self):
        for name, package in PKG_CONFIG.items():
            self.assertEqual(self.named[name], said_by("pkg-config", "--modversion", package).strip(), name)
        for name, package in PACKAGE.items() if shutil.which("dpkg-query") else ():
            installed = said_by("dpkg-query", "-W", "-f=${Version}", package)
            self.assertEqual(self.named[name], re.match(r"[\d.]+", installed).group(), name)
        self.assertEqual("glibc " + self.named["glibc"], os.confstr("CS_GNU_LIBC_VERSION"))


if __name__ == "__main__":
    unittest.main()
