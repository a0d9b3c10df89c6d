#!/usr/bin/env python3
"""Mutated inputs of every kind through the real program: each run ends by itself with exit code 0 to 2, without a report of a
sanitizer, an error is one line that names the file (dse check: up to 21), and no output is left half-written.

usage: mutated_inputs.py [INPUTS-PER-KIND [SEED]]   (default 25, so that more than 300 inputs fit into `make check`)

The mutations depend on SEED only; a failing input is printed with its kind and number, and kept in MUTATED_KEEP when that is set."""
import concurrent.futures
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile

DSE = os.path.abspath(os.environ["DSE"])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
KNOWN = os.path.join(ROOT, "tests", "known", "timeloop")
INTERSTELLAR = os.path.join(ROOT, "experiments", "interstellar")
TIMEOUT_S = 30  # "within seconds", on a loaded machine and under sanitizers

SPEC = """experiment: e
architecture: arch.yaml
network: net.yaml
engine: random
objective: edp
seed: 3
limits: {max_evaluations: 20}
options: {search_size: 10}
axes:
  Buffer.capacity: [4 KiB, 8 KiB]
  batch: [1, 2]
plot: {x: Buffer.capacity, y: batch, metric: edp_js}
"""
ARCH = """architecture: small
clock: 1 GHz
hierarchy:
- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}
- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}
- {array: PE, mesh: 4x4}
- {macs: MAC, word: 8 bit, energy: 0.1 pJ}
"""
NET = """network: tiny
input: {C: 3, H: 8, W: 8}
layers:
- {name: one, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}
- {name: two, type: conv, C: 8, K: 8, P: 4, Q: 4, R: 3, S: 3, pad: 1, stride: 2, from: one}
- {name: fc, type: linear, C: 128, K: 10, from: two}
"""
CASE = "003_eyeriss168_resnet50-conv5-1x1-n2"
TOKENS = ["nan", "inf", "-inf", "-1", "0", "1e308", "1e-320", "18446744073709551615", "18446744073709551616", "9" * 400,
          "0x10", "null", "~", "true", "[]", "{}", "''", "*a", "&a [*a]", "!!binary x", "\u00e9\u4e2d\U0001f600", "\u202e", "%s%n",
          "../../etc/passwd", "/", "a" * 5000, "4 KiB", "1e3 GB/s", "- x", "x: y", ": ", "#", "---", "...", "\t"]


def dse(*words, cwd, timeout=TIMEOUT_S):
    return subprocess.run([DSE, *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, check=False)


def copy(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def first_files(folder):
    """The good files: {name: bytes}."""
    good = {"spec.yaml": SPEC.encode(), "arch.yaml": ARCH.encode(), "net.yaml": NET.encode(),
            "tlarch.yaml": copy(KNOWN, "archs", "eyeriss168.yaml"),
            "problem.yaml": copy(KNOWN, "problems", "resnet50-conv5-1x1-n2.yaml"),
            "map.yaml": copy(KNOWN, "maps", CASE + ".yaml"),
            "constraints.yaml": b"- {target: Buffer, type: temporal, permutation: RSPQCKN}\n- {target: PE, type: spatial, factors: K4}\n",
            "machine.json": copy(INTERSTELLAR, "architectures", "split_wbypass.json"),
            "ck.json": copy(INTERSTELLAR, "schedules", "CK16.json"),
            "layers.csv": b"name,B,K,C,X,Y,FX,FY,stride,groups,count,note\none,2,32,16,8,8,3,3,1,1,1,\"a, b\"\ntwo,2,16,16,8,8,3,3,2,16,3,\n",
            "layer.json": b'{"fmap_width": 8, "fmap_height": 8, "input_fmap_channel": 16,\n "output_fmap_channel": 32, "window_width": 3, '
                          b'"window_height": 3,\n "batch_size": 2, "stride_width": 2}\n',
            "points.txt": b"# a comment\n[IC:8 OY:8] / [-Weights OC:2 FX:3] / [FY:3 ON:2] ; L0 OC:16 | IC:2 OX:8\n\n"
                          b"[IC:8] / [] / [OY:8 IC:2 OC:32 FX:3 FY:3 OX:8 ON:2]\n",
            "fnet.yaml": copy(ROOT, "tests", "known", "soma", "tiny6.yaml"),
            "farch.yaml": copy(ROOT, "experiments", "architectures", "soma_edge.yaml")}
    for name, content in good.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    made = {"native.yaml": ("map", "arch.yaml", "net.yaml", "-l", "one", "-e", "random", "-n", "20", "-f", "yaml"),
            "schedule.yaml": ("map", "farch.yaml", "fnet.yaml", "-e", "unfused", "-f", "yaml")}
    for name, words in made.items():
        done = dse(*words, cwd=folder)
        assert done.returncode == 0, (words, done.stderr)
        good[name] = done.stdout
        with open(os.path.join(folder, name), "wb") as file:
            file.write(done.stdout)
    for words in (("run", "spec.yaml", "-o", "out.h5", "-j", "1"),
                  ("eval", "farch.yaml", "fnet.yaml", "schedule.yaml", "--timeline", "time.h5")):
        done = dse(*words, cwd=folder)
        assert done.returncode == 0, (words, done.stderr)
    for name in ("out.h5", "out.csv", "out.layers.csv", "time.h5"):
        good[name] = copy(folder, name)
    return good


# kind: (the file that is mutated, names one of which an error has, the commands, tried in turn)
KINDS = {
    "specification": ("spec.yaml", ("spec.yaml",),
                      [("check", "spec.yaml"),
                       ("run", "spec.yaml", "--dry-run", "-j", "1", "--set", "limits.max_evaluations=20")]),
    "architecture": ("arch.yaml", ("arch.yaml", "spec.yaml"),
                     [("check", "spec.yaml"), ("map", "arch.yaml", "net.yaml", "-e", "random", "-n", "20", "-j", "1")]),
    "network": ("net.yaml", ("net.yaml", "tiny"),
                [("check", "spec.yaml"), ("map", "arch.yaml", "net.yaml", "-e", "random", "-n", "20", "-j", "1"),
                 ("eval", "arch.yaml", "net.yaml:one", "native.yaml")]),
    "constraints": ("constraints.yaml", ("constraints.yaml",),
                    [("map", "arch.yaml", "net.yaml", "-c", "constraints.yaml", "-e", "random", "-n", "20", "-j", "1")]),
    "interstellar architecture": ("machine.json", ("machine.json",),
                                  [("map", "machine.json", "layers.csv", "-e", "random", "-n", "20", "-j", "1", "--accounting", "interstellar")]),
    "interstellar layers": ("layers.csv", ("layers.csv",), [("map", "arch.yaml", "layers.csv", "-e", "random", "-n", "20", "-j", "1")]),
    "interstellar layer": ("layer.json", ("layer.json", "points.txt:"),
                           [("check", "layer.json"), ("map", "machine.json", "layer.json", "-e", "interstellar", "-n", "20", "-t", "1", "-j", "1"),
                            ("eval", "machine.json", "layer.json", "points.txt", "--accounting", "interstellar", "--no-fit", "-r", "levels")]),
    "mappings of one line": ("points.txt", ("points.txt",),
                             [("eval", "machine.json", "layer.json", "points.txt", "--accounting", "interstellar", "--no-fit", "-r", report)
                              for report in ("summary", "networks")]),
    "interstellar schedule": ("ck.json", ("ck.json", "infeasible"),
                              [("map", "machine.json", "layers.csv", "-c", "ck.json", "-e", "random", "-n", "20", "-j", "1",
                                "--accounting", "interstellar")]),
    "timeloop architecture": ("tlarch.yaml", ("tlarch.yaml", "map.yaml"), [("eval", "tlarch.yaml", "problem.yaml", "map.yaml")]),
    "timeloop problem": ("problem.yaml", ("problem.yaml", "map.yaml"), [("eval", "tlarch.yaml", "problem.yaml", "map.yaml")]),
    "timeloop mapping": ("map.yaml", ("map.yaml",), [("eval", "tlarch.yaml", "problem.yaml", "map.yaml")]),
    "mapping": ("native.yaml", ("native.yaml",), [("eval", "arch.yaml", "net.yaml:one", "native.yaml")]),
    "schedule": ("schedule.yaml", ("schedule.yaml", "fnet.yaml is a whole network"),
                 [("eval", "farch.yaml", "fnet.yaml", "schedule.yaml"),
                  ("plot", "schedule.yaml", "--arch", "farch.yaml", "--network", "fnet.yaml", "-o", "figure.png")]),
    "journal": ("out.csv", ("out.csv", "out.h5"),
                [("status", "out.h5"), ("run", "spec.yaml", "-o", "out.h5", "-j", "1"), ("merge", "all.h5", "out.h5")]),
    "layers": ("out.layers.csv", ("out.layers.csv", "out.csv", "out.h5"),
               [("run", "spec.yaml", "-o", "out.h5", "-j", "1"), ("merge", "all.h5", "out.h5"), ("status", "out.h5")]),
    "result file": ("out.h5", ("out.h5",),
                    [("plot", "out.h5", "-o", "figure.png"), ("report", "out.h5", "-o", "page.html"), ("merge", "all.h5", "out.h5"),
                     ("status", "out.h5")]),
    "timeline": ("time.h5", ("time.h5",), [("plot", "time.h5", "-o", "figure.png")]),
}


def mutate_text(rnd, text):
    lines = text.split(b"\n")
    choice = rnd.randrange(10)
    at = rnd.randrange(len(lines))
    if choice == 0:
        lines.insert(at, lines[rnd.randrange(len(lines))])
    elif choice == 1:
        del lines[at]
    elif choice == 2:
        other = rnd.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif choice == 3:
        lines[at] = rnd.choice([b"  ", b"\t", b"- ", b"    - "]) + lines[at]
    elif choice == 4:
        return text[:rnd.randrange(len(text) + 1)]
    elif choice == 5:
        return text.replace(b"\n", b"\r\n") if rnd.randrange(2) else b"\xef\xbb\xbf" + text
    else:
        words = list(re.finditer(rb"[A-Za-z0-9_.+-]+", text))
        word = rnd.choice(words)
        if choice == 6:
            other = rnd.choice(words).group()
        else:
            other = rnd.choice(TOKENS).encode()
        return text[:word.start()] + other + text[word.end():]
    return b"\n".join(lines)


def mutate_bytes(rnd, data):
    data = bytearray(data)
    choice = rnd.randrange(8)
    if choice == 0:
        return bytes(data[:rnd.randrange(len(data) + 1)])
    if choice == 1:
        at, n = rnd.randrange(len(data)), rnd.randrange(1, 64)
        return bytes(data[:at] + data[at + n:])
    if choice == 2:
        at = rnd.randrange(len(data))
        return bytes(data[:at] + data[at:at + 100] + data[at:])
    for _ in range(rnd.choice([1, 1, 2, 8])):
        at = rnd.randrange(len(data))
        data[at] = rnd.choice([0, 255, 10, data[at] ^ (1 << rnd.randrange(8)), rnd.randrange(256)])
    return bytes(data)




def special(number):
    """Files that are not what a file should be: a function that puts one at a path, or None behind the last."""
    def sized(path):
        with open(path, "wb") as file:
            file.truncate((64 << 20) + 1)

    def write(content):
        def put(path):
            with open(path, "wb") as file:
                file.write(content)
        return put

    def unreadable(path):
        write(b"x")(path)
        os.chmod(path, 0)

    table = [write(b""), os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("/dev/null", path),
             lambda path: os.symlink(path, path), lambda path: os.symlink("/nowhere/at/all", path), unreadable, sized,
             write(b"[" * 20000), write(b"{a: " * 20000), write(b"- " * 20000), write(b"\0" * 100), write(b"\xff\xfea\0b\0"),
             write(b"a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n" * 2),
             write(b"\n" * 100000), write(b"x" * 1000000)]
    return table[number] if number < len(table) else None


def prepare(good, folder, kind, number, seed):
    """A folder of good files with the mutated one among them."""
    name = KINDS[kind][0]
    os.mkdir(folder)
    for other, content in good.items():
        if other != name:
            with open(os.path.join(folder, other), "wb") as file:
                file.write(content)
    path = os.path.join(folder, name)
    put = special(number)
    if put:
        put(path)
        return
    rnd = random.Random(f"{seed} {kind} {number}")
    data = good[name]
    for _ in range(rnd.choice([1, 1, 1, 2, 4])):
        is_text = name.endswith((".yaml", ".csv", ".json", ".txt")) and rnd.random() < 0.75
        data = (mutate_text if is_text else mutate_bytes)(rnd, data) if data else data
    if name.endswith(".h5") and rnd.randrange(2):  # without its seal, so that HDF5 meets the damage
        data = data[:-64] if b"\nsealed by dse " in data[-64:] else data
    with open(path, "wb") as file:
        file.write(data)


def complaint(kind, words, done, folder, before):
    """What is wrong with the end of a run, or None."""
    name, names, _ = KINDS[kind]
    text = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1, 2):
        return f"exit code {done.returncode}"
    if "Sanitizer" in text or "runtime error" in text:
        return "a sanitizer's report"
    left = {entry for entry in os.listdir(folder)} - before
    half = [entry for entry in left if entry.endswith((".tmp", ".lock")) or ".merging" in entry]
    if half:
        return f"left behind: {half}"
    if done.returncode == 2:
        lines = [line for line in text.splitlines() if line.startswith("dse: ") and not line.startswith("dse: note:")]
        other = [line for line in text.splitlines() if not line.startswith(("dse: ", "["))]
        most = 21 if words[0] == "check" else 1  # dse check tells all that is wrong
        if not 1 <= len(lines) <= most or other:
            return f"not from 1 to {most} lines"
        if not all(any(known in line for known in (*names, "the template ", "gnuplot", "dse: and ")) for line in lines):
            return f"{name} is not named"
        if any(ord(c) < 32 for c in "".join(lines)):
            return "control characters"
        if words[0] in ("merge", "plot") and any(entry.startswith(("all.", "figure.")) for entry in left):
            return f"an output in spite of an error: {sorted(left)}"
    return None


def try_one(job):
    good, base, kind, number, seed = job
    commands = KINDS[kind][2]
    words = commands[number % len(commands)]
    folder = os.path.join(base, f"{kind.replace(' ', '-')}-{number}")
    prepare(good, folder, kind, number, seed)
    before = set(os.listdir(folder))
    try:
        done = dse(*words, cwd=folder)
        bad = complaint(kind, words, done, folder, before)
        text = done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        bad, text = f"not ended after {TIMEOUT_S} s", ""
    if bad and os.environ.get("MUTATED_KEEP"):
        shutil.copytree(folder, os.path.join(os.environ["MUTATED_KEEP"], os.path.basename(folder)), symlinks=True,
                        ignore=lambda path, names: [n for n in names if stat.S_ISFIFO(os.lstat(os.path.join(path, n)).st_mode)])
    shutil.rmtree(folder)
    code = done.returncode if not (bad and bad.startswith("not ended")) else -1
    return kind, number, words, bad, text, code


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    seed = sys.argv[2] if len(sys.argv) > 2 else "1"
    n_bad, codes = 0, {}
    with tempfile.TemporaryDirectory() as base:
        os.mkdir(os.path.join(base, "good"))
        good = first_files(os.path.join(base, "good"))
        jobs = [(good, base, kind, number, seed) for kind in KINDS for number in range(n)]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for kind, number, words, bad, text, code in pool.map(try_one, jobs):
                codes[code] = codes.get(code, 0) + 1
                if bad:
                    n_bad += 1
                    print(f"not ok: {kind} {number} of seed {seed}: dse {' '.join(words)}: {bad}\n    {text[:600]}")
    print(f"{len(jobs)} mutated inputs, exit codes {sorted(codes.items())}, {n_bad} bad")
    return n_bad > 0


if __name__ == "__main__":
    sys.exit(main())
