#!/usr/bin/env python3
"""A table that has lost points which its OUT.h5 still holds: it is said, nothing changes, and --repair takes them from there, byte for byte.
An OUT.h5 that is up to date is not built again; one of other rows, of another specification or edited is.
Tests: run_restore.c, run_resume.c."""
import glob
import os

from program import check, dse, read, run_parts, write

SPEC = """experiment: lost
architecture: simba
network: alexnet
layers: [conv2, fc8]
engine: random
limits: {max_evaluations: 20}
axes:
  GlobalBuffer.capacity: [8 B, 64 KiB]
  DRAM.bandwidth: [1 GB/s, 2 GB/s, 3 GB/s]
  seed: [1, 2, 3]
"""


class Sweep:
    def __init__(self, folder):
        self.spec = write(os.path.join(folder, "lost.yaml"), SPEC)
        self.out = os.path.join(folder, "y.h5")
        self.csv, self.layers = self.out[:-3] + ".csv", self.out[:-3] + ".layers.csv"
        self.args = ["run", self.spec, "-o", self.out, "-j", "1"]
        dse(*self.args)
        self.whole = self.tables()
        self.code = dse(*self.args)[0]  # 1: some points have no mapping

    def tables(self):
        return [sorted(read(path).splitlines()) if os.path.exists(path) else None for path in (self.csv, self.layers)]

    def all_bytes(self):
        return [read(path) if os.path.exists(path) else None for path in (self.out, self.csv, self.layers)]

    def lose(self, name, change):
        """`change` the tables; a run refuses, one with --repair has them back."""
        change()
        before = self.all_bytes()
        code, err = dse(*self.args)
        check(f"{name}: refused", code == 2 and "--repair" in err and err.count("\n") == 1, f"{code} {err}")
        check(f"{name}: nothing changed", self.all_bytes() == before)
        code, err = dse(*self.args, "--repair")
        check(f"{name}: repaired", code == self.code and "18 were there already" in err, f"{code} {err}")
        check(f"{name}: as they were", self.tables() == self.whole)
        for path in glob.glob(self.out[:-3] + ".damaged*"):
            os.unlink(path)


def lost_points(folder):
    s = Sweep(folder)

    def cut(path, byte):
        return lambda: os.truncate(path, byte)

    s.lose("an emptied table", cut(s.csv, 0))
    s.lose("a table cut between lines", lambda: write(s.csv, b"".join(read(s.csv).splitlines(True)[:9])))
    s.lose("a table cut in a line", cut(s.csv, len(read(s.csv)) - 30))
    s.lose("a table that is gone", lambda: os.unlink(s.csv))
    s.lose("both tables gone", lambda: (os.unlink(s.csv), os.unlink(s.layers)))
    s.lose("emptied layers", cut(s.layers, 0))
    s.lose("cut layers", cut(s.layers, 5000))
    s.lose("a damaged header", lambda: write(s.csv, b"X" + read(s.csv)[1:]))
    s.lose("no header", lambda: write(s.csv, read(s.csv).split(b"\n", 1)[1]))
    s.lose("Windows line ends", lambda: write(s.csv, b"\xef\xbb\xbf" + read(s.csv).replace(b"\n", b"\r\n")))
    s.lose("a damaged line", lambda: write(s.csv, read(s.csv)[:-40] + b"#" + read(s.csv)[-39:]))
    code, err = dse("merge", os.path.join(folder, "all.h5"), s.out)
    check("a merge of it", code in (0, 1), err)
    os.truncate(s.csv, 0)
    code, err = dse("merge", os.path.join(folder, "more.h5"), s.out)
    check("a merge of a shard that has lost points", code == 2 and "--repair" in err, f"{code} {err}")
    code, err = dse(*s.args, "--fresh")
    check("computed anew when it is wanted", code == s.code and s.tables()[1] is not None, err)


def kept_cube(folder):
    """The file keeps its inode when it is not built again."""
    s = Sweep(folder)

    def rebuilt(*more):
        before = os.stat(s.out)
        code, err = dse(*(more or s.args))
        check(f"{more}", code == s.code, err)
        after = os.stat(s.out)
        return (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns)

    check("an up-to-date OUT.h5 stays", not rebuilt())
    check("and with more threads", not rebuilt("run", s.spec, "-o", s.out, "-j", "2"))
    data = read(s.csv).splitlines(True)
    write(s.csv, b"".join([data[0], data[2], data[1]] + data[3:]))
    lines = read(s.layers).splitlines(True)
    write(s.layers, b"".join([lines[0], lines[3], lines[4], lines[1], lines[2]] + lines[5:]))
    check("rows in another order", rebuilt())
    check("which stays then", not rebuilt())
    write(s.out, read(s.out)[:-64])
    check("one without a seal", rebuilt())
    write(s.spec, SPEC.replace("experiment: lost", "experiment: lost\ntitle: found"))
    check("another title", rebuilt())
    write(s.spec, SPEC.replace("[1, 2, 3]", "[1, 2]"))
    check("fewer points", rebuilt("run", s.spec, "-o", s.out, "--update"))
    check("and stays", not rebuilt())
    check("what failed is tried again", dse(*s.args, "--retry")[0] == s.code)
    check("and stays again", not rebuilt())


if __name__ == "__main__":
    run_parts(lost_points, kept_cube)
