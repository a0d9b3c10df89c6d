#!/usr/bin/env python3
"""`dse report`: the page is well-formed and loads nothing; its marks are the points, its data the numbers of OUT.csv, its best points and its
front those of the table by a plain search; names are texts whatever they are; the same file makes the same bytes. No value here is known from elsewhere.
Tests: page.c, page_about.c, page_best.c, page_data.c, page_front.c, page_gaps.c, page_map.c."""
import csv
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dse", "run"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from page_reader import Page  # noqa: E402
from program import DSE, check, dse, read, run_parts, write  # noqa: E402

CAPACITY, BANDWIDTH, BATCH = [1, 65536, 131072], [10e9, 20e9], [1, 2]
SPEC = """experiment: page
title: A page
architecture: simba
network: resnet50
layers: [conv2_0_a]
engine: random
limits: {max_evaluations: 40}
set: {GlobalBuffer.block: 1 word}
axes:
  GlobalBuffer.capacity: [1 B, 64 KiB, 128 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
  batch: [1, 2]
"""
HOSTILE = ["</script><script>alert(1)</script>", "<!-- \" onload=x '", "]]>&amp;&lt;\\u003c \u2028 `${x}`", "a" * 150 + "é" * 40]
csv.field_size_limit(1 << 27)


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report(name, *args, out):
    code, said = dse("report", *args, "-o", out)
    check(f"{name}: exit code", code == 0, said)
    page = Page(read(out))
    check(f"{name}: well-formed, loads nothing", not page.problems, page.problems[:5])
    return page


def number(text):
    return float(text) if text else math.nan


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def check_values(name, page, row_of):
    """Each mark's values are those of its row of the table; row_of(panel, x, y)."""
    data, metrics, marks = page.data(), page.metrics(), page.marks()
    check(f"{name}: a value for each mark", all(len(values) == len(marks) for values in data["value"]))
    for metric, values in zip(metrics, data["value"]):
        wrong = [(mark, value) for mark, value in zip(marks, values) if not same(value, number(row_of(*mark[:3])[metric]))]
        check(f"{name}: {metric} is that of the table", not wrong, wrong[:2])
    for panel, x, y, classes, title in marks:
        row = row_of(panel, x, y)
        ok = row["status"] == "ok"
        check(f"{name}: a mark looks as its point is", ok == classes[0].startswith("v") and (ok or title.startswith(row["status"] + ": " + row["reason"])),
              (row["status"], classes, title))


def plain_front(points):
    """Those that no other beats in all of the coordinates, by looking at all pairs."""
    return [p for p in points if not any(all(a <= b for a, b in zip(q, p)) and q != p for q in points)]


def of_a_sweep(folder):
    out, path = os.path.join(folder, "o.h5"), os.path.join(folder, "o.html")
    code, said = dse("run", write(os.path.join(folder, "spec.yaml"), SPEC), "-o", out, "--set", "seed=3")
    check("the sweep", code == 1 or code == 0, said)
    rows = {(row["batch"], float(row["GlobalBuffer.capacity_byte"]), float(row["DRAM.bandwidth_byte_per_s"])): row
            for row in table(os.path.join(folder, "o.csv"))}
    page = report("sweep", out, out=path)
    check("marks are points", len(page.marks()) == len(rows) == 12)
    check("panels", [node.text() for node in page.one("map").all("figcaption")] == ["batch 1", "batch 2"])
    check("labels", page.data()["x"] == ["1 B", "64 KiB", "128 KiB"] and page.data()["y"] == ["10", "20"], page.data()["x"])
    check_values("sweep", page, lambda panel, x, y: rows[str(BATCH[panel]), CAPACITY[x], BANDWIDTH[y]])
    check("metrics", {"latency_s", "energy_j", "edp_js", "bound_edp_ratio", "utilization"} <= set(page.metrics()), page.metrics())
    check("how it ended", "12 points, 8 ok, 4 infeasible" in page.root.text())
    check("it is whole", "Unfinished" not in page.root.text())
    # the best
    for batch in ("1", "2"):
        best = min((row for row in rows.values() if row["batch"] == batch and row["status"] == "ok"), key=lambda row: float(row["edp_js"]))
        shown = [cells for cells in page.rows("best") if "Energy-delay product" in cells[0] and cells[3] == batch]
        check("the best of a batch", len(shown) == 1 and shown[0][2] == f"{float(best['DRAM.bandwidth_byte_per_s']) / 1e9:.0f} GB/s", shown)
    check("boxes of the best of all", len(list(page.one("map").all("rect", "all"))) == 2)
    # the front, by batch
    for batch, figure in zip(("1", "2"), page.one("front").all("figure")):
        points = [(float(row["latency_s"]), float(row["energy_j"])) for row in rows.values() if row["batch"] == batch and row["status"] == "ok"]
        check("the front", len(list(figure.all("circle", "front"))) == len(plain_front(points)) > 0)
        (dots,) = figure.all("path", "points")
        check("all points are in the chart", dots.attributes["d"].count("M") == len(points))
    (reason,) = page.rows("failures")
    check("failures by reason", reason[0] == "infeasible" and reason[3] == "4" and "has 1 B" in reason[1], reason)
    check("gaps", sum(int(cells[2]) for cells in page.rows("gaps")) == 3 * 8)
    check("the breakdown adds up", all(abs(sum(float(cells[2][:-2]) for cells in part) - 100) < 1
                                       for part in [[[c.text() for c in row.all("td")] for row in body.all("tr")]
                                                    for body in page.one("breakdown").all("tbody")]))
    origin, varied = page.one("origin").text(), page.one("varied").text()
    check("where it comes from", "Host" in origin and "dse 0" in origin and "Begun" in origin)
    check("the command", f"dse run {folder}/spec.yaml -o {out} --set seed=3\n" in origin, origin[:300])
    check("what is the same", "max_evaluations: 40" in varied and "--set seed=3" in varied and "objective" in varied)
    first = read(path)
    report("again", out, out=path)
    check("the same bytes", read(path) == first)
    of_a_slice(folder, rows, out)
    of_the_command(folder, out)
    of_an_old_cube(folder, out)


def of_a_slice(folder, rows, out):
    page = report("slice", out, "-w", "batch=2", "-m", "energy_j", "-x", "DRAM.bandwidth_byte_per_s", "--title", "T", out=os.path.join(folder, "s.html"))
    check_values("slice", page, lambda panel, x, y: rows["2", CAPACITY[y], BANDWIDTH[x]])
    check("only the slice", len(page.marks()) == 6)
    check("the metric asked for", page.one("metric").children[page.metrics().index("energy_j")].attributes.keys() >= {"selected"})
    check("the title asked for", page.root.text().lstrip().startswith("T"))
    row = report("line", out, "-w", "batch=1", "-w", "GlobalBuffer.capacity_byte=65536", out=os.path.join(folder, "l.html"))
    check("one axis is a row", len(row.marks()) == 2 and row.data()["y"] == [""])
    point = report("point", out, "-w", "batch=1", "-w", "GlobalBuffer.capacity_byte=65536", "-w", "DRAM.bandwidth_byte_per_s=10000000000",
                   out=os.path.join(folder, "p.html"))
    check("a point is a table", point.data() is None and any(cells[1] == "edp_js" for cells in point.rows("map")) and point.one("front") is None)
    bad = report("bad", out, "-w", "GlobalBuffer.capacity_byte=1", out=os.path.join(folder, "b.html"))
    check("without any value", "No point has a value" in bad.one("best").text() and len(bad.marks()) == 4)


def of_the_command(folder, out):
    for args, words in ((["-m", "energy"], "did you mean energy_j"), (["-x", "batches"], "did you mean batch"), (["-w", "batch=3"], "batch"),
                        (["-x", "batch", "-y", "batch"], "same axis")):
        code, said = dse("report", out, *args, "-o", os.path.join(folder, "no.html"))
        check(f"{args}", code == 2 and words in said and not os.path.exists(os.path.join(folder, "no.html")), said)
    code, said = dse("report", os.path.join(folder, "nothing.h5"))
    check("no file", code == 2 and "nothing.h5" in said, said)
    title = b"\xff<i>\xc3\xa9\x1b[31m"
    path = os.path.join(folder, "utf.html")
    done = subprocess.run([os.fsencode(DSE), b"report", os.fsencode(out), b"--title", title, b"-o", os.fsencode(path)], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    page = Page(read(path))
    check("a title that is no UTF-8", done.returncode == 0 and not page.problems and next(page.root.all("h1")).text() == "\ufffd<i>é\ufffd[31m", page.problems)


def of_an_old_cube(folder, out):
    """The cube of a run that was killed lacks what the table has: the page has it, and says what is missing in both."""
    import h5py
    with h5py.File(out, "r+") as file:
        file.attrs["n_point_done"] = 0
        file["status"][...] = ""
    page = report("killed", os.path.join(folder, "o.csv"), out=os.path.join(folder, "k.html"))
    check("the table counts", len(page.marks()) == 12 and "Unfinished" not in page.root.text())
    lines = read(os.path.join(folder, "o.csv")).splitlines(keepends=True)
    write(os.path.join(folder, "o.csv"), b"".join(lines[:8]) + b"torn")
    os.mkdir(os.path.join(folder, "tmp"))
    os.environ["TMPDIR"] = os.path.join(folder, "tmp")
    page = report("torn", out, out=os.path.join(folder, "k.html"))
    del os.environ["TMPDIR"]
    check("what is missing is said", "Unfinished: 7 of 12 points" in page.root.text() and len(page.marks()) == 7, len(page.marks()))
    check("nothing is left", os.listdir(os.path.join(folder, "tmp")) == [])
    os.remove(os.path.join(folder, "o.csv"))
    code, said = dse("report", out)
    check("no point at all", code == 2 and "no point yet" in said, said)


def of_hostile_names(folder):
    names = "\n".join("    " + '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\u2028", "\\L") + '": []' for text in HOSTILE)
    spec = SPEC.replace("title: A page", 'title: "' + HOSTILE[0] + '"').replace("  batch: [1, 2]\n", "  constraints:\n" + names + "\n")
    out = os.path.join(folder, "<b>'&.h5")
    code, said = dse("run", write(os.path.join(folder, "spec.yaml"), spec), "-o", out)
    check("hostile sweep", code in (0, 1), said)
    page = report("hostile", out, "-x", "constraints", out=os.path.join(folder, "h.html"))
    check("two scripts, no more", len(list(page.root.all("script"))) == 2)
    check("the title is a text", next(page.root.all("h1")).text() == HOSTILE[0] == next(page.root.all("title")).text())
    check("names are texts, cut as on figures", [text.replace("\u2028", " ")[:95] for text in HOSTILE] == page.data()["x"], page.data()["x"])
    spoken = page.one("varied").text()
    check("all of them", all(text in spoken for text in HOSTILE))
    check("paths are texts", "<b>'&.h5" in page.one("origin").text())


def of_schedules(folder):
    spec = """experiment: schedules
architecture: soma_edge
network: resnet50_soma
engine: unfused
axes: {batch: [1, 2], GBUF.capacity: [4 MiB, 8 MiB]}
"""
    out = os.path.join(folder, "s.h5")
    code, said = dse("run", write(os.path.join(folder, "spec.yaml"), spec), "-o", out)
    check("schedules", code == 0, said)
    rows = {(float(row["batch"]), float(row["GBUF.capacity_byte"])): row for row in table(os.path.join(folder, "s.csv"))[-4:]}
    page = report("schedules", out, out=os.path.join(folder, "s.html"))
    check_values("schedules", page, lambda panel, x, y: rows[[1, 2][x], [4 << 20, 8 << 20][y]])
    breakdown = page.one("breakdown").text()
    check("what takes the time", "Core array computes" in breakdown and "Buffers" in breakdown, breakdown[:300])
    check("metrics of schedules", "stall_cycle" in page.metrics() or "compute_cycle" in page.metrics(), page.metrics())


def of_several_files(folder):
    """Shards make the page of the whole but for what it says of its files; one of them says what is missing; engines are an axis."""
    spec = write(os.path.join(folder, "spec.yaml"), SPEC)
    whole, one, two, other = (os.path.join(folder, name) for name in ("o.h5", "o.1-of-2.h5", "o.2-of-2.h5", "d.h5"))
    for args in (["-o", whole], ["-o", whole, "--shard", "1/2"], ["-o", whole, "--shard", "2/2"], ["-o", other, "--set", "engine=descent"]):
        code, said = dse("run", spec, *args)
        check(f"runs {args}", code in (0, 1), said)
    shown = {name: report(name, *files, out=os.path.join(folder, "p.html")) for name, files in
             (("whole", [whole]), ("shards", [one, two]), ("half", [two]), ("engines", [whole, other]))}
    check("shards make the whole", all(shown["shards"].one(part).text() == shown["whole"].one(part).text()
                                       for part in ("varied", "best", "map", "front", "breakdown", "gaps", "failures")))
    check("its data too", shown["shards"].one("data").text() == shown["whole"].one("data").text())
    check("a page of half of the points", f"Unfinished: {len(shown['half'].marks())} of 12 points" in shown["half"].root.text()
          and 0 < len(shown["half"].marks()) < 12)
    check("engines are an axis", len(shown["engines"].marks()) == 24 and "Unfinished" not in shown["engines"].root.text()
          and "engine=descent" in shown["engines"].one("origin").text())
    write(spec, SPEC.replace("GlobalBuffer.capacity: [1 B, 64 KiB, 128 KiB]", "PE.mesh: [2x2, 4x4]"))
    code, said = dse("run", spec, "-o", other, "--fresh")
    code, said = dse("report", whole, other)
    check("another sweep", code == 2 and "axis" in said, said)


if __name__ == "__main__":
    run_parts(of_a_sweep, of_hostile_names, of_schedules, of_several_files)
