#!/bin/sh
# A range gives the bytes of the list that it stands for, is resumed as that list, and grows like it.
# Tests: spec_axes.c. Expected: the files of the same sweep with its lists written out.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
# sweep SEEDS BANDWIDTHS BATCHES: in $folder/s.yaml
sweep() {
    cat >"$folder/s.yaml" <<END
experiment: s
architecture: simba
network: mlp_m
engine: random
limits: {max_evaluations: 20}
axes:
  seed: $1
  DRAM.bandwidth: $2
  batch: $3
  option.search_size: {from: 100, to: 101}
zip: [[DRAM.bandwidth, batch]]
END
}
# same: all values are equal but the seconds of searches and the text of the specification
same() {
    /usr/bin/python3 - "$1" "$2" <<'END'
import csv
import sys

import h5py

names = sys.argv[1:]
tables = [list(csv.DictReader(open(name[:-3] + ".csv", encoding="utf-8"))) for name in names]
for table in tables:
    for row in table:
        del row["seconds"], row["checksum"]
    table.sort(key=lambda row: sorted(row.items()))
assert len(tables[0]) == 24 and tables[0] == tables[1]
cubes = [{}, {}]
for name, cube in zip(names, cubes):
    with h5py.File(name, "r") as file:
        file.visititems(lambda path, item: cube.update({path: item[()].tolist()}) if isinstance(item, h5py.Dataset) else None)
ignored = {path for path in cubes[0] if path.split("/")[-1] == "seconds" or path.startswith("inputs/")}
assert set(cubes[0]) == set(cubes[1])
differ = [p for p in sorted(set(cubes[0]) - ignored) if repr(cubes[0][p]) != repr(cubes[1][p])]
assert not differ, differ
END
}
sweep '{from: 1, to: 4}' '{from: 0.1 GB/s, to: 0.3 GB/s, step: 100 MB/s}' '{from: 1, to: 4, factor: 2}'
check 'a range' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/range.h5"
check 'of 24 points' grep -q '24 points' "$folder/err"
check 'check shows the values' code 0 "$DSE" check "$folder/s.yaml"
check 'of the step' grep -q 'DRAM.bandwidth  *3  100 MB/s, 200 MB/s, 300 MB/s' "$folder/out"
check 'of the factor' grep -q 'with batch  *3  1, 2, 4' "$folder/out"
sweep '[1, 2, 3, 4]' '[100 MB/s, 200 MB/s, 300 MB/s]' '[1, 2, 4]'
check 'the list' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/list.h5"
check 'the same bytes' same "$folder/range.h5" "$folder/list.h5"
check 'the list resumes the range' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/range.h5"
check 'with nothing to do' grep -q '24 were there already' "$folder/err"
sweep '{from: 1, to: 6}' '{from: 0.1 GB/s, to: 0.3 GB/s, step: 100 MB/s}' '{from: 1, to: 4, factor: 2}'
check 'a range that grew' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/list.h5"
check 'is named as a list is' grep -q 'axis seed: 5, 6 are new' "$folder/err"
check 'and adds its points' grep -q '12 points in .*; 24 were there already' "$folder/err"
sweep '[1, 2, 3, 4, 5, 6]' '[100 MB/s, 200 MB/s, 300 MB/s]' '[1, 2, 4]'
check 'the list resumes that' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/list.h5"
check 'with nothing to do either' grep -q '36 were there already' "$folder/err"
sweep '{from: 1, to: 1000}' '[1 GB/s]' '[1]'
check 'a long range' code 0 "$DSE" check "$folder/s.yaml"
check 'is shown with its end' grep -q 'seed  *1000  1, 2, 3, .*, \.\.\., 1000$' "$folder/out"
sweep '{from: 1, to: 10, step: 0}' '[1 GB/s]' '[1]'
check 'a wrong range' code 2 "$DSE" check "$folder/s.yaml"
check 'with its line' grep -q 's.yaml:7: axis seed: step 0 leads nowhere' "$folder/err"
finish
