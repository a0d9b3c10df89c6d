#!/bin/sh
# dse eval of a fused schedule: the published program's figures (tests/known/soma/oracles, r50_8MB_16GBs_s1 and _s2), every event,
# formats that agree, faults and bad text.
# Tests: schedule_evaluate.c, schedule_reports.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
stage1=experiments/soma/schedules/resnet50_fused.yaml stage2=experiments/soma/schedules/resnet50_fused_stage2.yaml
oracle=tests/known/soma/oracles/r50_8MB_16GBs_s

# eval FILE OPTION...
eval_schedule() {
    "$DSE" eval soma_edge resnet50_soma "$@" --compat
}
# is KEY VALUE: of the summary in $folder/out
is() {
    grep -qx "$1,$2" "$folder/out"
}
# close KEY VALUE UNIT: to 1e-9; the value is in so many units of the summary
close() {
    awk -F, -v key="$1" -v wanted="$2" -v unit="${3:-1}" '$1 == key { d = $2 / (wanted * unit) - 1; found = d < 1e-9 && d > -1e-9 } END { exit !found }' "$folder/out"
}

for stage in 1 2; do
    file=$stage1
    [ $stage = 2 ] && file=$stage2
    # totals: buffer, bandwidth, latency, core energy (pJ), DRAM bytes, DRAM energy (pJ), DRAM cycles, largest occupancy, ...
    totals=$(sed -n 's/^totals,//p' $oracle$stage.csv)
    value() { echo "$totals" | cut -d, -f"$1"; }
    check "stage $stage" code 0 eval_schedule $file --report summary --format csv
    check 'latency' is latency_cycle "$(value 3)"
    check 'DRAM bytes' is dram_byte "$(value 5)"
    check 'DRAM energy' close energy_j:dram "$(value 6)" 1e-12
    check 'DRAM cycles, the bound here' is bound_latency_cycle "$(value 7)"
    check 'largest occupancy' is buffer_max_byte "$(value 8)"
    check 'average occupancy' close buffer_average_compat_byte "$(awk -v a="$(value 9)" -v b="$(value 3)" 'BEGIN { printf "%.17g", a / b }')"
    check 'all energy' close energy_j "$(awk -v a="$(value 4)" -v b="$(value 6)" 'BEGIN { printf "%.17g", a + b }')" 1e-12
    check 'its parts' awk -F, '/^energy_j:/ { sum += $2 } /^energy_j,/ { all = $2 }
        END { d = sum / all - 1; exit !(d < 1e-9 && d > -1e-9) }' "$folder/out"

    # Of the oracle: start, finish and living bytes of each tile; place, start and finish of each tensor that moves, in the same order.
    check 'tiles' code 0 eval_schedule $file --report tiles --format csv
    awk -F, 'NR > 1 { print $10, $12, $13, $15 }' "$folder/out" >"$folder/ours"
    awk -F, '/^tile,/ { print $10, $12, $13, $14 }' $oracle$stage.csv >"$folder/theirs"
    check 'are those of the published program' cmp "$folder/ours" "$folder/theirs"
    check 'tensors' code 0 eval_schedule $file --report tensors --format csv
    awk -F, 'NR > 1 && $7 != "" { print $6, $7, $8, $9, $13, $14 }' "$folder/out" >"$folder/ours"
    awk -F, '/^tensor,/ && $7 >= 0 { print $6, $7, $8, $9, $13, $14 }' $oracle$stage.csv >"$folder/theirs"
    check 'are those of the published program' cmp "$folder/ours" "$folder/theirs"
    check 'are there' test -s "$folder/ours"
done

check 'for people' code 0 eval_schedule $stage1
check 'with the latency' grep -q '^  latency  *1.90 ms (1,902,450 cycles)$' "$folder/out"
check 'and the bound' grep -q '^  lower bound  *1,615,947 cycles of DRAM; the latency is 1.177 times that$' "$folder/out"
for report in summary tiles tensors; do
    check "$report as JSON" code 0 eval_schedule $stage2 -r $report -f json
    check 'is JSON' "${PYTHON:-python3}" -c 'import json, sys; assert json.load(open(sys.argv[1]))["report"] == sys.argv[2]' "$folder/out" $report
    check "$report as a table" code 0 eval_schedule $stage2 -r $report
done
check 'the result of JSON' code 0 eval_schedule $stage2 -f json
check 'is that of CSV' grep -q '"latency_cycle": 1624151' "$folder/out"

# Axes of the sweep: capacity and bandwidth. 4 MiB: the same schedule, other energies of the buffer; 8 GB/s: twice the DRAM cycles, rounded up per tensor.
check '4 MiB' code 0 eval_schedule $stage1 -f csv --set GBUF.capacity='4 MiB'
check 'the same latency' is latency_cycle 1902450
check 'of 4 MiB' is buffer_capacity_byte 4194304
check '8 GB/s' code 0 eval_schedule $stage1 -f csv --set DRAM.bandwidth='8 GB/s'
check 'more DRAM cycles' awk -F, '$1 == "dram_cycle" { exit !($2 >= 25855144 / 8 && $2 < 25855144 / 8 + 58) }' "$folder/out"
check 'batch 2' code 0 eval_schedule $stage1 -f csv -b 2
check 'is told' is batch 2

# Whose rules: --compat, or the text says so; without either the default ones, by which one tile per layer is the same work (docs/soma.md).
check 'the default rules' code 0 "$DSE" eval soma_edge resnet50_soma $stage1 -f csv
check 'the same tiles' is n_tile 72
check 'the same DRAM bytes' is dram_byte 25855144
check 'for people' code 0 "$DSE" eval soma_edge resnet50_soma $stage1
check 'not called compat' grep -q '^resnet50_soma, batch 1, on soma_edge$' "$folder/out"
sed 's/^soma: 1/&\ncompat: true/' $stage2 >"$folder/compat.yaml"
check 'compat in the text' code 0 "$DSE" eval soma_edge resnet50_soma "$folder/compat.yaml"
check 'is the option' grep -q 'on soma_edge (compat)$' "$folder/out"
check 'with the option too' code 0 eval_schedule "$folder/compat.yaml" -f csv
check 'the same latency' is latency_cycle 1624151
sed 's/^soma: 1/&\ncompat: false/' $stage2 >"$folder/sound.yaml"
check 'the contrary' code 2 eval_schedule "$folder/sound.yaml"
check 'is told' grep -q 'sound.yaml: the schedule says compat: false; evaluate it without --compat' "$folder/err"

# What a schedule breaks.
check 'a small buffer' code 2 eval_schedule $stage1 --set GBUF.capacity='2 MiB'
check 'bytes and place' grep -q 'does not fit: at position 6 (tile 0 of conv2_0_add) it has 2,424,832 bytes alive, GBUF holds 2,097,152' "$folder/err"
check 'nothing is printed' test ! -s "$folder/out"
sed 's/conv1, pool1,/pool1, conv1,/' $stage1 >"$folder/order.yaml"
check 'a consumer before its producer' code 2 eval_schedule "$folder/order.yaml"
check 'is named' grep -q 'order.yaml: the schedule is not valid at layer [a-z0-9_]*: the computing order' "$folder/err"
sed 's/tiles: 1/tiles: 100/' $stage1 >"$folder/tiles.yaml"
check 'tiles that cannot be' code 2 eval_schedule "$folder/tiles.yaml"
check 'are named' grep -q 'the schedule is not valid at layer [a-z0-9_]*: an output of a group cannot be cut' "$folder/err"
awk '/ weights conv1$/ { last = $0; next } { print } END { print last }' $stage2 >"$folder/late.yaml"
check 'weights behind all else' code 2 eval_schedule "$folder/late.yaml"
check 'never arrive' grep -q 'never ends: tile 0 of conv1 (position 0) waits for a tensor that stands in the DRAM order behind tensor 4, the weights of conv2_0_a' "$folder/err"
awk '/ ofmap conv5_2_add / { store = $0; next } { print } / ifmap pool5 / { print store }' $stage2 >"$folder/swap.yaml"
check 'a load before its store' code 2 eval_schedule "$folder/swap.yaml"
check 'names the tensor' grep -q 'the schedule .*tensor [0-9]*, the ifmap of tile 0 of pool5' "$folder/err"
# The weights right before the store of tensor 123, which ends at 70; by positions it would fit.
sed 's/^- \[126, 67, 72\]/- [126, 70, 72]/' $stage2 >"$folder/overlap.yaml"
check 'a load into room that is taken' code 2 eval_schedule "$folder/overlap.yaml"
check 'is told' grep -q 'tensor 126, the weights of fc (2,048,000 bytes) may be loaded from position 70 on, but a tensor whose living duration ends there' "$folder/err"

# Bad text: file and line.
sed 's/conv2_0_a,/conv2_0_x,/' $stage1 >"$folder/layer.yaml"
line=$(grep -n conv2_0_x "$folder/layer.yaml" | cut -d: -f1)
check 'an unknown layer' code 2 eval_schedule "$folder/layer.yaml"
check 'has its line' grep -q "layer.yaml:$line: network resnet50_soma has no layer \"conv2_0_x\"" "$folder/err"
printf 'soma: 1\nnetwork: [resnet50_soma\n' >"$folder/broken.yaml"
check 'broken YAML' code 2 eval_schedule "$folder/broken.yaml"
check 'is still a schedule' grep -q 'broken.yaml:[0-9]*: ' "$folder/err"
sed 's/^- \[1, -1, 1\]/- [1, 5, 6]/' $stage2 >"$folder/living.yaml"
check 'a living duration too late' code 2 eval_schedule "$folder/living.yaml"
check 'says which are right' grep -q 'living.yaml: tensor 1 (weights) starts at 5; it may start from -1 to 0' "$folder/err"
check 'another network' code 2 "$DSE" eval soma_edge resnet50 $stage1 --compat
check 'is told' grep -q 'the schedule is for network "resnet50_soma", not resnet50' "$folder/err"

# Wrong use.
check 'no such file' code 2 eval_schedule "$folder/none.yaml"
check 'says so' grep -q 'none.yaml: cannot read: No such file' "$folder/err"
check 'the same without rules' code 2 "$DSE" eval soma_edge resnet50_soma "$folder/none.yaml"
check 'says what a network needs' grep -q 'a whole network, which needs a fused schedule that can be read; for a mapping write NETWORK:LAYER' "$folder/err"
check 'a layer' code 2 "$DSE" eval soma_edge resnet50_soma:conv1 $stage1 --compat
check 'names the network' grep -q 'did you mean resnet50_soma?' "$folder/err"
check 'a machine of another kind' code 2 "$DSE" eval simba resnet50_soma $stage1 --compat
check 'says what is missing' grep -q 'simba is no machine for fused schedules: ' "$folder/err"
check 'a report of mappings' code 2 eval_schedule $stage1 -r levels
check 'names those of schedules' grep -q -e '--report levels: accepted are summary, tiles, tensors, instructions' "$folder/err"
check 'a measure of mappings' code 2 eval_schedule $stage1 -m noc
known=tests/known/timeloop
mapping="$known/archs/gb-rf-4x4-4.yaml $known/problems/resnet50-conv3-1x1s2.yaml $known/maps/047_gb-rf-4x4_resnet50-conv3-1x1s2.yaml"
# Layers in parts: the reports say which part of how many; elsewhere there is no such column.
check 'a network in parts' code 0 "$DSE" map soma_edge alexnet -e unfused -f yaml
cp "$folder/out" "$folder/parts.yaml"
parts=$(sed -n 's/^- {layer: fc6, outputs: \([0-9]*\)}$/\1/p' "$folder/parts.yaml")
for report in tiles tensors; do
    check "$report of it" code 0 "$DSE" eval soma_edge alexnet "$folder/parts.yaml" -r $report -f csv
    check 'part 3' grep -q ",fc6#3,.*,3 of $parts\$" "$folder/out"
    check 'whole layers' grep -q ',conv1,.*,$' "$folder/out"
done
check 'a network without parts' code 0 "$DSE" map soma_edge resnet18 -e unfused -f yaml
cp "$folder/out" "$folder/whole.yaml"
check 'its tiles' code 0 "$DSE" eval soma_edge resnet18 "$folder/whole.yaml" -r tiles -f csv
check 'no parts' sh -c "head -1 '$folder/out' | grep -q ',living_byte\$'"

# shellcheck disable=SC2086
check 'a report of schedules' code 2 "$DSE" eval $mapping -r tiles
# shellcheck disable=SC2086
check 'rules of schedules' code 2 "$DSE" eval $mapping --compat
finish
