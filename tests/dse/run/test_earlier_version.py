#!/usr/bin/env python3
"""Tables of an earlier version, which lack columns, are read, merged and resumed; a mapping that layers of a point share is stored once.
Earlier tables are made here from today's: columns are taken out, shared mappings written into each row, lines sealed anew (XXH3-64).
Tests: run_resume.c."""
import csv
import ctypes
import glob
import io
import os
import shutil

import h5py

from program import check, dse, read, run_parts, write

NETWORK = """network: twice
input: {C: 3, H: 12, W: 12}
layers:
- {name: one, type: conv, C: 3, K: 8, P: 12, Q: 12, R: 3, S: 3, pad: 1, from: input}
- {name: two, type: conv, C: 8, K: 8, P: 12, Q: 12, R: 3, S: 3, pad: 1, from: one}
- {name: three, type: conv, C: 8, K: 8, P: 12, Q: 12, R: 3, S: 3, pad: 1, from: two}
- {name: four, type: conv, C: 8, K: 8, P: 12, Q: 12, R: 3, S: 3, pad: 1, from: three}
"""
MAPPERS = """experiment: twice
architecture: simba
network: net.yaml
engine: random
limits: {max_evaluations: 20}
axes:
  GlobalBuffer.capacity: [8 B, 64 KiB]
  seed: [1, 2, 3]
"""
SCHEDULERS = """experiment: placed
architecture: soma_edge
network: net.yaml
engine: unfused
axes:
  GBUF.capacity: [64 KiB, 128 KiB]
  batch: [1, 2, 3]
"""
LACKING = {"same_as", "placed", "n_split_tensor", "n_repeated_layer", "n_cut_layer", "stream_byte"}
csv.field_size_limit(1 << 27)
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def seal(fields):
    """A line of a table; its last field is the checksum of the others."""
    line = io.StringIO()
    csv.writer(line, lineterminator=",").writerow(fields)
    line = line.getvalue().encode()
    return line + b"%016x\n" % xxhash.XXH3_64bits(line, len(line))


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def make_earlier(path, lacking):
    """The table as it was before there were these columns."""
    table, texts, lines = rows(path), {}, []
    names = [name for name in table[0] if name not in lacking]
    for row in table:
        if "mapping" in row:
            texts[row["point_key"], row["layer"]] = row["mapping"] = texts.get((row["point_key"], row["same_as"]), row["mapping"])
        lines.append(seal([row[name] for name in names[:-1]]))
    write(path, ",".join(names).encode() + b"\n" + b"".join(lines))


def plain(path, without=()):
    """The rows without what differs from run to run, in order of their points."""
    return sorted([(k, v) for k, v in row.items() if k not in {"seconds", "trace_seconds", "checksum", *without}] for row in rows(path))


class Sweep:
    def __init__(self, folder, text, name="t"):
        write(os.path.join(folder, "net.yaml"), NETWORK)
        self.spec = write(os.path.join(folder, name + ".yaml"), text)
        self.out = os.path.join(folder, name + ".h5")
        self.tables = [self.out[:-3] + ending for ending in (".csv", ".layers.csv")]
        self.args = ["run", self.spec, "-o", self.out, "-j", "1"]
        self.code = dse(*self.args)[0]  # 1: some points have no mapping
        self.whole = [read(path) for path in self.tables]

    def earlier(self, lacking=frozenset(LACKING)):
        for path, data in zip(self.tables, self.whole):
            write(path, data)
            make_earlier(path, lacking)
        return [read(path) for path in self.tables]


def stored_once(folder):
    s = Sweep(folder, MAPPERS)
    table = rows(s.tables[1])
    for row in table:
        shared = row["status"] == "ok" and row["layer"] in ("three", "four")
        check("the first of equal mappings is named", row["same_as"] == ("two" if shared else ""), row)
        check("and has the text", (row["mapping"] == "") == (shared or row["status"] != "ok"), row)
    with h5py.File(s.out) as cube:
        text, status = cube["layers/mapping"].asstr()[...], cube["layers/status"].asstr()[...]
        name = list(cube["layers/layer"].asstr()[...])
        check("no column of its own in the cube", "same_as" not in cube["layers"])
    check("the cube has all texts", ((text != "") == (status == "ok")).all() and (text[..., name.index("two")] == text[..., name.index("four")]).all())
    write(s.tables[1], s.whole[1].split(b"\n", 1)[0] + b"\n")
    code, err = dse(*s.args, "--repair")
    check("the cube gives the rows back", code == s.code and [sorted(read(p).split(b"\n")) for p in s.tables] ==
          [sorted(data.split(b"\n")) for data in s.whole], err)
    lines = s.whole[1].splitlines(True)
    at = next(i for i, row in enumerate(table) if row["same_as"])
    table[at]["same_as"] = "four"
    for path, data in zip(s.tables, s.whole):
        write(path, data)
    write(s.tables[1], b"".join(lines[:at + 1] + [seal(list(table[at].values())[:-1])] + lines[at + 2:]))
    os.unlink(s.out)
    code, err = dse(*s.args)
    check("a layer that has no mapping is no source", code != 0 and "same_as is 'four'" in err, f"{code} {err}")


def resumed(folder):
    for text, lacking, blank in (MAPPERS, LACKING, ()), (SCHEDULERS, LACKING, LACKING), (MAPPERS, {"same_as", "draws"}, {"draws"}):
        s = Sweep(folder, text, f"t{len(text)}{len(blank)}")
        name = text.split("\n", 1)[0] + f" without {sorted(lacking)}"
        wanted = [plain(path, blank) for path in s.tables]
        before = s.earlier(lacking)
        check(f"{name}: columns are lacking", before[1] != s.whole[1])
        code, err = dse("status", s.out)
        check(f"{name}: status reads it", code == 0, f"{code} {err}")
        code, err = dse(*s.args)
        check(f"{name}: resumed", code == s.code and "6 were there already" in err and "lacked columns" in err, f"{code} {err}")
        check(f"{name}: the rows are those of today", [plain(path, blank) for path in s.tables] == wanted)
        if not blank:
            check(f"{name}: to the byte", [read(path) for path in s.tables] == s.whole)
        check(f"{name}: blank where nothing is known", all(row[k] == "" for row in rows(s.tables[0]) for k in blank & row.keys()))
        code, err = dse(*s.args)
        check(f"{name}: once", "lacked columns" not in err, err)
        s.earlier(lacking)
        lines = read(s.tables[0]).splitlines(True)
        write(s.tables[0], b"".join(lines[:3]) + lines[3][:20])
        os.unlink(s.out)
        code, err = dse(*s.args)
        check(f"{name}: a torn one", code == s.code and "2 were there already" in err, f"{code} {err}")
        check(f"{name}: and the rest computed", [plain(path, blank) for path in s.tables] == wanted)
        for path in s.tables:
            write(path, read(path).split(b"\n", 1)[0] + b"\n")
            make_earlier_header(path, lacking)
        os.unlink(s.out)
        code, err = dse(*s.args)
        check(f"{name}: headers alone", code == s.code and [plain(path, blank) for path in s.tables] == wanted, f"{code} {err}")


def make_earlier_header(path, lacking):
    names = read(path).decode().strip().split(",")
    write(path, ",".join(n for n in names if n not in lacking) + "\n")


def one_of_both(folder):
    """A kill between the two renames leaves today's points beside earlier layers."""
    s = Sweep(folder, MAPPERS)
    earlier = s.earlier({"same_as", "draws"})
    for k in 0, 1:
        for path, data, old in zip(s.tables, s.whole, earlier):
            write(path, old if path == s.tables[k] else data)
        code, err = dse(*s.args)
        check(f"table {k} alone", code == s.code and "6 were there already" in err, f"{code} {err}")
        check(f"table {k} alone: rows", [plain(path, {"draws"}) for path in s.tables] ==
              [sorted([(n, v) for n, v in row.items() if n not in ("seconds", "trace_seconds", "checksum", "draws")]
                      for row in csv.DictReader(io.StringIO(data.decode()))) for data in s.whole])


def damaged(folder):
    s = Sweep(folder, MAPPERS)
    wanted = [plain(path) for path in s.tables]
    before = s.earlier()
    lines = before[1].splitlines(True)
    lines[6] = lines[6][:40] + b"#" + lines[6][41:]
    before[1] = b"".join(lines)
    write(s.tables[1], before[1])
    code, err = dse(*s.args)
    check("a damaged line is refused", code == 2 and "layers.csv:7" in err, f"{code} {err}")
    check("and nothing changed", [read(path) for path in s.tables] == before)
    code, err = dse(*s.args, "--repair")
    check("and repaired", code == s.code and [plain(path) for path in s.tables] == wanted, f"{code} {err}")
    for path, data in zip(s.tables, s.earlier()):
        write(path, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    code, err = dse(*s.args)
    check("an editor's line ends are refused", code == 2 and "--repair" in err, f"{code} {err}")
    code, err = dse(*s.args, "--repair")
    check("and mended", code == s.code and [plain(path) for path in s.tables] == wanted, f"{code} {err}")
    s.earlier()
    code, err = dse("run", write(s.spec, MAPPERS.replace("[1, 2, 3]", "[1, 3]")), "-o", s.out, "--update")
    check("points that go", code == s.code and "moved" in err, f"{code} {err}")
    for path in glob.glob(s.out[:-3] + ".dropped*.csv"):
        check("go with today's columns", None not in {k for row in rows(path) for k in row} and len(rows(path)) in (2, 8), path)
    s.earlier()
    write(s.spec, MAPPERS.replace("  seed:", "  DRAM.bandwidth: [1 GB/s, 2 GB/s]\n  seed:"))
    code, err = dse(*s.args)
    check("another axis is another specification", code == 2 and "another specification" in err, f"{code} {err}")


def more_columns_asked_for(folder):
    """An architecture more, with storage levels of its own, is no reason to compute the others again."""
    text = MAPPERS.replace("architecture: simba\n", "").replace("axes:\n", "axes:\n  architecture: [simba]\n").replace("8 B", "32 KiB")
    s = Sweep(folder, text)
    write(s.spec, text.replace("[simba]", "[simba, eyeriss_12x14]"))
    code, err = dse(*s.args)
    check("more levels", code in (0, 1) and "6 were there already" in err and "lacked columns" in err, f"{code} {err}")
    check("all rows there", len(rows(s.tables[0])) == 12)


def merged(folder):
    s = Sweep(folder, MAPPERS)
    out = os.path.join(folder, "m.h5")
    shards = [out[:-3] + f".{k}-of-2.h5" for k in (1, 2)]
    for k in 1, 2:
        dse("run", s.spec, "-o", out, "--shard", f"{k}/2")
    code, err = dse("merge", out, *shards)
    whole = [read(out[:-3] + ending) for ending in (".csv", ".layers.csv")]
    for ending in ".csv", ".layers.csv":
        os.unlink(out[:-3] + ending)
        make_earlier(shards[0][:-3] + ending, LACKING)
    code, err = dse("merge", out, *shards)
    check("an earlier shard and one of today", code == 0, f"{code} {err}")
    check("give the same bytes", [read(out[:-3] + ending) for ending in (".csv", ".layers.csv")] == whole)
    both = os.path.join(folder, "b.h5")
    for ending in ".h5", ".csv", ".layers.csv":
        shutil.copy(s.out[:-3] + ending, both[:-3] + ending)
    s.earlier()
    code, err = dse("merge", os.path.join(folder, "c.h5"), both, s.out)
    check("twins of both agree", code == 0 and [read(os.path.join(folder, "c" + e)) for e in (".csv", ".layers.csv")] == s.whole, f"{code} {err}")


if __name__ == "__main__":
    run_parts(stored_once, resumed, one_of_both, damaged, more_columns_asked_for, merged)
