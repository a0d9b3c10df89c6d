#!/usr/bin/env python3
"""What others do to the folder of an output while a run, a merge or a drawing writes there: planted links are not followed, a deleted
OUT.lock lets no second writer in, and a merge names the writer, also one that is just finishing.
Tests: runner.c."""
import glob
import os
import re
import shutil
import subprocess
import time

from program import DSE, check, dse, read, run_parts, write

SPEC = """experiment: safe
architecture: simba
network: alexnet
layers: [conv2]
engine: drill
options: {work: %s}
axes:
  seed: {from: 1, to: %d}
"""


def planted_links(folder):
    """One link at a time in the place of each file that a command makes: what it leads to stays as it is."""
    spec = write(os.path.join(folder, "fast.yaml"), SPEC.replace("{from: 1, to: %d}", "[1, 2, 3]") % "0")
    retry = SPEC.replace("{from: 1, to: %d}", "[1, 2]") % "0"
    place = os.path.join(folder, "planted")
    out = os.path.join(place, "y.h5")
    shards = [os.path.join(folder, f"s.{k}-of-2.h5") for k in (1, 2)]
    for k in (1, 2):
        assert dse("run", spec, "-o", os.path.join(folder, "s.h5"), "--shard", f"{k}/2")[0] == 0
    log = os.path.join(place, "y.jsonl")
    commands = {"run": (["run", spec, "-o", out, "--log-json", log], ["y.lock", "y.h5.tmp", "y.h5", "y.csv", "y.layers.csv", "y.jsonl"]),
                "fresh": (["run", spec, "-o", out, "--fresh"], ["y.csv", "y.layers.csv"]),
                "update": (["run", write(os.path.join(folder, "less.yaml"), retry), "-o", out, "--update"],
                           ["y.csv.new", "y.layers.csv.new", "y.dropped.csv", "y.dropped.csv.new"]),
                "merge": (["merge", out, *shards], ["y.lock", "y.merging.csv", "y.merging.layers.csv", "y.merging.h5", "y.merging.h5.tmp"])}
    for what, (command, names) in commands.items():
        for name in names:
            for there in (True, False):  # what the link leads to
                shutil.rmtree(place, ignore_errors=True)
                os.mkdir(place)
                victim = os.path.join(folder, "victim")
                write(victim, "precious\n")
                if what == "update":
                    assert dse("run", spec, "-o", out)[0] == 0
                if not there:
                    os.unlink(victim)
                os.symlink(victim, os.path.join(place, name))
                code, err = dse(*command)
                case = f"{what} with a link in place of {name}, to {'a' if there else 'no'} file"
                check(case, code in (0, 1, 2) and "internal" not in err, err)
                check(case + ": the victim", read(victim) == b"precious\n" if there else not os.path.exists(victim), err)


def wait_for_rows(out):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if read(out[:-3] + ".csv").count(b"\n") > 1:
                return
        except OSError:
            pass
        time.sleep(0.01)


def deleted_lock(folder):
    """140 points of 40 ms; their lock is deleted, and each other writer is refused and changes nothing."""
    spec = write(os.path.join(folder, "slow.yaml"), SPEC.replace("{from: 1, to: %d}", "[" + ", ".join(map(str, range(1, 141))) + "]") % "0.04")
    part = os.path.join(folder, "part.h5")
    assert dse("run", spec, "-o", part, "--shard", "1/140")[0] == 0
    part = glob.glob(os.path.join(folder, "part.1-of-*.h5"))[0]
    out = os.path.join(folder, "slow.h5")
    with subprocess.Popen([DSE, "run", spec, "-o", out, "-j", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        wait_for_rows(out)
        for what in (["run", spec, "-o", out], ["run", spec, "-o", out, "--fresh"], ["merge", out, part], ["merge", out, out, part]):
            if os.path.exists(out[:-3] + ".lock"):
                os.unlink(out[:-3] + ".lock")
            code, err = dse(*what)
            check(f"{what[0]} {what[-1]} beside a run whose lock was deleted", code == 2 and re.search(r"process \d+ ", err), f"{code} {err}")
        check("the run itself", first.wait(120) == 0)
    check("all of its points are there", read(out[:-3] + ".csv").count(b"\n") == 141)


def writer_that_finishes(folder):
    """The lock is held when a merge begins and released while it waits: the merge still names who had it."""
    spec = write(os.path.join(folder, "short.yaml"), SPEC.replace("{from: 1, to: %d}", "[1]") % "0.1")
    out, other = os.path.join(folder, "short.h5"), os.path.join(folder, "s.1-of-2.h5")
    for _ in range(5):
        for name in glob.glob(out[:-3] + ".*"):
            if not name.endswith(".yaml"):
                os.unlink(name)
        with subprocess.Popen([DSE, "run", spec, "-o", out, "-j", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            while not os.path.exists(out[:-3] + ".csv") and first.poll() is None:
                time.sleep(0.001)
            running = first.poll() is None
            code, err = dse("merge", out, other)
            first.wait(60)
        if running and ".lock" not in err:  # it did not end too late
            break
    check("merge while a writer is finishing", code == 2 and re.search(r"process \d+ ", err), f"{code} {err}")


def in_one_folder(folder):
    for part in planted_links, deleted_lock, writer_that_finishes:
        part(folder)


if __name__ == "__main__":
    run_parts(in_one_folder)
