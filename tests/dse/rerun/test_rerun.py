#!/usr/bin/env python3
"""dse rerun: points are computed again from the result file alone, with what it was made from changed, or gone, or elsewhere. Nothing here
is a known value: what is computed again is compared with what the sweep wrote. RERUN_POINTS=100 takes so many random points of larger sweeps.
Tests: rerun_file.c, rerun_select.c."""
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy

DSE = os.path.abspath(os.environ["DSE"])
MANY = int(os.environ.get("RERUN_POINTS", "0"))
ROOT = os.getcwd()
bad = []
n_check = 0

NETWORK = """network: small
input: {C: 8, H: 14, W: 14}
layers:
- {name: a, type: conv, C: 8, K: 16, P: 14, Q: 14, R: 3, S: 3, pad: 1, from: input}
- {name: b, type: conv, C: 16, K: 32, P: 14, Q: 14, from: a}
- {name: c, type: conv, C: 32, K: 16, P: 14, Q: 14, from: b}
"""
MAPPERS = """experiment: mappers
architecture: machine/simba_here.yaml
network: net/small.yaml
limits: {max_evaluations: EVALUATIONS}
axes:
  engine: [random, descent]
  DRAM.bandwidth: [1 GB/s, 16 GB/s, 64 GB/s]
  GlobalBuffer.capacity: [64 B, 32 KiB, 128 KiB]
  PE.mesh: [2x2, 4x4]
  constraints:
    free: []
    inner: [{target: GlobalBuffer, type: temporal, permutation: CKP}]
zip: [[DRAM.bandwidth, GlobalBuffer.capacity]]
"""
POINTS = """experiment: points
architecture: machine/simba_here.yaml
network: net/small.yaml
engine: random
limits: {max_evaluations: 50}
points:
- {DRAM.bandwidth: 1 GB/s, batch: 1, seed: 1}
- {DRAM.bandwidth: 2 GB/s, batch: 2, seed: 7}
"""
SCHEDULERS = """experiment: schedulers
architecture: soma_here.yaml
network: net/small.yaml
limits: {max_evaluations: EVALUATIONS}
axes:
  engine: [unfused, soma]
  batch: [1, 2]
  DRAM.bandwidth: [8 GB/s, 32 GB/s]
  GBUF.capacity: [1 KiB, 64 KiB, 8 MiB]
  seed: SEEDS
"""
MEASURED = """experiment: measured
engine: cosa
measure: [noc, cosa]
axes:
  architecture: [machine/simba_here.yaml, ./machine/other.yaml]
  network: [net/small.yaml, net/../net/two.yaml]
  DRAM.bandwidth: [4 GB/s, 16 GB/s]
"""
TIMELOOP = """experiment: timeloop
architecture: machine/timeloop.yaml
network: net/small.yaml
engine: random
limits: {max_evaluations: 300}
axes: {seed: [1, 2, 3]}
"""

FAULTS = """experiment: faults
architecture: machine/simba_here.yaml
network: net/small.yaml
layers: [b]
engine: drill
options: {fault_every: 3}
axes:
  option.fault: [none, FAULT]
  seed: [1, 2, 3]
"""


def check(name, good, more=""):
    global n_check
    n_check += 1
    if not good:
        bad.append(name)
        print("not ok:", name, more)


def dse(*args, code=0, cwd=None):
    done = subprocess.run([DSE, *args], capture_output=True, text=True, check=False, cwd=cwd)
    check(f"dse {' '.join(args)}: exit code {code}", done.returncode == code,
          f"is {done.returncode}: {done.stdout[-2000:]} {done.stderr}")
    return done.stdout + done.stderr


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def prepare(home):
    """Inputs under names that nothing else has."""
    machines = os.path.join(ROOT, "experiments", "architectures")
    os.makedirs(os.path.join(home, "machine"))
    shutil.copy(os.path.join(machines, "simba.yaml"), os.path.join(home, "machine", "simba_here.yaml"))
    shutil.copy(os.path.join(machines, "simba_8x8.yaml"), os.path.join(home, "machine", "other.yaml"))
    shutil.copy(os.path.join(machines, "soma_edge.yaml"), os.path.join(home, "soma_here.yaml"))
    shutil.copy(os.path.join(ROOT, "tests", "known", "timeloop", "archs", "gb-rf-4x4-2.yaml"),
                os.path.join(home, "machine", "timeloop.yaml"))
    write(os.path.join(home, "net", "small.yaml"), NETWORK)
    write(os.path.join(home, "net", "two.yaml"), NETWORK.replace("H: 14, W: 14", "H: 7, W: 7").replace("P: 14, Q: 14", "P: 7, Q: 7"))


def run(home, text, *options, code=0):
    text = text.replace("EVALUATIONS", "1000" if MANY else "60")
    text = text.replace("SEEDS", "[1, 2, 3, 4, 5, 6]" if MANY else "[1]")
    if MANY:
        text = text.replace("PE.mesh: [2x2, 4x4]", "PE.mesh: [2x2, 2x4, 4x4, 4x8]\n  batch: [1, 2, 3, 4]")
        text = text.replace("DRAM.bandwidth: [4 GB/s, 16 GB/s]",
                            "DRAM.bandwidth: [1 GB/s, 2 GB/s, 4 GB/s, 8 GB/s, 16 GB/s]\n  batch: [1, 2, 3, 4, 8]")
    name = text.split()[1]
    write(os.path.join(home, name + ".yaml"), text)
    out = os.path.join(home, name + ".h5")
    dse("run", os.path.join(home, name + ".yaml"), "-o", out, *options, code=code)
    return out


def make(home):
    prepare(home)
    return {
        "mappers": run(home, MAPPERS, "--set", "seed=5", "--set", "option.search_bypass=true"),
        "points": run(home, POINTS),
        "schedulers": run(home, SCHEDULERS),
        "measured": run(home, MEASURED),
        "timeloop": run(home, TIMELOOP),
        "faults": run(home, FAULTS.replace("FAULT]", "too_good]"), code=1),
    }


def rerun_all(outs, away):
    for name, out in outs.items():
        how = ["--random", str(MANY), "--seed", "3"] if MANY else ["--all"]
        text = dse("rerun", out, *how, "-j", "2", cwd=away)
        with h5py.File(out, "r") as file:
            n = min(int(file.attrs["n_point"]), MANY or 1 << 30)
        check(f"{name}: {n} points equal", f" {n} equal" in text and "DIFFERS" not in text, text[-1500:])
        print(f"{name}: {text.splitlines()[-1]}")


def check_choice(out):
    text = dse("rerun", out, "--point", "2", "--point", "engine=descent,PE.mesh=4x4,constraints=free")
    check("a point by number and points by values", "4 of 24 points computed again: 4 equal" in text, text)
    text = dse("rerun", out)
    check("a sample", "10 of 24 points computed again: 10 equal" in text and "--all takes all" in text, text)
    check("no such point", "from 1 to 24" in dse("rerun", out, "--point", "25", code=2))
    check("no such axis", "did you mean PE.mesh" in dse("rerun", out, "--point", "PE.mesj=2x2", code=2))
    check("no such value", "has no value" in dse("rerun", out, "--point", "PE.mesh=9x9", code=2))
    dse("rerun", out, "--all", "--random", "2", code=2)
    same = [dse("rerun", out, "--random", "5", "--seed", "9", "-j", j) for j in ("1", "3")]
    check("the same choice and lines for any number of threads", same[0] == same[1] and "5 equal" in same[0])


def altered(out, change):
    """A copy that `change` has been at."""
    copy = out.replace(".h5", "_altered.h5")
    shutil.copy(out, copy)
    with h5py.File(copy, "r+") as file:
        change(file)
    return copy


def set_value(path, value):
    def change(file):
        at = next(i for i, word in enumerate(file["status"][()].ravel()) if word == b"ok")
        cell = tuple(int(i) for i in numpy.unravel_index(at, file["status"].shape))
        rest = file[path].ndim - len(cell)
        cell += tuple(0 for _ in range(rest))
        file[path][cell] = value(file[path][cell])
    return change


def check_altered(out):
    one_bit = lambda x: numpy.nextafter(x, 1e300)
    for path, value in (("energy_j", one_bit), ("latency_cycle", lambda x: x + 1), ("layers/edp_js", one_bit),
                        ("layers/mapping", lambda x: x.decode().replace("K", "C", 1)), ("stop", lambda x: "optimal"),
                        ("levels/byte", one_bit), ("layers/level_energy_j", one_bit), ("trace/cost", one_bit),
                        ("status", lambda x: "infeasible"), ("layers/status", lambda x: "odd")):
        text = dse("rerun", altered(out, set_value(path, value)), "--all", code=1)
        check(f"{path} was changed", "DIFFERS in 1 of" in text and "1 different" in text, text[-1500:])

    def input_byte(file):
        content = file["inputs/content"]
        at = list(file["inputs/role"][()]).index(b"architecture")
        content[at] = content[at].decode().replace("clock", "# a remark\nclock", 1)
    text = dse("rerun", altered(out, input_byte), "--point", "1", code=1)
    check("an input was changed", "specification_hash" in text, text)

    def axis(file):
        file["DRAM.bandwidth_byte_per_s"][0] = 3e9
    text = dse("rerun", altered(out, axis), "--point", "1", code=1)
    check("an axis was changed", "axis DRAM.bandwidth_byte_per_s, value 1: file 3000000000, now 1000000000" in text, text)

    def old(file):
        del file["inputs"]
    text = dse("rerun", altered(out, old), code=2)
    check("a file without inputs", "does not hold what it was computed from" in text and "inputs" in text, text)

    def lost(file):
        file["inputs/role"][...] = numpy.array(["network"] * len(file["inputs/role"]), dtype=object)
    dse("rerun", altered(out, lost), code=2)


def check_unfinished(home):
    """Shards are files with points missing; a merged file is as good as one of one run."""
    spec = os.path.join(home, "shards.yaml")
    write(spec, MAPPERS.replace("experiment: mappers", "experiment: shards").replace("EVALUATIONS", "20"))
    for k in ("1", "2"):
        dse("run", spec, "--shard", k + "/2", "-o", os.path.join(home, "shards.h5"))
    one, two, all_ = (os.path.join(home, f"shards{part}.h5") for part in (".1-of-2", ".2-of-2", ""))
    text = dse("rerun", one, "--all")
    check("a shard", "12 of 12 points computed again: 12 equal" in text, text)
    missing = [k for k in range(1, 25) if f"\n{k:6}  " not in "\n" + text]
    check("a point that is not there", "was not computed" in dse("rerun", one, "--point", str(missing[0]), code=2))
    dse("merge", all_, one, two)
    check("merged", "24 of 24 points computed again: 24 equal" in dse("rerun", all_, "--all"))


def check_clock(home):
    """A search that the clock ends."""
    spec = os.path.join(home, "clock.yaml")
    write(spec, "experiment: clock\narchitecture: machine/simba_here.yaml\nnetwork: net/small.yaml\nengine: annealing\n"
                "limits: {max_seconds: 0.02}\naxes: {seed: [1, 2]}\n")
    out = os.path.join(home, "clock.h5")
    dse("run", spec, "-o", out)
    text = dse("rerun", out, "--all")
    check("the clock ended it", "cannot repeat" in text or "2 equal" in text, text)


def check_crash(home):
    """An engine that crashes this time costs its point, not the program."""
    spec = os.path.join(home, "crash.yaml")
    write(spec, FAULTS.replace("FAULT]", "segfault]").replace("seed: [1, 2, 3]", "seed: [1, 2]"))
    out = os.path.join(home, "crash.h5")
    dse("run", spec, "-o", out)

    def more_often(file):
        content = file["inputs/content"]
        at = list(file["inputs/role"][()]).index(b"specification")
        content[at] = content[at].decode().replace("fault_every: 3", "fault_every: 2")
    text = dse("rerun", altered(out, more_often), "--all", code=1)
    check("a crash", "4 of 4 points computed again: 3 equal, 1 different" in text and "SIGSEGV" in text, text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        home, away = os.path.join(folder, "home"), os.path.join(folder, "away")
        os.makedirs(home)
        os.makedirs(away)
        outs = make(home)
        if not MANY:
            check_unfinished(home)
            check_clock(home)
            check_crash(home)
        write(os.path.join(home, "net", "small.yaml"), NETWORK.replace("K: 32", "K: 8"))
        check("an input has changed on disk", "1 equal" in dse("rerun", outs["mappers"], "--point", "7"))
        for name, out in outs.items():
            outs[name] = os.path.join(away, name + ".h5")
            shutil.move(out, outs[name])
        shutil.rmtree(home)
        rerun_all(outs, away)
        if not MANY:
            check_choice(outs["mappers"])
            check_altered(outs["mappers"])
    print(f"{n_check} checks, {len(bad)} failed")
    return 1 if bad else 0


sys.exit(main())
