#!/usr/bin/env python3
"""kill -9 at random moments of `dse run` and `dse merge`: the same command, at once, ends with files that equal those of an
uninterrupted run, and computes again no more points than were in flight or waiting for the next flush.

usage: kill.py [KILLS]        DSE=build/dse; 200 kills, about ten minutes

Moments: at any time of the run, and at what inotify sees (lock made, journal written, cube begun and written, renamed, lock removed), each with
a small random delay. Killed are the process that the user knows, its whole group, or only the child that computes.
"""
import collections
import json
import os
import random
import shutil
import signal
import struct
import sys
import time

import common

FLUSH_S, BATCH_MAX, WAITING_BYTE = 0.1, 64, 65536  # results/journal/journal.c, dse/run/run_state.h
WORK_S = 0.005

HEAD = "architecture: simba\nnetwork: alexnet\n"
SEARCHES = HEAD + """experiment: searches
layers: [conv2, conv3, fc8]
limits: {max_evaluations: 600}
axes:
  engine: [random, descent, hybrid]
  GlobalBuffer.capacity: [64 B, 32 KiB, 128 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
  PE.mesh: [2x2, 4x4]
skip: [{engine: hybrid, PE.mesh: 4x4}]
"""
CASES = {
    # so many cheap points that building the cube takes a good part of the time
    "cheap": HEAD + "experiment: cheap\nlayers: [fc8]\nengine: drill\naxes:\n  seed: " + common.numbers(range(1, 51))
             + "\n  DRAM.bandwidth: " + common.numbers(f"{b} GB/s" for b in range(1, 41)) + "\n",
    # points of a known length, so that those in flight and unwritten can be counted
    "steady": HEAD + "experiment: steady\nlayers: [conv2]\nengine: drill\noptions: {work: %g}\naxes:\n  seed: " % WORK_S
              + common.numbers(range(1, 161)) + "\n",
    # what sweeps are made of
    "searches": SEARCHES,
}
# A sweep of before, with 200 points that "cheap" has not, and 800 that it has.
BEFORE = CASES["cheap"].replace(common.numbers(range(1, 51)), common.numbers(list(range(51, 56)) + list(range(1, 21))))
W = common.Watch
# (name, case, at which event; None: at any time). The first six are what `make check` does.
SCENARIOS = [
    ("run", "steady", None),
    ("cube begun", "cheap", (W.CREATE, ".h5.tmp", (1, 2))),
    ("renamed", "cheap", (W.MOVED_FROM, ".h5.tmp", (1, 2))),
    ("merge", "cheap", None),
    ("journal written", "searches", (W.MODIFY, ".csv", (1, 30))),
    ("merge in place", "cheap", (W.MOVED_FROM, "", (1, 3))),
    ("update", "cheap", (W.MOVED_TO, "", (1, 5))),
    ("repair", "cheap", (W.MOVED_TO, "", (1, 5))),
    ("run", "cheap", None),
    ("run", "steady", None),
    ("cube written", "cheap", (W.MODIFY, ".h5.tmp", (1, 40))),
    ("run", "searches", None),
    ("journal written", "cheap", (W.MODIFY, ".csv", (1, 200))),
    ("merge", "cheap", (W.MODIFY, "", (1, 300))),
    ("lock made", "cheap", (W.CREATE, ".lock", (1, 1))),
    ("run", "steady", None),
    ("lock removed", "cheap", (W.DELETE, ".lock", (1, 1))),
    ("layers written", "steady", (W.MODIFY, ".layers.csv", (1, 9))),
    ("merge in place", "cheap", None),
    ("merge renamed", "cheap", (W.MOVED_FROM, "", (1, 3))),
    ("run", "searches", None),
    ("update", "cheap", (W.CREATE, "", (1, 8))),
    ("repair", "cheap", None),
    ("cube renamed", "searches", (W.MOVED_TO, ".h5", (1, 2))),
]


def board_counts(pid):
    """Searches that the run has finished, from the memory that it shares with its supervisor (dse/isolate/crash_board.c: slots of 64 bytes with
    active, engine, key, deadline, n_done), or None."""
    try:
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in maps:
                begin, end = (int(word, 16) for word in line.split()[0].split("-"))
                if " rw-s " not in line or "/dev/zero" not in line or end - begin < 1 << 19:
                    continue
                memory.seek(begin)
                data = memory.read(end - begin)
                slots = [struct.unpack_from("7Q", data, at) for at in range(0, len(data) - 63, 64)]
                slots = [s for s in slots if s[0] <= 1 and s[2] > 1 << 32 and s[4] < 1 << 32 and s[5] == s[6] == 0]
                return sum(slot[4] for slot in slots) if slots else None
    except (OSError, ValueError):
        pass
    return None


def freeze(pid):
    """Stop all threads, for the moment between counting and killing."""
    common.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return
        if all((common.stat_of(f"{pid}/task/{task}") or "T")[0] in "TtZX" for task in tasks):
            return
        time.sleep(0.0005)


class Hammer:
    def __init__(self, folder, kills):
        self.folder, self.kills = folder, kills
        self.report = common.Report("kill")
        self.random = random.Random(20260131)
        self.tally = collections.Counter()
        self.lost = {}       # case -> largest number of points finished and not in the file
        self.n_measured = collections.Counter()
        self.reference = {}  # case -> OUT.h5 of an uninterrupted run
        self.seconds = {}    # what a command takes that nobody interrupts
        self.shards = None
        self.n_kill = 0

    def prepare(self, case):
        if case in self.reference:
            return
        spec = self.folder.write(f"{case}.yaml", CASES[case])
        out = self.folder.join(f"{case}.h5")
        for threads in (1, 2):
            began = time.monotonic()
            code, err = common.dse("run", spec, "-o", out, "-j", threads, "--fresh")
            self.seconds[case, threads] = time.monotonic() - began
            if code != 0:
                raise SystemExit(f"{case}: exit code {code}: {err}")
        self.reference[case] = out

    def prepare_before(self, name, place, out):
        """What is there when rows are to be moved aside; how many these are."""
        before = self.reference["cheap"]
        if name == "update":
            before = self.folder.join("before.h5")
            if not os.path.exists(before):
                code, err = common.dse("run", self.folder.write("before.yaml", BEFORE), "-o", before)
                if code != 0:
                    raise SystemExit(f"before: exit code {code}: {err}")
        for end in (".h5", ".csv", ".layers.csv"):
            shutil.copy(before[:-len(".h5")] + end, out[:-len(".h5")] + end)
        if name == "update":
            return 200
        bad = set()
        for end in (".csv", ".layers.csv"):  # one line of each point, in the same order
            with open(out[:-len(".h5")] + end, "rb") as file:
                lines = file.read().splitlines(keepends=True)
            for line in self.random.sample(range(1, len(lines) - 3), 5):
                at = self.random.randrange(len(lines[line]) - 20, len(lines[line]) - 1)  # in key or checksum
                lines[line] = lines[line][:at] + bytes([lines[line][at] ^ 1]) + lines[line][at + 1:]
                bad.add(line)
            with open(out[:-len(".h5")] + end, "wb") as file:
                file.write(b"".join(lines))
        return len(bad)

    def count_aside(self, place):
        """Different rows in OUT.dropped*.csv and OUT.damaged*.csv."""
        rows = set()
        for name in os.listdir(place):
            if (".dropped" in name or ".damaged" in name) and name.endswith(".csv") and ".layers" not in name:
                with open(os.path.join(place, name), "rb") as file:
                    rows |= set(file.read().splitlines()[1:])
        return len(rows)

    def prepare_shards(self):
        if self.shards:
            return
        self.shards = []
        for k in (1, 2, 3):
            code, err = common.dse("run", self.folder.join("cheap.yaml"), "-o", self.folder.join("part.h5"), "--shard", f"{k}/3")
            if code != 0:
                raise SystemExit(f"shard {k}: exit code {code}: {err}")
            self.shards.append(self.folder.join(f"part.{k}-of-3.h5"))
        began = time.monotonic()
        code, err = common.dse("merge", self.folder.join("merged.h5"), *self.shards)
        self.seconds["merge"] = time.monotonic() - began
        if code != 0:
            raise SystemExit(f"merge: exit code {code}: {err}")

    def command(self, name, case, place):
        """(arguments, OUT.h5, seconds without an interruption, threads or 0)."""
        if not name.startswith("merge"):
            threads = self.random.choice((1, 2))
            out = os.path.join(place, "out.h5")
            how = self.random.choice(("auto", "auto", "auto", "thread", "process"))
            if name in ("update", "repair"):
                return (["run", self.folder.join(f"{case}.yaml"), "-o", out, "-j", str(threads), f"--{name}", "--isolation", how],
                        out, 0.3 * self.seconds[case, threads], threads)
            log = ["--log-json", os.path.join(place, "log.jsonl")] if self.random.random() < 0.3 else []
            return (["run", self.folder.join(f"{case}.yaml"), "-o", out, "-j", str(threads), *log, "--isolation", how], out,
                    self.seconds[case, threads], threads)
        self.prepare_shards()
        if "place" not in name:
            out = os.path.join(place, "out.h5")
            return ["merge", out, *self.shards], out, self.seconds["merge"], 0
        parts = []
        for shard in self.shards:
            for end in (".h5", ".csv", ".layers.csv"):
                shutil.copy(shard[:-len(".h5")] + end, place)
            parts.append(os.path.join(place, os.path.basename(shard)))
        return ["merge", parts[0], *parts], parts[0], self.seconds["merge"], 0

    def phase(self, place, out, case):
        """Where the kill came, for the report."""
        names = os.listdir(place)
        if any(".merging" in name for name in names):
            return "merge"
        if "out.h5.tmp" in names:
            return "cube"
        rows = common.count_rows(out)
        if not rows:
            return "start"
        return "end" if rows == common.count_rows(self.reference[case]) else "points"

    def await_moment(self, process, watch, event, seconds):
        """False when the command ended before."""
        if event:
            mask, ending, (low, high) = event
            if not watch.wait(mask, ending, process, self.random.randint(low, high)):
                return False
            time.sleep(self.random.choice((0, 0.0005, 0.003)) * self.random.random())
        else:
            time.sleep(self.random.random() * 1.05 * seconds)
        return process.poll() is None

    def strike(self, process, isolation):
        """Kill; returns (who was killed, searches finished by then or None)."""
        child = (common.children_of(process.pid) or [process.pid])[0] if isolation == "auto" else process.pid
        counted = None
        if isolation in ("auto", "thread") and self.random.random() < 0.7:
            freeze(child)
            counted = board_counts(child)
        who = self.random.choice(("process", "process", "process", "group", "child"))
        if who == "group":
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        else:
            common.kill(child if who == "child" else process.pid)
        process.wait(common.TIMEOUT_S)
        return who, counted

    def count_lost(self, case, threads, before, counted, out, what):
        """Points that were finished and have to be computed again."""
        time.sleep(0.02)  # the child of a killed supervisor may need a moment to be gone
        lost = before + counted - common.count_rows(out)
        row_byte = sum(os.path.getsize(self.reference[case][:-len(".h5")] + end) for end in (".csv", ".layers.csv"))
        row_byte /= common.count_rows(self.reference[case])
        most = threads * (FLUSH_S / WORK_S + 2) if case == "steady" else threads * BATCH_MAX + WAITING_BYTE / row_byte + 1
        self.n_measured[case, threads] += 1
        self.lost[case, threads] = max(self.lost.get((case, threads), 0), lost)
        self.report.check(0 <= lost <= most, what, f"{lost} finished points are lost, at most {most:.0f} may be")

    def kill_once(self, scenario, command, place, what):
        """One kill of the command; False when it came to its end before."""
        name, case, event = scenario
        args, out, seconds, threads = command
        before = common.count_rows(out) if args[0] == "run" else 0
        watch = common.Watch(place)
        process = common.start(*args)
        try:
            if not self.await_moment(process, watch, event, seconds):
                process.wait(common.TIMEOUT_S)
                return False
            who, counted = self.strike(process, args[-1] if args[0] == "run" else "")
        finally:
            watch.close()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode == 0:
            return False
        self.n_kill += 1
        self.tally[f"in {self.phase(place, out, case)}"] += 1
        self.tally[f"of the {who}"] += 1
        if counted is not None and args[0] == "run" and name not in ("update", "repair") and case != "searches":
            self.count_lost(case, threads, before, counted, out, what)
        self.sessions.append(process.pid)
        return True

    def check_log(self, path, what):
        """Every line is an event, whatever was killed."""
        try:
            with open(path, encoding="utf-8") as file:
                events = [json.loads(line)["event"] for line in file]
        except (ValueError, KeyError) as error:
            events = [str(error)]
        self.tally["event logs"] += 1
        self.report.check(events[-1] == "run_end", what, f"event log: {events[-3:]}")

    def finish(self, command, place, n, what):
        """The same command again. A merge whose last rename came before the kill is whole, and not done again unasked."""
        if command[0][0] == "merge" and os.path.exists(command[1]) and "place" not in what and \
                not any(".merging" in name for name in os.listdir(place)):
            if n == 0:
                return True
            code, err = common.dse(*command[0])
            return self.report.check(code == 2 and "exists and is not one of the shards" in err, what, err)
        code, err = common.dse(*command[0])
        return self.report.check(code == 0, what, f"{' '.join(command[0])}: exit code {code}: {err}")

    def one(self, i):
        name, case, event = scenario = SCENARIOS[i % len(SCENARIOS)]
        self.prepare(case)
        place = self.folder.join("place")
        os.mkdir(place)
        what = f"case {i} ({name}, {case})"
        command = self.command(name, case, place)
        n_aside = self.prepare_before(name, place, command[1]) if name in ("update", "repair") else 0
        in_a_row = self.random.choice((2, 3)) if i % 5 == 4 else 1
        self.sessions = []
        n = sum(self.kill_once(scenario if k == 0 else (name, case, None), command, place, what)
                for k in range(in_a_row) if self.n_kill < self.kills)
        good = self.finish(command, place, n, what)
        found = common.differences(self.reference[case], command[1]) if good else []
        self.report.check(not found, what, "; ".join(found[:5]))
        self.report.check(self.count_aside(place) >= n_aside, what, f"{self.count_aside(place)} rows moved aside, not {n_aside}")
        if "--log-json" in command[0]:
            self.check_log(command[0][command[0].index("--log-json") + 1], what)
        self.report.check(not common.left_over(place), what, f"left behind: {common.left_over(place)}")
        left = [pid for session in self.sessions for pid in common.wait_until_gone(session)]
        self.report.check(not left, what, f"still running: {left}")
        self.tally["in a row"] += n if n > 1 else 0
        self.tally["equal"] += n if good and not found else 0
        shutil.rmtree(place)

    def run(self):
        i = 0
        while self.n_kill < self.kills and i < 3 * self.kills + 20:
            self.one(i)
            i += 1
        self.report.check(self.n_kill >= self.kills, "kills", f"only {self.n_kill} commands could be killed in time")
        self.report.figure(f"{self.n_kill} kills in {i} sweeps and merges; files equal after {self.tally['equal']} of {self.n_kill}")
        self.report.figure(", ".join(f"{n} {key}" for key, n in sorted(self.tally.items()) if key != "equal"))
        for case, threads in sorted(self.n_measured):
            self.report.figure(f"{case}, {threads} threads: {self.n_measured[case, threads]} kills measured, at most "
                               f"{self.lost[case, threads]} finished points computed again")
        return self.report.finish()


def main():
    with common.Folder("kill") as folder:
        return Hammer(folder, common.argument("HAMMER_KILLS", 200)).run()


if __name__ == "__main__":
    sys.exit(main())
