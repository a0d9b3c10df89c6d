#!/usr/bin/env python3
"""A limit is a limit: every engine on a dozen tasks and more that take it long, with limits of 0.02, 0.2 and 1 s of processor time, on some also
5 s (clock.c, so that it does not matter how busy the machine is). A search ends within its limit and 0.3 s, with an answer, and its row and its
point say what ended it; SIGINT ends it within a second. A longer limit is tried where the shorter one was used up. `limits.py cosa soma 5`: these
engines, these limits; what is not named is all of it."""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time

import common

LIMITS_S = (0.02, 0.2, 1)
LONGER_S = 5
OVER_S = 0.3
START_S = 0.1  # of the process itself: files read and written
MEMORY_MIB = 1024
FIRST_S = 0.3  # of processor time before SIGINT
ENDED = ("max_seconds", "converged", "optimal", "max_evaluations")
# What keeps an engine from ending by itself; beside the defaults, since they are what most run.
ENDLESS = {
    "random": "search_size: 0", "hybrid": "victory_condition: 0", "descent": "patience: 1000000000, samples: 1000000000",
    "annealing": "moves: 1000000000", "genetic": "population: 100000, generations: 1000000000, elite: 99999",
    "exhaustive": "max_size: 1000000000000000000",
    "cosa": "max_nodes: 0, gap: 0, form: minmax", "cosa-best": "max_nodes: 0, gap: 0, polish: 1000000000", "drill": "work: 1000",
    "interstellar": "ragged: 2", "gradient": "descents: 10000, steps: 2000, refined: 10000, polished: 10000",
    "mm-random": "search_size: 0", "mm-sa": "moves: 1000000000, trial_moves: 1000000000",
    "mm-ga": "population: 100000, generations: 1000000000, elite: 99999",
}
# machine, network, batch, and of mappers the layer; what else the specification says
NETWORKS = [
    ("soma_cloud", "densenet161", 64), ("soma_cloud", "inception_resnet_v1", 16), ("soma_cloud", "gpt2_xl_prefill1024", 4),
    ("soma_edge", "resnet152", 7), ("soma_cloud", "DENSE", 1), ("soma_edge", "gpt2_small_prefill512", 4), ("soma_edge", "randwire_large", 16),
    ("soma_edge", "experiments/soma/networks/transformer_large.yaml", 64), ("soma_cloud", "unet", 8), ("soma_cloud", "gpt2_xl_decode1025", 64),
    ("soma_edge", "resnet50_soma", 4, "options: {core: cosa}"), ("soma_edge", "densenet161", 1, "options: {core: descent, core_evaluations: 0}"),
    ("simba_fused", "inception_v3", 4, "options: {core: genetic}"), ("simba_fused", "mobilenet_v1", 3, "options: {core: cosa-best}"),
    ("soma_edge", "LONG", 1),
]
LAYERS = [
    ("simba", "vgg16", 1, "layers: [conv2_2]"), ("simba", "densenet161", 64, "layers: [trans1]"),
    ("mindmappings", "vgg16", 7, "layers: [conv1_2]"), ("k80", "PRIME", 1), ("simba_large_buffer", "densenet161", 1, "layers: [trans1]"),
    ("simba", "deepbench", 1, "layers: [face2]"), ("k80", "resnet50_v1_5", 64, "layers: [conv3_1_b]"),
    ("mindmappings_mttkrp", "mindmappings_mttkrp_0", 1), ("tpu_128x128", "gpt2_xl_prefill1024", 4, "layers: [attention_Q]"),
    ("simba_tablev", "FACTORS", 16), ("simba_large_buffer", "EINSUM", 1), ("eyeriss_12x14", "unet", 3, "layers: [dec4_1]"),
    ("mindmappings_banks", "mindmappings_vgg_conv2", 16), ("mindmappings_mttkrp_banks", "mindmappings_mttkrp_0", 1),
]
# What a told limit of an engine says: it takes no such task, whatever the time.
TOLD = ("too large for", "does not price", "in too many ways", "is no machine of")
# Double buffering has no schedule, and that of soma-plus takes seconds to make.
NOTHING_FITS = [("soma_edge", "experiments/soma/networks/transformer_large.yaml", 64)]
# A point of many layers shares its limit among them.
SHARED = [("simba", "densenet161", 16), ("k80", "resnet50_v1_5", 7)]
# Tried with LONGER_S as well: the longer the search, the larger are the schedules and the lists that it ends with.
LONGER = [("soma_cloud", "DENSE", 1), ("simba", "densenet161", 16)]


def made_networks(folder):
    """800 layers that each read all before it, 3,000 in a row, a layer of prime sizes, one of many factors, one of twelve dimensions."""
    names = ["input"]
    dense = ["network: dense800", "input: {C: 8, H: 32, W: 32}", "layers:"]
    for i in range(800):
        dense.append(f"- {{name: d{i}, type: conv, C: {8 * len(names)}, K: 8, P: 32, Q: 32, R: 3, S: 3, pad: 1, from: [{', '.join(names)}]}}")
        names.append(f"d{i}")
    row = ["network: long", "input: {C: 16, H: 64, W: 64}", "layers:"]
    row += [f"- {{name: r{i}, type: conv, C: 16, K: 16, P: 64, Q: 64, R: 3, S: 3, pad: 1, from: {f'r{i - 1}' if i else 'input'}}}" for i in range(3000)]
    einsum = ["network: einsum", "kind: layers", "layers:", "- name: einsum", "  type: einsum",
              "  dims: {A: 64, B: 96, C: 60, D: 48, E: 72, F: 36, G: 30, H: 24}",
              "  tensors:", "  - {name: X, role: output, index: [A, B, C, D]}", "  - {name: Y, role: input, index: [A, B, E, F, G]}",
              "  - {name: Z, role: input, index: [C, D, E, F, H]}"]
    texts = {
        "DENSE": dense, "LONG": row, "EINSUM": einsum,
        "PRIME": ["network: prime", "kind: layers", "layers:", "- {name: prime, type: conv, C: 1021, K: 2039, P: 211, Q: 223, R: 3, S: 3}"],
        "FACTORS": ["network: factors", "kind: layers", "layers:", "- {name: factors, type: conv, C: 2520, K: 2520, P: 1260, Q: 1260, R: 3, S: 3}"],
    }
    paths = {}
    for name, lines in texts.items():
        paths[name] = os.path.join(folder, f"{name.lower()}.yaml")
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return paths


def clock_library(folder):
    library = os.path.join(folder, "clock.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library,
                    os.path.join(common.ROOT, "tests", "hammer", "clock.c")], check=True)
    return library


class Limits:
    def __init__(self, report, folder, limits_s):
        self.report, self.folder, self.limits_s = report, folder, limits_s
        self.paths = made_networks(folder)
        self.library = clock_library(folder)
        self.answered = 0

    def start(self, engine, options, task, limits):
        for name in os.listdir(self.folder):
            if name.startswith("out."):
                os.remove(os.path.join(self.folder, name))
        path = os.path.join(self.folder, "spec.yaml")
        lines = ["experiment: limits", "title: limits", f"architecture: {task[0]}", f"network: {self.paths.get(task[1], task[1])}",
                 f"batch: {task[2]}", f"engine: {engine}", f"limits: {{{limits}grace_seconds: 60}}", *task[3:], *options, "axes: {seed: [0]}"]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return subprocess.Popen([common.DSE, "run", path, "-o", os.path.join(self.folder, "out.h5"), "-j", "1"], cwd=common.ROOT,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=common.environment({"LD_PRELOAD": self.library}))

    def rows(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def limited(self, engine, options, task, key, limit_s):
        """One run; whether it used up its limit."""
        what = f"{engine}{' endless' if options else ''} on {' '.join(map(str, task))}, {key} {limit_s}"
        process = self.start(engine, options, task, f"{key}: {limit_s}, ")
        message = process.stderr.read()
        _, _, used = os.wait4(process.pid, 0)
        cpu_s, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        try:
            row, layers = self.rows("out.csv")[0], self.rows("out.layers.csv")
        except FileNotFoundError:
            self.report.check(any(told in message for told in TOLD), what, message)
            return False
        if any(told in row["reason"] for told in TOLD):
            return False
        self.answered += 1
        self.report.figure(f"{what}: {cpu_s:.2f} s, {mib:.0f} MiB, {row['status']}, {row['stop']}, {row['latency_s']}")
        self.report.check(cpu_s <= limit_s + OVER_S + START_S, what, f"took {cpu_s:.2f} s of processor time")
        late_answer = engine == "drill" and options  # as it is told: work first
        good = ("ok", "infeasible", "timeout") if task in NOTHING_FITS or late_answer else ("ok",)
        self.report.check(row["status"] in good and row["stop"] in ENDED, what, f"{row['status']}, {row['stop']}: {row['reason']}")
        late = "max_seconds" in [layer["stop"] for layer in layers]
        self.report.check((row["stop"] == "max_seconds") == late, what, f"its point says {row['stop']}, of layers {'one' if late else 'none'} max_seconds")
        self.report.check(mib <= MEMORY_MIB, what, f"took {mib:.0f} MiB")
        return late

    def interrupted(self, engine, options, task):
        what = f"{engine}{' endless' if options else ''} on {' '.join(map(str, task))}, SIGINT"
        process = self.start(engine, options, task, "")
        before_s = 0
        while process.poll() is None and before_s < FIRST_S:
            time.sleep(0.02)
            before_s = common.cpu_s(process.pid)
        if process.poll() is not None:
            return
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        _, _, used = os.wait4(process.pid, 0)
        took_s = used.ru_utime + used.ru_stime - before_s
        self.report.figure(f"{what}: {took_s:.2f} s")
        self.report.check(took_s <= 1, what, f"went on for {took_s:.2f} s")

    def all_limits(self, engine, options, task, key):
        longer = (LONGER_S,) if task in LONGER and self.limits_s is LIMITS_S else ()
        for limit_s in (*self.limits_s, *longer):
            if not self.limited(engine, options, task, key, limit_s):
                break

    def engine(self, engine, kind):
        before = self.answered
        ways = [[]] + ([[f"options: {{{ENDLESS[engine]}}}"]] if engine in ENDLESS else [])
        for options in ways:
            for task in NETWORKS if kind == "scheduler" else LAYERS:
                self.all_limits(engine, options, task, "max_seconds")
                self.interrupted(engine, options, task)
            for task in SHARED if kind == "mapper" else []:
                self.all_limits(engine, options, task, "point_max_seconds")
        self.report.check(self.answered > before, engine, "takes none of the tasks")


def main():
    report = common.Report("limits")
    listed = subprocess.run([common.DSE, "list", "engines"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        limits_s = [float(word) for word in sys.argv[1:] if word[0].isdigit()] or LIMITS_S
        engines = [word for word in sys.argv[1:] if not word[0].isdigit()]
        limits = Limits(report, folder, limits_s)
        for line in listed.splitlines()[2:]:
            engine, kind = line.split()[:2]
            if not engines or engine in engines:
                limits.engine(engine, kind)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
