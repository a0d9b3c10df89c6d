#!/usr/bin/env python3
"""Every dataset of the cube is the same for 1, 2 and 4 threads, of 3 shards and after interruptions, the last one by kill -9, apart from
the search times.
Tests: runner.c."""
import os
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

SPECS = ["""experiment: same
architecture: simba
network: resnet50
layers: [conv1, conv2_0_a, conv2_0_b, conv3_1_c, fc]
engine: descent
limits: {max_evaluations: 3000}
axes:
  GlobalBuffer.capacity: [32 KiB, 128 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
  PE.mesh: [2x2, 4x4]
""", """experiment: same
network: mobilenet_v1
layers: [conv1, conv2_dw, conv3_pw, conv5_dw]
objective: energy
limits: {max_evaluations: 3000}
axes:
  engine: [interstellar, descent, hybrid]
  accounting: [interstellar, interstellar-compat]
  architecture: [simba, eyeriss_16x16]
  batch: [1, 3]
""", """experiment: same
architecture: eyeriss_16x16
network: resnet50
layers: [conv2_0_a, conv4_0_a, conv4_1_a, conv5_0_c, fc]
engine: optimal
axes:
  GlobalBuffer.capacity: [32 KiB, 64 KiB, 128 KiB]
  DRAM.bandwidth: [1 GB/s, 2 GB/s, 4 GB/s, 8 GB/s]
"""]
DSE = os.environ["DSE"]


def datasets(path):
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: value for name, value in found.items() if name.split("/")[-1] != "seconds"}


def same(a, b):
    if a.dtype.kind == "f":
        return a.shape == b.shape and numpy.array_equal(a, b, equal_nan=True)
    return a.shape == b.shape and (a == b).all()


def compare(number, text):
    """How many datasets of this sweep differ or are missing."""
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "same.yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text)
        outs = []
        for threads in (1, 2, 4):
            outs.append(os.path.join(folder, f"t{threads}.h5"))
            subprocess.run([DSE, "run", spec, "-o", outs[-1], "-j", str(threads)], check=True, stderr=subprocess.DEVNULL)
        outs.append(os.path.join(folder, "merged.h5"))
        for shard in (1, 2, 3):
            subprocess.run([DSE, "run", spec, "-o", outs[-1], "--shard", f"{shard}/3"], check=True, stderr=subprocess.DEVNULL)
        shards = [os.path.join(folder, f"merged.{shard}-of-3.h5") for shard in (1, 2, 3)]
        subprocess.run([DSE, "merge", outs[-1], *shards], check=True, stderr=subprocess.DEVNULL)
        outs.append(os.path.join(folder, "resumed.h5"))
        command = [DSE, "run", spec, "-o", outs[-1], "-j", "1"]
        for wait, how in ((0.05, signal.SIGTERM), (0.1, signal.SIGTERM), (0.2, signal.SIGTERM), (0.2, signal.SIGKILL)):
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
                time.sleep(wait)
                run.send_signal(how)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        first = datasets(outs[0])
        n_bad = len(first) < 20
        for out in outs[1:]:
            other = datasets(out)
            if first.keys() != other.keys():
                print(f"sweep {number}, {out}: other datasets: {sorted(first.keys() ^ other.keys())}")
                n_bad += 1
            for name in first.keys() & other.keys():
                if not same(first[name], other[name]):
                    print(f"sweep {number}, {os.path.basename(out)}: {name} differs")
                    n_bad += 1
        print(f"sweep {number}: {len(first)} datasets in {len(outs)} files compared, {n_bad} bad")
        return n_bad


def main():
    return 1 if sum(compare(number, text) for number, text in enumerate(SPECS)) else 0


if __name__ == "__main__":
    sys.exit(main())
