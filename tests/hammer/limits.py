#!/usr/bin/env python3
"""A limit is a limit: every engine on tasks that take it long, with limits of 0.2, 1 and 5 s. A search ends within its limit and 0.3 s of
processor time, with an answer, and its row says what ended it; SIGINT ends it within a second. `limits.py ENGINE...`: only those."""
import csv
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import common

LIMITS_S = (0.2, 1, 5)
OVER_S = 0.3
START_S = 0.1  # of the process itself: files read and written
MEMORY_MIB = 1024
ENDED = ("max_seconds", "converged", "optimal", "max_evaluations")
NETWORKS = [("soma_cloud", "densenet161", 64), ("soma_cloud", "inception_resnet_v1", 16), ("soma_cloud", "gpt2_xl_prefill1024", 4),
            ("soma_edge", "resnet152", 7), ("soma_cloud", "DENSE", 1)]
LAYERS = [("simba", "vgg16", 1, "conv2_2"), ("simba", "densenet161", 64, "trans1"), ("mindmappings", "vgg16", 7, "conv1_2"),
          ("k80", "PRIME", 1, "prime")]


def made_networks(folder):
    """800 layers that each read all before it, and a layer of prime sizes."""
    names = ["input"]
    lines = ["network: dense800", "input: {C: 8, H: 32, W: 32}", "layers:"]
    for i in range(800):
        lines.append(f"- {{name: d{i}, type: conv, C: {8 * len(names)}, K: 8, P: 32, Q: 32, R: 3, S: 3, pad: 1, from: [{', '.join(names)}]}}")
        names.append(f"d{i}")
    prime = ["network: prime", "kind: layers", "layers:", "- {name: prime, type: conv, C: 1021, K: 2039, P: 211, Q: 223, R: 3, S: 3}"]
    paths = {"DENSE": os.path.join(folder, "dense800.yaml"), "PRIME": os.path.join(folder, "prime.yaml")}
    for name, text in (("DENSE", lines), ("PRIME", prime)):
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write("\n".join(text) + "\n")
    return paths


def specification(folder, engine, task, limit_s, paths):
    path = os.path.join(folder, "spec.yaml")
    layer = f"layers: [{task[3]}]\n" if len(task) > 3 else ""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"experiment: limits\ntitle: limits\narchitecture: {task[0]}\nnetwork: {paths.get(task[1], task[1])}\nbatch: {task[2]}\n"
                   f"{layer}engine: {engine}\nlimits: {{max_seconds: {limit_s}, grace_seconds: 60}}\naxes:\n  seed: [0]\n")
    return path


def start(folder, engine, task, limit_s, paths):
    out = os.path.join(folder, "out.h5")
    for name in os.listdir(folder):
        if name.startswith("out."):
            os.remove(os.path.join(folder, name))
    command = [common.DSE, "run", specification(folder, engine, task, limit_s, paths), "-o", out, "-j", "1"]
    return subprocess.Popen(command, cwd=common.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def limited(report, folder, engine, task, limit_s, paths):
    what = f"{engine} on {' '.join(map(str, task))}, {limit_s} s"
    process = start(folder, engine, task, limit_s, paths)
    message = process.stderr.read()
    _, _, used = os.wait4(process.pid, 0)
    cpu_s, mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    try:
        with open(os.path.join(folder, "out.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    except FileNotFoundError:
        report.check("is no" in message or "takes no" in message or "layers" in message, what, message)
        return
    row = rows[0]
    if "is too large for" in row["reason"]:
        return
    report.figure(f"{what}: {cpu_s:.2f} s, {mib:.0f} MiB, {row['status']}, {row['stop']}, {row['latency_s']}")
    report.check(cpu_s <= limit_s + OVER_S + START_S, what, f"took {cpu_s:.2f} s of processor time")
    report.check(row["status"] == "ok" and row["stop"] in ENDED, what, f"{row['status']}, {row['stop']}: {row['reason']}")
    report.check(mib <= MEMORY_MIB, what, f"took {mib:.0f} MiB")


def interrupted(report, folder, engine, task, paths):
    what = f"{engine} on {' '.join(map(str, task))}, SIGINT"
    process = start(folder, engine, task, 0, paths)
    time.sleep(0.5)
    if process.poll() is not None:
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    process.stderr.read()
    process.wait()
    took_s = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report.figure(f"{what}: {took_s:.2f} s, processor {used.ru_utime - before.ru_utime:.2f} s in all")
    report.check(took_s <= 1, what, f"went on for {took_s:.2f} s")


def main():
    report = common.Report("limits")
    listed = subprocess.run([common.DSE, "list", "engines"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        paths = made_networks(folder)
        for line in listed.splitlines()[2:]:
            engine, kind = line.split()[:2]
            if engine == "drill" or (sys.argv[1:] and engine not in sys.argv[1:]):
                continue
            for task in NETWORKS if kind == "scheduler" else LAYERS:
                for limit_s in LIMITS_S:
                    limited(report, folder, engine, task, limit_s, paths)
                interrupted(report, folder, engine, task, paths)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
