#!/bin/sh
# Rows of a sweep say where a random mapping beats the engine's own at once, and which engine to try.
# Tests: solve_note.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/notes.yaml" <<YAML
experiment: notes
architecture: simba_tablev
network: $PWD/experiments/cosa/networks/resnet50_cosa.yaml
axes: {engine: [cosa, cosa-best]}
options: {cosa-best: {variants: false, polish: 0}}
YAML
rows() { # rows FILE: without what differs from run to run
    "$PYTHON" -c 'import csv, sys
for row in sorted(csv.DictReader(open(sys.argv[1])), key=lambda r: (r["engine"], r.get("layer", ""))):
    print([value for name, value in row.items() if name not in ("seconds", "trace_seconds", "checksum")])' "$1"
}
field() { # field FILE ENGINE LAYER: its reason; LAYER "" for a point
    "$PYTHON" -c 'import csv, sys
print(*[r["status"] + "|" + r["reason"] for r in csv.DictReader(open(sys.argv[1])) if r["engine"] == sys.argv[2] and r.get("layer", "") == sys.argv[3]])' "$@"
}
check 'a sweep' code 0 "$DSE" run "$folder/notes.yaml" -o "$folder/a.h5" -j 1
check 'tells at its end' grep -q 'ok  *layer 1_7_1024_2048_2: random finds a mapping that costs .* times less: try engine cosa-best' "$folder/err"
"$DSE" run "$folder/notes.yaml" -o "$folder/b.h5" -j 2 2>/dev/null
"$DSE" run "$folder/notes.yaml" -o "$folder/c.h5" -j 2 --isolation process 2>/dev/null
for what in csv layers.csv; do
    rows "$folder/a.$what" >"$folder/one"
    rows "$folder/b.$what" >"$folder/two"
    rows "$folder/c.$what" >"$folder/three"
    check "by two threads: the same $what" cmp "$folder/one" "$folder/two"
    check "by processes: the same $what" cmp "$folder/one" "$folder/three"
done

# 1,477,325 cycles of cosa, 227,021 of random (docs/engines.md); 31 times the EDP of cosa-best (test_map_hint.sh).
field "$folder/a.layers.csv" cosa 1_7_1024_2048_2 >"$folder/said"
check 'the layer says by how much' grep -qx 'ok|random finds a mapping that costs [23][0-9]\(\.[0-9]\)* times less: try engine cosa-best' "$folder/said"
field "$folder/a.csv" cosa '' >"$folder/said"
check 'the point names the worst layer' grep -q '^ok|layer 1_7_1024_2048_2: random finds a mapping that costs [23][0-9]' "$folder/said"
field "$folder/a.layers.csv" cosa 3_7_512_512_1 >"$folder/said"
check 'a layer at its bound has no note' grep -qx 'ok|' "$folder/said"
field "$folder/a.csv" cosa-best '' >"$folder/said"
check 'another engine has none' grep -qx 'ok|' "$folder/said"

check 'status' code 0 "$DSE" status "$folder/a.h5"
check 'has it under its own heading' grep -qx 'Notes:' "$folder/out"
check 'with the layer' grep -q '1 ok .*1_7_1024_2048_2' "$folder/out"
"$DSE" run "$folder/notes.yaml" -o "$folder/a.h5" -j 1 2>"$folder/again"
check 'a resume with nothing to do tells it again' grep -q 'try engine cosa-best' "$folder/again"
finish
