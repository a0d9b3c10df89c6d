#!/usr/bin/env python3
"""On a terminal of its own: progress, notes and `dse watch` show names that hold escapes, and no byte of them gets through.
Tests: printable.c."""
import os
import pty
import re
import select
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from program import DSE, check, dse, run_parts, write  # noqa: E402

# A title for the window, a colour, the one-byte CSI of C1, a bell, a carriage return, a delete.
EVIL = "\\e]0;owned\\a\\e[41m\\x9b31m\\r\\x7f"
NAME = EVIL.replace("\\r", "")  # a name is one line
SPEC = f"""experiment: evil
title: "before{EVIL}after"
architecture: simba
network: alexnet
layers: [conv2]
engine: drill
options: {{work: 0.4}}
axes:
  constraints:
    "name{NAME}one": []
    "name{NAME}two": [{{target: GlobalBuffer, type: temporal, factors: K=1}}]
  seed: [1, 2, 3]
"""


def on_terminal(args, seconds=60):
    """Every byte that the program sends to a terminal, and its exit code (None: still at work, then killed)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(DSE, [DSE, *args])
    said, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not more:
            break
        said += more
    else:
        os.kill(pid, 9)
    os.close(terminal)
    return said, os.waitpid(pid, 0)[1]


def strays(said):
    """What is left once the program's own way of redrawing lines is taken out: cursor and erase sequences, line ends."""
    own = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", lambda m: b"" if m.group()[-1:] in b"ABGHJKhl" else m.group(), said)
    text = own.decode(errors="replace")
    return [c for c in text if (ord(c) < 32 and c not in "\r\n") or 127 <= ord(c) < 160]


def terminal(folder):
    spec, out = write(os.path.join(folder, "s.yaml"), SPEC), os.path.join(folder, "s.h5")
    for what, args in (("run", ["run", spec, "-o", out, "-j", "1"]), ("status", ["status", out]), ("check", ["check", spec]),
                       ("watch", ["watch", out]), ("a bad key", ["run", write(os.path.join(folder, "b.yaml"), SPEC + f'"k{EVIL}": 1\n')])):
        said, _ = on_terminal(args)
        check(f"{what} says something", len(said) > 20, said)
        check(f"{what} sends nothing of a name", not strays(said) and b"owned\x07" not in said, said[:2000])
        check(f"{what} changes no colour by a name", b"\x1b[41m" not in said and b"31m" not in said.replace(b"?31m", b""), said[:2000])
    check("the run ended", dse("status", out)[0] in (0, 1), [on_terminal(["run", spec, "-o", out, "-j", "1"])[0], dse("status", out)])


run_parts(terminal)
