#!/bin/sh
# Timeloop's problem files wherever a network is named: map, sample, check, run and its shards, rerun from what is stored, a changed file.
# Tests: inputs.c, input_store.c. Expected: what `dse eval` of the same problem file prints.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
problems=tests/known/timeloop/problems
one=$problems/gemm-512x512x512.yaml
cp -r $problems "$folder/shapes"
cat >"$folder/list.yaml" <<'END'
network: two
problems: [shapes/gemm-512x512x512.yaml, {file: shapes/fc-4096x1000-n16.yaml, name: fc, count: 3}]
END
cat >"$folder/s.yaml" <<'END'
experiment: s
architecture: simba
engine: random
limits: {max_evaluations: 50}
axes:
  network: [shapes/gemm-512x512x512.yaml, list.yaml, shapes]
END
# agree: the cycles of dse eval of the mapping are those of dse map
agree() {
    "$DSE" map simba $one -e random -n 100 -f yaml >"$folder/m.yaml" && "$DSE" eval simba $one "$folder/m.yaml" >"$folder/e.txt" &&
        "$DSE" map simba $one -e random -n 100 | awk '$1 == "total" { print $4 }' >"$folder/cycles" &&
        grep -qF "($(cat "$folder/cycles") cycles" "$folder/e.txt"
}
check 'a problem file is a network of one layer' code 0 "$DSE" map simba $one -n 50
check 'named after its file' grep -q '^gemm-512x512x512 on simba, batch 1' "$folder/out"
check 'dse eval agrees' agree
check 'its layer has its name' code 0 "$DSE" map simba $one -n 50 -l gemm-512x512x512
check 'another has not' code 2 "$DSE" map simba $one -n 50 -l gem-512x512x512
check 'and is told' grep -q 'did you mean gemm-512x512x512' "$folder/err"
check 'on an architecture of Timeloop' code 0 "$DSE" map tests/known/timeloop/archs/flat-2level.yaml $one -n 50
check 'several are a list' code 0 "$DSE" map simba $one $problems/mttkrp-128.yaml -n 50 -e random
check 'of two layers' grep -Eq '^total +2 +ok' "$folder/out"
check 'a folder is a list' code 0 "$DSE" map simba $problems/ -e random -n 50 -l mttkrp-128 -l gemm-512x512x512
check 'a file lists them' code 0 "$DSE" map simba "$folder/list.yaml" -e random -n 50
check 'with counts' grep -Eq '^fc +3 +ok' "$folder/out"
check 'sample needs no layer' code 0 "$DSE" sample simba $one -n 3
check 'of several it does' code 2 "$DSE" sample simba $problems -n 3
check 'and says so' grep -q 'has 18 layers; choose one' "$folder/err"
check 'a whole folder has no mapping' code 2 "$DSE" eval simba $problems "$folder/m.yaml"
check 'and says what has' grep -q 'NETWORK:LAYER' "$folder/err"
check 'a layer of it has' code 0 "$DSE" eval simba $problems:gemm-512x512x512 "$folder/m.yaml"

check 'check' code 0 "$DSE" check "$folder/s.yaml"
check 'run' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/s.h5"
for k in 1 2; do
    check "shard $k" code 0 "$DSE" run "$folder/s.yaml" -o "$folder/p.h5" --shard $k/2
done
check 'merge' code 0 "$DSE" merge "$folder/m.h5" "$folder"/p.*.h5
check 'merged rows' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/m.h5"
check 'all there' grep -q '3 were there already' "$folder/err"
sed -i 's/N: 512/N: 256/' "$folder/shapes/gemm-512x512x512.yaml"
check 'a changed problem is seen' code 2 "$DSE" run "$folder/s.yaml" -o "$folder/s.h5"
check 'and named' grep -q 'problem .*gemm-512x512x512.yaml.*line 19 differs' "$folder/err"
rm -r "$folder/shapes" "$folder/list.yaml"
check 'rerun needs no file' code 0 "$DSE" rerun "$folder/s.h5"
check 'and finds the same' grep -q '3 equal' "$folder/out"
mkdir "$folder/empty"
check 'an empty folder' code 2 "$DSE" map simba "$folder/empty"
check 'is told' grep -q 'holds no problem files' "$folder/err"
finish
