#!/bin/sh
# dse status --front: the points of a sweep that no other beats, against the definition written out once more in Python; its formats, of
# several outputs, of a sweep with areas; what it refuses.
# Tests: front_points.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cp tests/dse/compromises.yaml "$folder/front.yaml" || exit 1
says() { grep -q -- "$1" "$folder/out" || { cat "$folder/out" && return 1; }; }

# front TABLE METRIC...: by the definition; less is better, of utilization more; rows without a value have no place.
cat >"$folder/front.py" <<'PY'
import csv, sys
rows = [r for t in sys.argv[1].split() for r in csv.DictReader(open(t)) if r["status"] == "ok"]
names = sys.argv[2:]
value = lambda r: [float(r[m]) * (-1 if m == "utilization" else 1) for m in names]
rows = [r for r in rows if all(r[m] for m in names)]
front = [r for r in rows if not any(value(o) != value(r) and all(a <= b for a, b in zip(value(o), value(r))) for o in rows)]
axes = list(rows[0])[:list(rows[0]).index("status")]
for r in sorted(front, key=lambda r: value(r)):
    print(",".join(r[a] for a in axes) + "," + ",".join("%.12g" % float(r[m]) for m in names))
PY
# The CSV on standard output, numbers written as above, in any order of equals.
plain() {
    "$PYTHON" -c 'import sys; n = int(sys.argv[2])
for line in list(open(sys.argv[1]))[1:]:
    f = line.rstrip("\n").split(",")
    print(",".join(f[:-n] + ["%.12g" % float(x) for x in f[-n:]]))' "$folder/out" "$1" | sort >"$folder/ours"
}
same() {
    what=$1 list=$2 n=$(echo "$2" | tr , '\n' | wc -l)
    check "$what" code 0 "$DSE" status "$folder/front.h5" --front="$list" -f csv
    plain "$n"
    # shellcheck disable=SC2086
    "$PYTHON" "$folder/front.py" "$folder/front.csv" $(echo "$list" | tr , ' ') | sort >"$folder/theirs"
    check "$what: by definition" cmp "$folder/ours" "$folder/theirs"
    check "$what: something" test -s "$folder/ours"
}
check 'run' code 0 "$DSE" run "$folder/front.yaml" -o "$folder/front.h5"
same 'energy and latency' energy_j,latency_s
same 'one metric' edp_js
same 'more is better' utilization,energy_j
same 'three' latency_s,dram_byte,energy_j
check 'without metrics' code 0 "$DSE" status "$folder/front.csv" --front
check 'energy and latency, as no point has an area' says ' seed  *energy_j  *latency_s$'
check 'with units' says '16x16 .*mJ .*ms'
check 'points that are not ok are none' says 'of 27 points that are ok: none is as good in energy_j, latency_s and better in one'
check 'json' code 0 "$DSE" status "$folder/front.h5" --front -f json
check 'has numbers' "$PYTHON" -c 'import json, sys; rows = json.load(open(sys.argv[1]))["rows"]; assert rows and all(type(r["seed"]) is int and r["energy_j"] > 0 for r in rows)' "$folder/out"

# With areas the small machines are on it as well: the front of three.
sed 's/^axes:/set: {MAC.area: 600 um2, GlobalBuffer.area_per_byte: 4 um2}\naxes:/' "$folder/front.yaml" >"$folder/area.yaml"
check 'a sweep with areas, in two shards' code 0 "$DSE" run "$folder/area.yaml" -o "$folder/area.h5" --shard 1/2
check 'the other' code 0 "$DSE" run "$folder/area.yaml" -o "$folder/area.h5" --shard 2/2
check 'of both' code 0 "$DSE" status "$folder/area.1-of-2.h5" "$folder/area.2-of-2.h5" --front -f csv
plain 3
"$PYTHON" "$folder/front.py" "$folder/area.1-of-2.csv $folder/area.2-of-2.csv" energy_j latency_s area_mm2 | sort >"$folder/theirs"
check 'is the front of both, area included' cmp "$folder/ours" "$folder/theirs"
sed 's/seed:/batch:/' "$folder/front.yaml" >"$folder/other.yaml"
check 'other axes' code 0 "$DSE" run "$folder/other.yaml" -o "$folder/other.h5"
check 'are refused' code 2 "$DSE" status "$folder/front.h5" "$folder/other.h5" --front
check 'and told' grep -q 'different sweeps' "$folder/err"

check 'an unknown metric' code 2 "$DSE" status "$folder/front.h5" --front=latency
check 'has a near one' grep -q 'did you mean latency_s?' "$folder/err"
check 'one without a best' code 2 "$DSE" status "$folder/front.h5" --front=n_mac
check 'one twice' code 2 "$DSE" status "$folder/front.h5" --front=energy_j,energy_j
check 'one that was not measured' code 2 "$DSE" status "$folder/front.h5" --front=noc_latency_cycle
check 'a space for the equals sign' code 2 "$DSE" status "$folder/front.h5" --front energy_j,latency_s
check 'is told' grep -q 'equals sign: --front=energy_j,latency_s' "$folder/err"
check 'with --by' code 2 "$DSE" status "$folder/front.h5" --front --by seed
check 'csv of the report' code 2 "$DSE" status "$folder/front.h5" -f csv
sed 's/, 32 KiB, 64 KiB, 128 KiB//' "$folder/front.yaml" >"$folder/none.yaml"
check 'no point fits' code 0 "$DSE" run "$folder/none.yaml" -o "$folder/none.h5"
check 'nothing is on the front' code 2 "$DSE" status "$folder/none.h5" --front
check 'as said' grep -q 'no point is ok' "$folder/err"
finish
