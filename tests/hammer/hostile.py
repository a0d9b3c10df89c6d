#!/usr/bin/env python3
"""An engine that hangs, leaks, crashes or lies, among good ones: each bad row says what happened, all others are what they are without it, the
exit code is 1, and the machine lives.

usage: hostile.py        DSE=build/dse; about two minutes
"""
import csv
import random
import re
import resource
import signal
import subprocess
import sys
import time

import common

GIB = 1 << 30
SPEC = """experiment: hostile
architecture: simba
network: alexnet
layers: [conv2, fc8]
limits: {max_evaluations: 100, max_seconds: 3, grace_seconds: 1MEMORY}
options: {drill: {fault: FAULT, fault_every: 3, leak_byte: 8589934592}}
axes:
  engine: [random, drill, descent]
  seed: [1, 2, 3, 4, 5, 6]
  GlobalBuffer.capacity: [64 B, 128 KiB]
"""
ALL = """experiment: all
architecture: simba
network: alexnet
layers: [fc8]
engine: drill
options: {fault_every: 3, leak_byte: 8589934592}
limits: {max_seconds: 2, grace_seconds: 1, max_memory: 300 MiB}
axes:
  option.fault: [none, loop, leak, abort, segfault, divide, float_trap, throw_away, invalid, too_good, below_bound]
  seed: [1, 2, 3, 4, 5, 6]
"""
SLOW = """experiment: slow
architecture: simba
network: alexnet
layers: [conv2]
limits: {max_evaluations: 300}
options: {drill: {work: 0.01}}
axes:
  engine: [random, drill]
  seed: SEEDS
""".replace("SEEDS", common.numbers(range(1, 101)))
# (status, what the reason says), docs/isolation.md and docs/drill.md
SAYS = {
    "loop": ("timeout", r"did not stop within max_seconds = \d+ s and 1 s of grace"),
    "leak": ("failed", r"needed more than max_memory = \d+ MiB"),
    "abort": ("failed", r"the engine crashed \(SIGABRT\)"),
    "segfault": ("failed", r"the engine crashed \(SIGSEGV: invalid memory access\)"),
    "divide": ("failed", r"the engine crashed \(SIGFPE: arithmetic fault\)"),
    "float_trap": ("failed", r"the engine crashed \(SIGFPE: arithmetic fault\)"),
    "throw_away": ("failed", r"the engine ended its process with exit code 3"),
    "invalid": ("failed", r"the engine's answer does not hold: .*checker"),
    "too_good": ("failed", r"the engine's answer does not hold: it claims a cost of .*, and what it found costs"),
    "below_bound": ("failed", r"the engine's answer does not hold: it claims a cost of .*below the lower bound"),
}
IN_THREADS = ("invalid", "too_good", "below_bound")


def rows_of(out, ending=".csv"):
    with open(out[:-3] + ending, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def content(row):
    """What must not change; the key of a point of the drill has the fault in it."""
    return {key: value for key, value in row.items() if key not in ("seconds", "trace_seconds", "checksum", "point_key")}


def place(row):
    keep = []
    for key, value in row.items():
        if key == "status":
            break
        keep.append(value)
    return tuple(keep)


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return int(re.search(r"MemAvailable:\s*(\d+) kB", file.read()).group(1)) << 10


class Hostile:
    def __init__(self, folder):
        self.folder = folder
        self.report = common.Report("hostile")
        self.n_bad = self.n_good = 0

    def run(self, what, spec, out, *args, code=1, preexec=None):
        process = subprocess.Popen([common.DSE, "run", spec, "-o", out, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=preexec,
                                   env=common.environment())
        err = process.communicate(timeout=common.TIMEOUT_S)[1]
        left = common.wait_until_gone(process.pid)
        self.report.check(process.returncode == code and not left, what, f"exit code {process.returncode}, left: {left}: {err}")
        return err

    def judge(self, what, fault, out, reference, is_bad):
        """Bad rows say so, and all others are those of the reference; in both tables."""
        good = {place(row): row for row in rows_of(reference)}
        rows = rows_of(out)
        self.report.check({place(row) for row in rows} == set(good) and len(rows) == len(good), what, f"{len(rows)} rows")
        n_bad = 0
        for row in rows:
            if is_bad(row):
                n_bad += 1
                status, says = SAYS[fault]
                self.report.check(row["status"] == status and re.search(says, row["reason"]), what,
                                  f"{row['status']}: {row['reason']}")
            else:
                self.n_good += 1
                self.report.check(content(row) == content(good[place(row)]), what, f"{row} instead of {good[place(row)]}")
        self.n_bad += n_bad
        mine, theirs = ([content(row) for row in rows_of(path, ".layers.csv") if not is_bad(row)] for path in (out, reference))
        key = lambda row: tuple(row.values())
        self.report.check(n_bad > 0 and sorted(mine, key=key) == sorted(theirs, key=key), what, "layers of other rows differ")

    def each(self):
        """One fault among other engines."""
        for memory in (False, True):
            text = SPEC.replace("MEMORY", ", max_memory: 300 MiB" if memory else "")
            reference = self.folder.join(f"good{memory}.h5")
            self.run("reference", self.folder.write("good.yaml", text.replace("FAULT", "none")), reference, code=0)
            for fault in SAYS:
                if memory != (fault == "leak"):
                    continue
                spec = self.folder.write(f"{fault}.yaml", text.replace("FAULT", fault))
                for how in ("auto", "process") + (("thread",) if fault in IN_THREADS else ()):
                    out = self.folder.join(f"{fault}-{how}.h5")
                    what = f"{fault}, {how}"
                    self.run(what, spec, out, "-j", "2", "--isolation", how)
                    self.judge(what, fault, out, reference, lambda row: row["engine"] == "drill" and row["seed"] in "36")
                before = rows_of(out)
                self.run(f"{fault} resumed", spec, out, "-j", "1", "--isolation", how)
                self.report.check(rows_of(out) == before, f"{fault} resumed", "rows have changed")

    def together(self):
        """All faults in one sweep, with 1 and 4 threads."""
        spec = self.folder.write("all.yaml", ALL)
        good = self.folder.write("all-good.yaml", ALL.replace("fault_every: 3", "fault_every: 7"))
        reference, out = self.folder.join("all-good.h5"), self.folder.join("all.h5")
        self.run("all faults, none of them happens", good, reference, code=0)
        for how, threads in (("auto", "1"), ("auto", "4"), ("process", "4")):
            what = f"all faults, {how}, {threads} threads"
            err = self.run(what, spec, out, "-j", threads, "--isolation", how, "--fresh")
            fault = "option.fault"
            rows = [row for row in rows_of(out)]
            good_rows = {place(row): content(row) for row in rows_of(reference)}
            for row in rows:
                if row[fault] != "none" and row["seed"] in "36":
                    status, says = SAYS[row[fault]]
                    self.n_bad += 1
                    self.report.check(row["status"] == status and re.search(says, row["reason"]), f"{what}: {row[fault]}",
                                      f"{row['status']}: {row['reason']}")
                else:
                    self.n_good += 1
                    self.report.check(content(row) == good_rows[place(row)], what, f"{row}")
            self.report.check(len(rows) == 66 and "46 ok, 2 timeout, 18 failed" in err, what, err)

    def leaks(self):
        """8 GiB and more than the machine has."""
        text = re.sub(r"fault: \[.*\]", "fault: [none, leak]", ALL.replace(", max_memory: 300 MiB", ""))
        text = text.replace("max_seconds: 2", "max_seconds: 300")
        spec = self.folder.write("leak.yaml", text)
        out = self.folder.join("leak.h5")
        self.run("leak of 8 GiB, max_memory 1 GiB", spec, out, "-j", "1", "--set", "limits.max_memory=1 GiB", "--fresh")
        bad = [row for row in rows_of(out) if row["status"] == "failed"]
        self.report.check(len(bad) == 2 and all("max_memory = 1 GiB" in row["reason"] for row in bad), "leak", f"{bad}")
        if available() > 12 * GIB:
            one = self.folder.write("leak-one.yaml", text.replace("seed: [1, 2, 3, 4, 5, 6]", "seed: [1, 3]"))
            self.run("leak of 8 GiB, no limit", one, out, "-j", "1", "--fresh", code=0)
            found = {f"{row['status']} {row['reason']}".strip() for row in rows_of(out)}
            self.report.figure(f"leak of 8 GiB without a limit: {'; '.join(sorted(found))}")
        else:
            self.report.skip("leak of 8 GiB without a limit", "less than 12 GiB of memory are free")
        # the limit of the shell stands for the machine's memory
        limit = 4 * GIB
        self.run("leak of 8 GiB where 4 are", spec, out, "-j", "1", "--fresh",
                 preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        reasons = {row["reason"] for row in rows_of(out) if row["status"] == "failed"}
        self.report.figure("leak of 8 GiB where 4 are (ulimit -v): " + "; ".join(sorted(reasons)))
        self.report.check(len(reasons) == 1 and len([r for r in rows_of(out) if r["status"] == "ok"]) == 10, "leak", str(reasons))
        code, err = common.dse("run", spec, "-o", out, "--isolation", "thread", "--set", "limits.max_memory=1 GiB")
        self.report.check(code == 2 and "max_memory" in err, "max_memory in threads is refused", err)

    def crashes_in_threads(self):
        """Signals of a crash, sent to the process that computes while searches are in flight in its threads: it goes on by itself."""
        spec = self.folder.write("slow.yaml", SLOW)
        reference, out = self.folder.join("slow-good.h5"), self.folder.join("slow.h5")
        self.run("slow", spec, reference, code=0)
        chance = random.Random(4)
        n_crash = n_equal = 0
        signals = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)
        for i in range(10):
            process = common.start("run", spec, "-o", out, "-j", str(1 + i % 2), "--fresh")
            for _ in range(1 + i % 4):
                time.sleep(0.1 + 0.4 * chance.random())
                for child in common.children_of(process.pid)[:1]:
                    common.kill(child, chance.choice(signals))
                    n_crash += 1
            code = process.wait(common.TIMEOUT_S)
            left = common.wait_until_gone(process.pid)
            if code == 2:  # no search was in flight: nobody's fault, said, and resumed
                code = common.dse("run", spec, "-o", out)[0]
            found = common.differences(reference, out)
            n_equal += self.report.check(code == 0 and not found and not left, f"crashes in threads {i}", f"{code} {left} {found[:3]}")
        self.report.figure(f"{n_crash} crashes of the run itself in 10 sweeps, files equal in {n_equal}")

    def all(self):
        self.each()
        self.crashes_in_threads()
        self.together()
        self.leaks()
        self.report.figure(f"{self.n_bad} bad rows say what happened, {self.n_good} others are as without them, if nothing is said above")
        return self.report.finish()


def main():
    with common.Folder("hostile") as folder:
        return Hostile(folder).all()


if __name__ == "__main__":
    sys.exit(main())
