"""What the hammers share: running dse, comparing result files, watching a folder, looking at processes."""
import ctypes
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DSE = os.path.abspath(os.environ.get("DSE") or os.path.join(ROOT, "build", "dse"))
TIMEOUT_S = 600  # for one command; far more than it takes, on any machine
NOT_COMPARED = ("start_time", "end_time", "command", "host", "n_thread")  # attributes that say how a file was made
LINKS = ("DIMENSION_LIST", "REFERENCE_LIST")  # of dimension scales: places in the file


def _load(name, path):
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


same_results = _load("same_results", os.path.join(ROOT, "scripts", "same-results"))


# ------------------------------------------------------------------------------------------------------ reporting

class Report:
    """Counts checks, each one test; `figures` go to standard output and to the file HAMMER_REPORT."""

    def __init__(self, name):
        self.name, self.n, self.bad, self.skipped, self.start = name, 0, 0, 0, time.monotonic()

    def check(self, good, what, more=""):
        self.n += 1
        if not good:
            self.bad += 1
            print(f"NOT OK: {what}: {more}", flush=True)
        return good

    def skip(self, what, why):
        self.n += 1
        self.skipped += 1
        self.figure(f"skipped: {what}: {why}")

    def figure(self, text):
        print(text, flush=True)
        if os.environ.get("HAMMER_REPORT"):
            with open(os.environ["HAMMER_REPORT"], "a", encoding="utf-8") as file:
                file.write(f"{self.name}: {text}\n")

    def finish(self):
        """The exit status; in the words of unittest, which scripts/run-tests counts."""
        print(f"Ran {self.n} tests in {time.monotonic() - self.start:.1f}s")
        print(f"{'FAILED' if self.bad else 'OK'} (failures={self.bad}, skipped={self.skipped})")
        return 1 if self.bad else 0


# -------------------------------------------------------------------------------------------------------- running

def environment(more=None):
    """That of the user, without what changes the number of threads."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "SLURM_"))}
    return {**kept, **(more or {})}


def dse(*args, preexec=None, timeout=TIMEOUT_S, more=None):
    """(exit code, standard error) of a command that is left alone; -99 when a sanitizer has found something. `more` goes into its environment."""
    done = subprocess.run([DSE, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=preexec, timeout=timeout,
                          env=environment(more), check=False)
    found = "Sanitizer" in done.stderr or "runtime error" in done.stderr
    return -99 if found else done.returncode, done.stderr


def start(*args, preexec=None):
    """A command in a session of its own, to be killed."""
    return subprocess.Popen([DSE, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=preexec, env=environment())


def stat_of(pid):
    """(state, parent, session) of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[1]), int(fields[3])
    except (OSError, IndexError):
        return None


def processes_of(session):
    """Living processes of a session (zombies are dead)."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = stat_of(name)
            if stat and stat[2] == session and stat[0] not in "ZX":
                found.append(int(name))
    return found


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def cpu_s(pid):
    """Processor time of a process and its children so far, as far as they have not ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(cpu_s, children_of(pid)))


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def wait_until_gone(session, seconds=10):
    """Processes of the session that are left after so long; they are killed."""
    until = time.monotonic() + seconds
    left = processes_of(session)
    while left and time.monotonic() < until:
        time.sleep(0.01)
        left = processes_of(session)
    for pid in left:
        kill(pid)
    return left


# ------------------------------------------------------------------------------------------------------ comparing

def _attributes(path):
    found = {}

    def note(name, item):
        for key in item.attrs:
            if key in NOT_COMPARED + LINKS:
                continue
            value = numpy.asarray(item.attrs[key])
            found[f"{name}@{key}"] = [None if word != word else word for word in value.ravel().tolist()]

    with h5py.File(path, "r") as file:
        note("", file)
        file.visititems(note)
    return found


def differences(first, second):
    """How two results differ by content, search times aside; empty when they are the same."""
    try:
        found = list(same_results.differences(first, second))
        a, b = _attributes(first), _attributes(second)
        for name in sorted(a.keys() | b.keys()):
            if a.get(name) != b.get(name):
                found.append(f"attribute {name}: {a.get(name)} and {b.get(name)}")
    except (OSError, ValueError, StopIteration) as error:
        found = [f"cannot be compared: {error}"]
    return found


def left_over(folder, allowed=()):
    """Files that a finished run should not leave."""
    ends = (".tmp", ".lock", ".new", ".merging.h5", ".merging.csv", ".merging.layers.csv")
    return [name for name in sorted(os.listdir(folder)) if (name.endswith(ends) or ".tmp" in name) and name not in allowed]


def count_rows(out):
    """Whole lines of OUT.csv behind its header."""
    try:
        with open(out[:-len(".h5")] + ".csv", "rb") as file:
            return max(file.read().count(b"\n") - 1, 0)
    except OSError:
        return 0


# --------------------------------------------------------------------------------------------- watching a folder

class Watch:
    """inotify (man 7 inotify) on one folder."""
    MODIFY, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x40, 0x80, 0x100, 0x200

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.fd < 0 or self.libc.inotify_add_watch(self.fd, os.fsencode(folder),
                                                      self.MODIFY | self.MOVED_FROM | self.MOVED_TO | self.CREATE | self.DELETE) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def wait(self, mask, ending, process, count=1):
        """Until the event has come `count` times to a file with this ending; False when the process ended first."""
        while True:
            ended = process.poll() is not None
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                if ended:
                    return False
                time.sleep(0.0002)
                continue
            at = 0
            while at < len(data):
                _, bits, _, length = struct.unpack_from("iIII", data, at)
                name = data[at + 16:at + 16 + length].rstrip(b"\0").decode()
                at += 16 + length
                if bits & mask and name.endswith(ending):
                    count -= 1
                    if count == 0:
                        return True

    def close(self):
        os.close(self.fd)


class Folder:
    """A temporary folder; `keep()` when something went wrong and it is worth looking at."""

    def __init__(self, name):
        self.path = tempfile.mkdtemp(prefix=f"dse-{name}-")
        self.kept = False

    def join(self, *parts):
        return os.path.join(self.path, *parts)

    def write(self, name, text):
        path = self.join(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if os.environ.get("HAMMER_KEEP"):
            print(f"files are kept in {self.path}")
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def numbers(values):
    return "[" + ", ".join(map(str, values)) + "]"


def argument(name, default):
    """NAME=value of the environment, or the first argument of the program."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else int(os.environ.get(name) or default)
