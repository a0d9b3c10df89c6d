#!/usr/bin/env python3
"""Disks that are full, limits on files, folders that cannot be written, paths that are folders, several writers: `dse run` and `dse merge` say
once what is wrong, end with exit code 1 or 2 and lose nothing; when it is put right the same command ends with the files of an undisturbed run.

usage: disk.py        DSE=build/dse; about two minutes; as root also with real full disks and read-only file systems
"""
import collections
import errno
import os
import re
import resource
import shutil
import subprocess
import sys
import time

import common

SPEC = """experiment: disk
architecture: simba
network: alexnet
layers: [conv2, fc8]
engine: drill
axes:
  seed: """ + common.numbers(range(1, 11)) + "\n  DRAM.bandwidth: " + common.numbers(f"{b} GB/s" for b in range(1, 31)) + "\n"
SLOW = SPEC.replace("engine: drill", "engine: drill\noptions: {work: 0.005}")
NOBODY = 65534
ENDINGS = (".h5", ".csv", ".layers.csv")


def sizes_of(out):
    return {end: os.path.getsize(out[:-len(".h5")] + end) for end in ENDINGS}


def tool(*command):
    """True when the system command did its work."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class Mount:
    """A file system under a folder while the block lasts."""

    def __init__(self, place, options, source="none", kind="tmpfs"):
        self.place, self.command = place, ["mount", "-t", kind, "-o", options, source, place]

    def __enter__(self):
        os.makedirs(self.place, exist_ok=True)
        self.done = os.geteuid() == 0 and tool(*self.command)
        return self.done

    def __exit__(self, *_):
        if self.done and not tool("umount", self.place):
            time.sleep(1)
            if not tool("umount", self.place):
                tool("umount", "-l", self.place)


class Disk:
    def __init__(self, folder):
        self.folder = folder
        os.chmod(folder.path, 0o755)  # some commands run as nobody
        self.report = common.Report("disk")
        self.messages = collections.Counter()
        self.refused = self.equal = 0
        self.spec = folder.write("disk.yaml", SPEC)
        self.reference = folder.join("whole.h5")
        self.shards = [folder.join(f"part.{k}-of-2.h5") for k in (1, 2)]
        self.must_succeed("run", self.spec, "-o", self.reference)
        for k in (1, 2):
            self.must_succeed("run", self.spec, "-o", folder.join("part.h5"), "--shard", f"{k}/2")

    def must_succeed(self, *args):
        code, err = common.dse(*args)
        if code != 0:
            raise SystemExit(f"dse {' '.join(args)}: exit code {code}: {err}")

    def broken(self, what, code, err, expected):
        """One message, of the expected kind."""
        lines = [line for line in err.splitlines() if re.search(expected, line)]
        good = self.report.check(code in (1, 2) and len(lines) == 1 and "internal" not in err, what,
                                 f"exit code {code}; {expected!r} in {len(lines)} lines of: {err}")
        if good:
            self.refused += 1
            text = re.sub(r"/\S*/", "", lines[0])
            self.messages[re.sub(r"\d+ points|\d\d\d\d-\S+ \S+ UTC|process \d+|pid \d+", "..", text)] += 1

    def mended(self, what, *args, out=None):
        """The same command, when all is well again."""
        out = out or args[args.index("-o") + 1]
        code, err = common.dse(*args)
        found = [f"exit code {code}: {err}"] if code != 0 else common.differences(self.reference, out)
        folder = os.path.dirname(out)
        found += [f"left behind: {name}" for name in common.left_over(folder)]
        self.equal += self.report.check(not found, what, "; ".join(found[:4]))

    def fresh(self):
        place = self.folder.join("place")
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        return place, os.path.join(place, "out.h5")

    def commands(self, out):
        return {"run": ["run", self.spec, "-o", out, "-j", "2"], "run -j 1": ["run", self.spec, "-o", out, "-j", "1"],
                "merge": ["merge", out, *self.shards]}

    # ------------------------------------------------------------------------------------------------ no room

    def try_full(self, what, args, out, before, make_room):
        """`before` rows of an earlier run are there; the disk is full at some point, or it was enough."""
        code, err = common.dse(*args)
        if code == 0:
            self.report.check(not common.differences(self.reference, out), what, "ended well, but the files differ")
            return
        self.broken(what, code, err, r"No space left on device|File too large|Disk quota exceeded")
        rows = common.count_rows(out)
        self.report.check(rows >= before, what, f"{before} rows have become {rows}")
        make_room()
        self.mended(what, *args, out=out)

    def full_tmpfs(self):
        total = sum(sizes_of(self.reference).values())
        place = self.folder.join("tmpfs")
        for name in ("run", "run -j 1", "merge"):
            for share in (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1):
                out = os.path.join(place, "out.h5")
                with Mount(place, f"size={max(int(share * total), 4096)}") as done:
                    what = f"{name}, disk of {share:g} of what it takes"
                    if not done:
                        return self.report.skip("full disks", "needs root and tmpfs")
                    self.try_full(what, self.commands(out)[name], out, 0,
                                  lambda: tool("mount", "-o", "remount,size=64m", place))
        for n in (1, 2, 3, 4, 5):
            out = os.path.join(place, "out.h5")
            with Mount(place, f"size=64m,nr_inodes={n}") as done:
                if done:
                    self.try_full(f"run, {n - 1} files", self.commands(out)["run"], out, 0,
                                  lambda: tool("mount", "-o", "remount,nr_inodes=1000", place))
        return None

    def full_ext4(self):
        image, place = self.folder.join("ext4.img"), self.folder.join("ext4")
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        if os.geteuid() != 0 or not tool("mkfs.ext4", "-q", "-F", "-m", "0", image):
            return self.report.skip("full ext4", "needs root and mkfs.ext4")
        with Mount(place, "loop", image, "ext4") as done:
            if not done:
                return self.report.skip("full ext4", "cannot be mounted here")
            out, filler = os.path.join(place, "out.h5"), os.path.join(place, "filler")
            for name in ("run", "merge"):
                for left in (0, 4096, 40960, 300000, 600000, 900000, 1500000):
                    for end in ENDINGS:
                        if os.path.exists(out[:-3] + end):
                            os.unlink(out[:-3] + end)
                    free = os.statvfs(place).f_bavail * os.statvfs(place).f_bsize
                    with open(filler, "wb") as file:
                        try:
                            os.posix_fallocate(file.fileno(), 0, max(free - left - 65536, 4096))
                            while os.statvfs(place).f_bavail * 4096 > left:
                                file.seek(0, 2)
                                file.write(b"x" * 4096)
                                file.flush()
                        except OSError:
                            pass
                    self.try_full(f"{name}, {left} byte left on ext4", self.commands(out)[name], out, 0,
                                  lambda: os.unlink(filler))
                    if os.path.exists(filler):
                        os.unlink(filler)
        os.unlink(image)
        return None

    def broken_disk(self):
        """Each call on a file that may fail does, for once or from then on."""
        library = self.folder.join("fault.so")
        source = os.path.join(common.ROOT, "tests", "hammer", "fault.c")
        if not tool(os.environ.get("CC") or "gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source, "-ldl"):
            return self.report.skip("broken disk", "fault.c cannot be compiled")
        for name in ("run", "merge"):
            for call, at in (("write", (1, 2, 3, 4, 5, 7, 10, 13)), ("pwrite", (1, 2, 3, 4, 6)), ("fsync", (1, 2, 3, 4, 5, 6)),
                             ("fdatasync", (1, 2)), ("rename", (1, 2, 3)), ("open", (1, 2, 3, 4, 5)), ("close", (1, 2, 3, 5, 8)),
                             ("ftruncate", (1,))):
                for i, first in enumerate(at):
                    self.break_call(name, call, (errno.EIO, errno.EDQUOT, errno.ENOSPC)[i % 3], first, first + 1, library)
                    self.break_call(name, call, (errno.EDQUOT, errno.EIO, errno.ESTALE)[i % 3], first, 1 << 30, library)
        return None

    def break_call(self, name, call, number, first, last, library):
        _, out = self.fresh()
        args = self.commands(out)[name]
        what = f"{name}, {call} {first} to {last} says {os.strerror(number)}"
        more = {"LD_PRELOAD": library, "HAMMER_FAULT": f"{call}:{number}:{first}:{last}",
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        code, err = common.dse(*args, more=more)
        if code == 0:  # so late or so little that it did no harm
            self.report.check(not common.differences(self.reference, out), what, "ended well, but the files differ")
            return
        self.broken(what, code, err, re.escape(os.strerror(number)))
        self.mended(what + " no more", *args, out=out)

    def limited_files(self):
        sizes = sizes_of(self.reference)
        tried = sorted({int(size * share) for size in sizes.values() for share in (0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.97, 0.999)})
        for name in ("run", "merge"):
            for limit in [0, 1, 100] + tried:
                _, out = self.fresh()
                args = self.commands(out)[name]
                what = f"{name}, files of at most {limit} byte"
                code, err = common.dse(*args, preexec=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                if code == 0:
                    self.report.check(not common.differences(self.reference, out), what, "ended well, but the files differ")
                    continue
                self.broken(what, code, err, "File too large")
                self.mended(what, *args, out=out)

    # ---------------------------------------------------------------------------------------- cannot be written

    def stopped_half_way(self, out):
        """Files of a run that was killed, to be kept whatever comes; the rows that are there."""
        for tries in range(8):
            process = common.start("run", self.folder.write("slow.yaml", SLOW), "-o", out, "-j", "1")
            time.sleep(0.5 + 0.2 * tries)
            common.kill(process.pid)
            process.wait()
            common.wait_until_gone(process.pid)
            if common.count_rows(out) > 10:
                break
        for end in (".lock", ".h5.tmp"):
            if os.path.exists(out[:-3] + end):
                os.unlink(out[:-3] + end)
        return common.count_rows(out)

    def read_only(self):
        place = self.folder.join("readonly")
        out = os.path.join(place, "out.h5")
        with Mount(place, "size=64m") as done:
            if not done:
                self.report.skip("read-only file system", "needs root")
            for name in ("run", "merge", "resume") if done else ():
                rows = self.stopped_half_way(out) if name == "resume" else 0
                args = self.commands(out)["merge" if name == "merge" else "run"]
                spec = args[1]
                if name == "resume":
                    args[1] = self.folder.join("slow.yaml")
                tool("mount", "-o", "remount,ro", place)
                code, err = common.dse(*args)
                self.broken(f"{name}, read-only file system", code, err, "Read-only file system")
                self.report.check(common.count_rows(out) == rows, name, "rows are lost")
                tool("mount", "-o", "remount,rw", place)
                if name == "resume":
                    code, err = common.dse(*args)
                    self.report.check(code == 0 and "there already" in err, name, err)
                else:
                    args[1] = spec
                    self.mended(f"{name} after it was read-only", *args, out=out)
                for end in ENDINGS:
                    os.unlink(out[:-3] + end)
        self.no_permission()
        self.immutable()

    def no_permission(self):
        place, out = self.fresh()
        os.chmod(place, 0o555)
        for name in ("run", "merge"):
            args = self.commands(out)[name]
            code, err = common.dse(*args, preexec=become_nobody if os.geteuid() == 0 else None)
            self.broken(f"{name} without permission", code, err, "Permission denied")
        os.chmod(place, 0o755)
        self.mended("run with permission", *self.commands(out)["run"], out=out)

    def immutable(self):
        place, out = self.fresh()
        if not tool("chattr", "+i", place):
            return self.report.skip("chattr +i", "not here")
        try:
            code, err = common.dse(*self.commands(out)["run"])
            self.broken("run in an immutable folder", code, err, "Operation not permitted")
        finally:
            tool("chattr", "-i", place)
        self.mended("run when it is no longer immutable", *self.commands(out)["run"], out=out)
        return None

    def folders_in_the_way(self):
        for name in ("run", "merge"):
            endings = (".h5", ".csv", ".layers.csv", ".lock", ".h5.tmp") if name == "run" else \
                (".h5", ".csv", ".layers.csv", ".lock", ".merging.h5", ".merging.csv", ".merging.layers.csv", ".merging.h5.tmp")
            for ending in endings:
                _, out = self.fresh()
                blocker = out[:-3] + ending
                os.mkdir(blocker)
                with open(os.path.join(blocker, "precious"), "w", encoding="ascii") as file:
                    file.write("keep me")
                what = f"{name}, out{ending} is a folder"
                began = time.monotonic()
                code, err = common.dse(*self.commands(out)[name])
                self.broken(what, code, err, r"directory|folder|exists and is not")
                self.report.check(time.monotonic() - began < 60, what, "took too long to find out")
                self.report.check(os.path.exists(os.path.join(blocker, "precious")), what, "what is in the folder is gone")
                shutil.rmtree(blocker, ignore_errors=True)
                self.mended(what + " no more", *self.commands(out)[name], out=out)

    def odd_paths(self):
        _, out = self.fresh()
        missing = os.path.join(os.path.dirname(out), "no", "such", "out.h5")
        for name in ("run", "merge"):
            code, err = common.dse(*self.commands(missing)[name])
            self.broken(f"{name} into a missing folder", code, err, "No such file or directory")
        os.makedirs(os.path.dirname(missing))
        self.mended("run when the folder is there", *self.commands(missing)["run"], out=missing)
        for ending in (".csv", ".layers.csv"):
            _, out = self.fresh()
            os.symlink("/dev/full", out[:-3] + ending)
            code, err = common.dse(*self.commands(out)["run"], timeout=60)
            self.broken(f"out{ending} is /dev/full", code, err, "out.*csv")
            os.unlink(out[:-3] + ending)
            self.mended("and no more", *self.commands(out)["run"], out=out)

    # ---------------------------------------------------------------------------------------------- two writers

    def two_writers(self):
        # 300 points of two searches of 20 ms: it still writes when each of three refused commands has waited a second for its lock
        spec = self.folder.write("slow.yaml", SLOW.replace("0.005", "0.02"))
        whole = self.folder.join("slow.h5")
        self.must_succeed("run", spec, "-o", whole)
        _, out = self.fresh()
        args = ["run", spec, "-o", out, "-j", "1"]
        first = common.start(*args)
        until = time.monotonic() + 60
        while common.count_rows(out) == 0 and time.monotonic() < until:
            time.sleep(0.01)
        for name, more in (("run", args), ("run --fresh", args + ["--fresh"]), ("merge", ["merge", out, *self.shards])):
            code, err = common.dse(*more)
            self.broken(f"{name} while another writes", code, err, r"process \d+|pid \d+")
        self.report.check(first.wait(common.TIMEOUT_S) == 0, "first of two writers", f"exit code {first.returncode}")
        self.report.check(not common.differences(whole, out), "first of two writers", "the files differ")
        for how in range(3):
            _, out = self.fresh()
            crowd = [common.start("run", spec, "-o", out, "-j", "1") for _ in range(6)]
            codes = [process.wait(common.TIMEOUT_S) for process in crowd]
            found = common.differences(whole, out)
            self.report.check(sorted(codes)[0] == 0 and set(codes) <= {0, 2} and not found, f"six writers at once ({how})",
                              f"{codes} {found[:3]}")

    def run(self):
        for part in (self.two_writers, self.folders_in_the_way, self.odd_paths, self.read_only, self.limited_files, self.full_tmpfs,
                     self.full_ext4, self.broken_disk):
            began = self.report.n
            part()
            self.report.figure(f"{part.__name__.replace('_', ' ')}: {self.report.n - began} checks")
        self.report.figure(f"{self.refused} commands ended with one message, {self.equal} files equal after the same command again; messages:")
        for text, n in sorted(self.messages.items()):
            self.report.figure(f"{n:4d} {text}")
        return self.report.finish()


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def main():
    with common.Folder("disk") as folder:
        return Disk(folder).run()


if __name__ == "__main__":
    sys.exit(main())
