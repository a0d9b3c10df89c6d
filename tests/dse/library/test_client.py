#!/usr/bin/env python3
"""libdse.so from outside: it shows the names of dse.h and no other, C and C++ take the header, and a program linked with it says what `dse
sample`, `dse eval` and `dse map` say, wherever it is started.
LIBRARY_EVALS=200: so many mappings through `dse eval` instead of a few. CLIENT_WRAP: what the client runs under, such as valgrind.
Tests: library_open.c, library_layer.c, library_mapping.c, library_map.c."""
import csv
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile

DSE = os.path.abspath(os.environ["DSE"])
FOLDER = os.path.dirname(DSE)
LIBRARY = os.path.join(FOLDER, "libdse.so")
VARIANT = os.environ.get("VARIANT", "release")
CC = os.environ.get("CC", "gcc")
WRAP = shlex.split(os.environ.get("CLIENT_WRAP", ""))
SANITIZE = {"asan": ["-fsanitize=address,undefined"], "tsan": ["-fsanitize=thread"]}.get(VARIANT, [])
N_EVAL = int(os.environ.get("LIBRARY_EVALS", "4"))
SET = ["DRAM.bandwidth", "10 GB/s"]
bad = n = 0


def check(what, good, more=""):
    global bad, n
    n += 1
    if not good:
        bad += 1
        print(f"not ok: {what}\n{more}")


def run(*command, text=None, cwd=None):
    done = subprocess.run(command, input=text, text=True, capture_output=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def names():
    with open("dse/library/dse.h", encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    header = set(re.findall(r"^DSE_PUBLIC[^;]*?\b(dse_\w+)\(", text, re.M))
    _, out, _ = run("nm", "-D", "--defined-only", LIBRARY)
    shown = {line.split()[2] for line in out.splitlines()}
    check("the library shows the header's names", header and shown == header, f"{sorted(shown ^ header)}")
    _, out, _ = run("objdump", "-p", LIBRARY)
    check("it has a soname", re.search(r"SONAME +libdse\.so\.\d+$", out, re.M), out)


def header(folder):
    """The header alone, in either language, with warnings."""
    for name in ("a.c", "a.cc"):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write('#include "dse.h"\nconst char *f(void);\nconst char *f(void) { return dse_version(); }\n')
        std = "-std=c99" if name == "a.c" else "-std=c++11"
        code, _, err = run(CC, std, "-pedantic", "-Wall", "-Wextra", "-Werror", "-Idse/library", "-fsyntax-only", path)
        if "cc1plus" not in err:  # no C++ here
            check(f"{name} takes the header", code == 0, err)


def built(folder, *flags):
    path = os.path.join(folder, "client")
    code, _, err = run(CC, "-std=c11", "-D_GNU_SOURCE", "-Wall", *SANITIZE, "tests/dse/library/client.c", "-o", path, *flags)
    check("the client is built", code == 0, err)
    return path


def agrees(client, folder):
    """Mappings, and the search, priced by the program and by the client: the same numbers."""
    command = ("simba", "resnet50", "conv1")
    where = ["--set", "=".join(SET)]
    _, out, err = run(DSE, "sample", *command, "-n", "200", "-s", "3", "--search-bypass", "--mapping", *where)
    csv.field_size_limit(1 << 27)
    rows = list(csv.DictReader(io.StringIO(out)))
    check("there are 200 mappings", len(rows) == 200, err)
    lines = "".join(row["mapping"] + "\n" for row in rows)
    code, out, err = run(*WRAP, client, *command, "random", *SET, text=lines, cwd=folder)  # a folder without experiments/
    check("the client ends well", code == 0, err)
    priced = [tuple(map(float, line.split(","))) for line in out.splitlines()[:200]]
    check("dse sample and the client agree",
          priced == [tuple(float(row[name]) for name in ("latency_cycle", "energy_j", "edp_js")) for row in rows])
    for row, price in list(zip(rows, priced))[:N_EVAL]:
        path = os.path.join(folder, "mapping.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(row["mapping"])
        _, said, err = run(DSE, "eval", "simba", "resnet50:conv1", path, "-r", "summary", "-f", "csv", *where)
        summary = dict(csv.reader(io.StringIO(said)))
        # dse eval adds up the plain evaluation's parts, in another order
        check("dse eval and the client agree", float(summary["latency_cycle"]) == price[0] and
              abs(float(summary["energy_j"]) / price[1] - 1) < 1e-14, f"{price} {said} {err}")
    found = dict(line.split("=", 1) for line in out.splitlines()[200:])
    _, said, err = run(DSE, "map", "simba", "resnet50", "-l", "conv1", "-e", "random", "-n", "200", "-f", "csv", *where)
    mapped = next(csv.DictReader(io.StringIO(said)))
    check("dse map and the client agree", all(float(found[name]) == float(mapped[name]) for name in
                                              ("latency_cycle", "energy_j", "edp_js", "bound_edp_ratio", "evaluations")), f"{found} {said} {err}")
    code, out, err = run(client, "simba", "resnet50", "conv9", "random", text="")
    check("an error is a sentence", code == 1 and "network resnet50 has no layer \"conv9\"" in err, err)
    code, _, err = run(client, "simba", "resnet50", "conv1", "random", text="mapping: [{}]\n")
    check("of a mapping too", code == 1 and "the mapping:1:" in err, err)


with tempfile.TemporaryDirectory() as scratch:
    names()
    header(scratch)
    agrees(built(scratch, "-Idse/library", f"-L{FOLDER}", "-ldse", f"-Wl,-rpath,{FOLDER}"), scratch)
print(f"{n} checks, {bad} failed")
sys.exit(bad > 0)
