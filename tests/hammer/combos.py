#!/usr/bin/env python3
"""One sweep by 1, 2, 4 and 7 threads, as 1, 3 and 8 shards, with and without interruptions: 24 times the same files. Then by worker
processes, and with an engine that crashes among good ones.

usage: combos.py        DSE=build/dse; about five minutes

The sweep has mappers and schedulers, filters, linked axes, infeasible points, and points whose machine cannot be built. Interrupted runs get
SIGTERM and kill -9 in turn, and go on with another number of threads.
"""
import collections
import csv
import itertools
import os
import random
import signal
import sys
import time

import common

NETWORK = """network: small
input: {C: 8, H: 14, W: 14}
layers:
- {name: a, type: conv, C: 8, K: 16, P: 14, Q: 14, R: 3, S: 3, pad: 1, from: input}
- {name: b, type: conv, C: 16, K: 32, P: 14, Q: 14, from: a}
- {name: c, type: conv, C: 16, K: 32, P: 14, Q: 14, from: a}
- {name: d, type: conv, C: 32, K: 16, P: 14, Q: 14, from: b}
"""
# GBUF.capacity 64 B holds nothing; 256 MiB by a rule of 100 for each 2 MiB costs more than any number.
SPEC = """experiment: combos
architecture: soma_edge
network: net.yaml
limits: {max_evaluations: 400}
axes:
  engine: ENGINES
  GBUF.capacity: [64 B, 64 KiB, 8 MiB, 256 MiB]
  GBUF.energy_rule.factor: [1.1, 100]
  DRAM.bandwidth: [4 GB/s, 16 GB/s, 32 GB/s]
  clock: [500 MHz, 1 GHz, 2 GHz]
  batch: [1, 2, 3]
  seed: [1, 2]
zip: [[DRAM.bandwidth, clock]]
skip: [{batch: 3, engine: soma}, {GBUF.energy_rule.factor: 100, GBUF.capacity: [64 B, 64 KiB]}]
only: [{batch: [1, 3]}, {seed: 1}]
"""
GOOD = "[random, descent, drill, unfused, soma]"
THREADS, SHARDS = (1, 2, 4, 7), (1, 3, 8)


class Combos:
    def __init__(self, folder):
        self.folder = folder
        self.report = common.Report("combos")
        self.random = random.Random(24)
        self.n_stop = collections.Counter()
        folder.write("net.yaml", NETWORK)
        self.spec = folder.write("combos.yaml", SPEC.replace("ENGINES", GOOD))

    def run(self, *args, code=0):
        got, err = common.dse("run", *args)
        self.report.check(got == code, " ".join(map(str, args)), f"exit code {got}: {err}")

    def interrupt(self, args, seconds):
        """Stop the command two or three times, in turn by SIGTERM and kill -9, each time with another number of threads."""
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            process = common.start("run", *args, "-j", self.random.choice(THREADS))
            time.sleep(self.random.random() * seconds)
            if process.poll() is not None:
                break
            common.kill(process.pid, number)
            self.n_stop[number] += 1
            process.wait(common.TIMEOUT_S)

    def combination(self, threads, shards, interrupted):
        name = f"t{threads}s{shards}{'i' if interrupted else ''}"
        out = self.folder.join(name + ".h5")
        parts = []
        for k in range(1, shards + 1):
            args = [self.spec, "-o", out] + (["--shard", f"{k}/{shards}"] if shards > 1 else [])
            if interrupted:
                self.interrupt(args, self.seconds / shards)
            self.run(*args, "-j", threads, code=1)
            parts.append(self.folder.join(f"{name}.{k}-of-{shards}.h5"))
        if shards > 1:
            code, err = common.dse("merge", out, *self.random.sample(parts, len(parts)))
            self.report.check(code == 0, f"merge of {name}", err)
        found = common.differences(self.reference, out)
        self.report.check(not found, name, "; ".join(found[:4]))
        for path in parts + [out]:
            for end in (".h5", ".csv", ".layers.csv"):
                if os.path.exists(path[:-3] + end) and path != self.reference:
                    os.unlink(path[:-3] + end)
        return not found

    def count(self, out):
        with open(out[:-3] + ".csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        tally = collections.Counter(row["status"] for row in rows)
        engines = {row["engine"] for row in rows if row["status"] == "ok"}
        return tally, engines

    def isolation(self):
        out = self.folder.join("process.h5")
        self.run(self.spec, "-o", out, "-j", 2, "--isolation", "process", code=1)
        found = common.differences(self.reference, out)
        self.report.check(not found, "--isolation process", "; ".join(found[:4]))
        all_found = found
        out = self.folder.join("mixed.h5")
        for number, how in enumerate(("process", "auto", "thread", "process", "auto")):
            process = common.start("run", self.spec, "-o", out, "-j", 2, "--isolation", how)
            time.sleep(self.seconds / 6)
            common.kill(process.pid, signal.SIGKILL if number % 2 else signal.SIGTERM)
            process.wait(common.TIMEOUT_S)
        self.run(self.spec, "-o", out, "-j", 2, code=1)
        found = common.differences(self.reference, out)
        self.report.check(not found, "isolation changed at every interruption", "; ".join(found[:4]))
        self.report.figure("worker processes: the same files; isolation changed at every interruption: the same files"
                           if not found + all_found else "isolation: files differ")

    def crashing(self):
        """The drill crashes; the rows of the other engines are those of the sweep without a fault."""
        out, whole = self.folder.join("crash.h5"), []
        spec = self.folder.write("crash.yaml", SPEC.replace("ENGINES", GOOD).replace(
            "limits:", "options: {drill: {fault: segfault, fault_every: 2}}\nlimits:"))
        for threads in (1, 4):
            self.run(spec, "-o", out, "-j", threads, "--fresh", code=1)
            with open(out[:-3] + ".csv", newline="", encoding="utf-8") as file, \
                    open(self.reference[:-3] + ".csv", newline="", encoding="utf-8") as good:
                bad = list(csv.DictReader(file))
                good = {self.place(row): row for row in csv.DictReader(good)}
            differ = [row for row in bad if self.content(row) != self.content(good[self.place(row)])]
            crashed = [row for row in bad if "SIGSEGV" in row["reason"]]
            self.report.check(len(bad) == len(good) and crashed and crashed == differ and
                              all(row["engine"] == "drill" and row["seed"] == "2" for row in crashed), "crashing drill",
                              f"{len(bad)} rows, {len(crashed)} crashed, {len(differ)} differ: {differ[:1]}")
            whole.append(len(crashed))
        self.report.figure(f"an engine that crashes among good ones: {whole[0]} rows say SIGSEGV, {len(good) - whole[0]} rows as without")

    @staticmethod
    def place(row):
        return tuple(itertools.takewhile(lambda item: item[0] != "status", row.items()))

    @staticmethod
    def content(row):
        keep = {key: value for key, value in row.items() if key not in ("seconds", "trace_seconds", "checksum")}
        if row["engine"] == "drill":
            del keep["point_key"]  # of another specification: fault_every is an option of the drill
        return keep

    def all(self):
        self.reference = self.folder.join("reference.h5")
        began = time.monotonic()
        self.run(self.spec, "-o", self.reference, "-j", 1, code=1)
        self.seconds = time.monotonic() - began
        tally, engines = self.count(self.reference)
        self.report.figure(f"{sum(tally.values())} points: " + ", ".join(f"{n} {key}" for key, n in sorted(tally.items())))
        self.report.check(len(engines) == 5 and min(tally["failed"], tally["infeasible"], tally["ok"]) > 5, "the sweep",
                          f"lacks something: {tally} {engines}")
        equal = [self.combination(*combination) for combination in itertools.product(THREADS, SHARDS, (False, True))]
        self.report.figure(f"{sum(equal)} of {len(equal)} combinations of threads, shards and interruptions gave the same files; "
                           f"{self.n_stop[signal.SIGTERM]} SIGTERM, {self.n_stop[signal.SIGKILL]} kill -9")
        self.isolation()
        self.crashing()
        return self.report.finish()


def main():
    with common.Folder("combos") as folder:
        return Combos(folder).all()


if __name__ == "__main__":
    sys.exit(main())
