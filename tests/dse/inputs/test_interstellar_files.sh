#!/bin/sh
# The files of Interstellar's authors where a machine, a network, a problem and constraints are expected, in sweeps too.
# Tests: inputs.c, resolve.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

data=experiments/interstellar
free='--set RF.min_utilization=0 --set SRAM.min_utilization=0' # random mappings seldom fill half of a memory
# a column of the first row of the last command's CSV
cell() { awk -F, -v want="$1" 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i } FNR == 2 { print $at }' "$folder/out"; }

map() {
    # shellcheck disable=SC2086
    "$DSE" map $data/architectures/eyeriss512.json "$@" -e random -n 200 $free
}
check 'a machine and a table' code 0 map $data/networks/alexnet.csv -l CONV3
check 'at the batch of the table' grep -q '^alexnet on eyeriss512, batch 16,' "$folder/out"
check 'another batch' code 0 map $data/networks/alexnet.csv -l CONV3 -b 2
check 'is taken' grep -q 'batch 2,' "$folder/out"
check 'a clock' code 0 map $data/networks/alexnet.csv -l CONV3 -f csv
slow=$(cell latency_s) cycles=$(cell latency_cycle)
check '400 MHz unless said' awk -v s="$slow" -v c="$cycles" 'BEGIN { exit !(s * 400e6 == c) }'
check 'another clock' code 0 map $data/networks/alexnet.csv -l CONV3 -f csv --set 'clock=1 GHz' --set 'SRAM.bandwidth=1 word/cycle'
check 'is taken' awk -v s="$(cell latency_s)" -v c="$(cell latency_cycle)" 'BEGIN { exit !(s * 1e9 == c) }'
check 'and a bandwidth' test "$(cell latency_cycle)" -gt "$cycles"
check 'a group is a problem, as often as there are groups' code 0 map $data/networks/mobilenet.csv -l CONV2_DW -f csv
check 'times 32' test "$(cell count)" = 32

sched=$data/schedules
check 'a schedule' code 0 map $data/networks/alexnet.csv -l CONV3 -c $sched/CK16.json -f yaml
check 'is kept' grep -q 'SRAM, type: spatial, factors: R=1 S=1 P=1 Q=1 C=16 K=16 N=1' "$folder/out"
cp "$folder/out" "$folder/mapping.yaml"
check 'one that leaves a choice' code 2 map $data/networks/vgg16.csv -l CONV1_1 -c $sched/CK3x16_OX_ON.json
check 'needs the engine interstellar' grep -q 'only engine interstellar' "$folder/err"
check 'a level that is no array' code 2 map $data/networks/alexnet.csv -l CONV3 -c $sched/CK16_l1.json
check 'is named with those that are' grep -q 'CK16_l1.json:1: level1 (SRAM) of machine eyeriss512 is no array.*level0 (RF)' "$folder/err"

cat >"$folder/conv3.json" <<'END'
{"fmap_width": 13, "fmap_height": 13, "input_fmap_channel": 256, "output_fmap_channel": 384,
 "window_width": 3, "window_height": 3, "batch_size": 16}
END
check 'a layer is a problem' code 0 "$DSE" eval $data/architectures/eyeriss512.json "$folder/conv3.json" "$folder/mapping.yaml" -f csv
cp "$folder/out" "$folder/eval"
check 'as a layer of the table is' code 0 "$DSE" eval $data/architectures/eyeriss512.json "$data/networks/alexnet.csv:CONV3" "$folder/mapping.yaml" -f csv
check 'or else wants its name' code 2 "$DSE" eval $data/architectures/eyeriss512.json $data/networks/alexnet.csv "$folder/mapping.yaml"
check 'with an example' grep -q 'alexnet.csv:CONV1' "$folder/err"
check 'a layer is a network' code 0 map "$folder/conv3.json" -f csv
check 'of that layer' test "$(cell layer)" = conv3

cat >"$folder/sweep.yaml" <<END
experiment: sweep
architecture: $PWD/$data/architectures/eyeriss512.json
network: $PWD/$data/networks/alexnet.csv
layers: [CONV3]
engine: random
limits: {max_evaluations: 50}
set: {RF.min_utilization: 0, SRAM.min_utilization: 0}
constraints: [{schedule_hint: {IC: {level0: {partitioning_size: 16}}, OC: {level0: {partitioning_size: 16}}}}]
axes:
  RF.capacity: [64 B, 512 B]
  SRAM.bandwidth: [2 word/cycle, unlimited]
END
check 'a sweep over them' code 0 "$DSE" run "$folder/sweep.yaml" -o "$folder/sweep.h5"
check 'has all its points' awk -F, 'FNR > 1 && /,ok,/ { n++ } END { exit n != 4 }' "$folder/sweep.csv"
check 'and is computed again from what its file keeps' code 0 "$DSE" rerun "$folder/sweep.h5"

mkdir "$folder/paper"
printf 'experiment: fig\nnetwork: alexnet\narchitecture: eyeriss512\nlayers: [FC3]\nengine: random\nlimits: {max_evaluations: 20}\nset: {RF.min_utilization: 0, SRAM.min_utilization: 0}\naxes: {seed: [1]}\n' >"$folder/paper/fig.yaml"
cp -r $data/architectures $data/networks "$folder/paper"
check 'names beside a specification are found' code 0 "$DSE" run "$folder/paper/fig.yaml" -o "$folder/fig.h5"

printf '{"mem_levels": 2, "capacity": [512], "access_cost": [1, 200], "parallel_count": [1, 1], "precision": 16}\n' >"$folder/bad.json"
check 'a bad machine' code 2 "$DSE" map "$folder/bad.json" $data/networks/alexnet.csv -e random
check 'is told where and why' grep -q 'bad.json:1: capacity has 1 entries, but mem_levels is 2' "$folder/err"
finish
