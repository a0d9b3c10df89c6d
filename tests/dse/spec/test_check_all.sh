#!/bin/sh
# dse check tells all that is wrong, in the order of the lines, and nothing that only follows from it; and what an engine would refuse.
# Tests: spec_read.c, sweep_load.c, sweep_check.c. Expected: the lines of the faults that are written into the files here.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
# lines FILE: the numbers of the lines that are blamed
lines() {
    "$DSE" check "$1" 2>&1 >/dev/null | sed -n "s|^dse: $1:\([0-9]*\): .*|\1|p" | tr '\n' ' '
}
# blamed NAME WANTED: they are these; the file is $folder/s.yaml
blamed() {
    check "$1" test "$(lines "$folder/s.yaml")" = "$2"
    check "$1: exit code" code 2 "$DSE" check "$folder/s.yaml"
}
cat >"$folder/s.yaml" <<'END'
experiment: bad name
architecture: simba
network: resnet50
engine: descent
objectiv: edp
seed: -4
options: {patiense: 3, kick: 0}
limits: {max_evaluations: -1, max_second: 3}
layers: [conv1x, conv2_0_a]
isolation: never
set: {batch: 3}
axes:
  GlobalBufer.capacity: [32 KiB, 64 KiB]
  batch: [0, 1, x]
  MAC.energy: {from: 1 pJ, to: 2 pJ, step: 0 pJ}
skip: [{GlobalBufer.capacity: 7 KiB}]
plot: {z: 3}
END
blamed 'keys, options, limits, layers, values' '1 5 6 7 7 8 8 9 10 11 13 14 14 15 17 '
cat >"$folder/s.yaml" <<'END'
experiment: values
architecture: simba
network: resnet50
engine: descent
axes:
  GlobalBuffer.capacity: [32 KiB, 64 KiX, 64 B]
  DRAM.bandwidth:
  - 1 GB/s
  - 2 QB/s
  - 2 Q/s
  PE.mesh: [2x2, 2x, 4x4]
  seed: [1, 2, 1]
skip:
- {GlobalBuffer.capacity: 7 KiB}
- {sed: 1}
plot: {x: seed, y: nope, metric: edpp}
END
blamed 'every value, filter and word of the figure' '6 9 10 11 12 14 15 16 16 '
cat >"$folder/s.yaml" <<'END'
experiment: files
axes:
  architecture: [simba, simbaa, eyeriss_16x16, eyriss_12x14]
  network: [resnet50, resnet51]
  engine: [randm, descent, genetik]
  PE.mesh: [4x4, 8x]
layers: [no_such_layer]
options: {gentic: {x: 1}}
END
blamed 'architectures, networks, engines; nothing of what these may have had' '3 3 4 5 5 6 '
cat >"$folder/s.yaml" <<'END'
network: resnet50
engin: descent
axes: {batch: [1, 2]}
END
blamed 'a missing key, but not the misspelt one' '1 1 2 '
check 'says which' grep -q 'which architecture' "$folder/err"
check 'dse run stops at the first' code 2 "$DSE" run "$folder/s.yaml" -o "$folder/o.h5"
check 'with one line' test "$(wc -l <"$folder/err")" -eq 1
{
    printf 'experiment: x\narchitecture: simba\nnetwork: vgg16\nengine: random\naxes:\n  seed:\n'
    i=0
    while [ $i -lt 30 ]; do
        echo "  - q$i"
        i=$((i + 1))
    done
} >"$folder/s.yaml"
check 'thirty errors' code 2 "$DSE" check "$folder/s.yaml"
check 'are twenty lines' test "$(grep -c ': seed q' "$folder/err")" -eq 20
check 'and ten more' test "$(tail -n 1 "$folder/err")" = 'dse: and 10 more'
check 'a missing file' code 2 "$DSE" check "$folder/none.yaml"
check 'what is not YAML' code 2 "$DSE" check "$DSE"

cat >"$folder/s.yaml" <<'END'
experiment: ex
architecture: simba
network: vgg16
layers: [conv1_1]
axes: {engine: [random, exhaustive]}
limits: {max_evaluations: 100}
END
check 'a space that is too large' code 1 "$DSE" check "$folder/s.yaml"
check 'is told of its point' grep -q '^1 of the points will fail:' "$folder/out"
check 'in the words of the run' grep -q 'the map space of conv1_1 is too large for exhaustive' "$folder/out"
check 'which fails there' code 1 "$DSE" run "$folder/s.yaml" -o "$folder/o.h5"
check 'so' grep -q 'the map space of conv1_1 is too large for exhaustive' "$folder/err"
# What is larger than allowed is infeasible before its engine is asked.
echo 'set: {MAC.area: 1 um2, max_area: 0.001 mm2}' >>"$folder/s.yaml"
check 'a machine that is too large' code 0 "$DSE" check "$folder/s.yaml"
check 'is infeasible' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/area.h5"
check 'at both points' test "$(grep -c ',infeasible,' "$folder/area.csv")" -eq 2

# An option with which its engine takes no point is a mistake; with which it takes some is none, and neither is one
# without which it takes no more.
cat >"$folder/s.yaml" <<'END'
experiment: core
network: tests/known/soma/tiny6.yaml
axes:
  engine: [unfused, descent]
  architecture: [simba, eyeriss_16x16]
options:
  unfused:
    core_evaluations: 200
    core: array
END
blamed 'a core scheduler for no machine' '9 '
check 'in words' grep -q 'simba is no machine for fused schedules.*option core=auto' "$folder/err"
check 'dse run does not begin' code 2 "$DSE" run "$folder/s.yaml" -o "$folder/core.h5"
sed -i 's/eyeriss_16x16/soma_edge/' "$folder/s.yaml"
check 'for one of two' code 1 "$DSE" check "$folder/s.yaml"
check 'is told of its point' grep -q '^1 of the points will fail:' "$folder/out"
sed -i 's/\[simba, soma_edge\]/[k80]/; s/core: array/core: descent/' "$folder/s.yaml"
check 'whatever the option' code 1 "$DSE" check "$folder/s.yaml"
finish
