#!/usr/bin/env python3
"""What a price costs in Python (plotting/dse.py), on the mappings of bench_library.c: one by one and in a batch, and one by one through ctypes
alone. Prints "name,value,unit"; processor time, the least of several runs counts."""
import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "plotting"))
import dse  # noqa: E402

N, RUNS = 500, 15
layer = dse.machine("simba").layer("resnet50", "conv4_0_b")
rows = layer.draw(N, seed=1)
each = list(rows)
metrics = ("latency_cycle", "energy_j", "edp_js")


def least(work):
    best = float("inf")
    for _ in range(RUNS):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return best / N * 1e6


def one_by_one():
    for row in each:
        layer.price(row)


def through_ctypes():
    """Pointers made beforehand: what a call of the library itself takes."""
    for place in places:
        dse._evaluate(handle, scratch, one, place, width, which, one, value, None, None, none)


layer.price(rows)  # the scratch of this thread
handle, scratch = layer._thread.arguments
places = [ctypes.c_void_p(dse._address(row)) for row in each]
one, none, width, which, value = ctypes.c_size_t(1), ctypes.c_size_t(0), ctypes.c_size_t(layer.width), (ctypes.c_uint32 * 1)(7), (ctypes.c_double * 1)()
for name, work in (("ctypes one by one", through_ctypes), ("price one by one", one_by_one), ("price batch", lambda: layer.price(rows)),
                   ("price batch/3 metrics", lambda: layer.price(rows, metrics))):
    print(f"python/{name},{least(work):.3f},us/mapping")
