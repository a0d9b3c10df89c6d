#!/bin/sh
# dse eval --report instructions: the stream of the published schedules of ResNet-50, in three formats, and what is refused.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
stage1=experiments/soma/schedules/resnet50_fused.yaml stage2=experiments/soma/schedules/resnet50_fused_stage2.yaml

instructions() {
    "$DSE" eval soma_edge resnet50_soma "$@" --compat --report instructions
}
python() {
    "${PYTHON:-python3}" "$@"
}

# 72 tiles, 58 tensors by DRAM, two of them stored; latency and largest occupancy: tests/known/soma/oracles.
check 'the stream' code 0 instructions $stage2
check 'its size' grep -q '^# resnet50_soma, batch 1, on soma_edge: 130 instructions$' "$folder/out"
check 'its room' grep -q '^# peak address [0-9,]* of 8,388,608 bytes, 7,175,424 alive at most: fragmentation 0\.[0-9]* %$' "$folder/out"
check 'the replay' grep -qx '# replayed: 1,624,151 cycles, as evaluated; no fault' "$folder/out"
check 'the counts' grep -qx 'count: {load: 56, store: 2, compute: 72}' "$folder/out"
check 'a line each' test "$(grep -c '^- {' "$folder/out")" = 130
cp "$folder/out" "$folder/first"
check 'again' code 0 instructions $stage2
check 'the same bytes' cmp "$folder/out" "$folder/first"
check 'double buffering' code 0 instructions $stage1
check 'without fragmentation' grep -q 'peak address 3,558,400 of .* fragmentation 0.000 %' "$folder/out"

check 'as CSV' code 0 instructions $stage2 -f csv
check 'has a row each' test "$(wc -l <"$folder/out")" = 131
cp "$folder/out" "$folder/csv"
check 'as JSON' code 0 instructions $stage2 -f json
check 'says the same' python -c '
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
report = json.load(open(sys.argv[2]))
assert report["latency_cycle"] == 1624151 and len(rows) == len(report["rows"]) == 130
for row, other in zip(rows, report["rows"]):
    assert row["kind"] == other["kind"] and int(row["wait"]) == other["wait"] and int(row["cycle"]) == other["cycle"]
    assert row["layer"] == other["layer"] and row["data_name"] == (other["data_name"] or "")
    assert row["reads"] == other["reads"] and row["writes"] == other["writes"]
' "$folder/csv" "$folder/out"

check 'aligned' code 0 instructions $stage2 --align 4096 -f csv
check 'every offset is a multiple' python -c '
import re, sys
offsets = [int(o) for o in re.findall(r"@(\d+)\+", open(sys.argv[1]).read())]
assert offsets and not any(o % 4096 for o in offsets)
' "$folder/out"
check 'alignment 0' code 2 instructions $stage2 --align 0
check 'alignment of another report' code 2 "$DSE" eval soma_edge resnet50_soma $stage2 --compat --align 64
check 'is named' grep -q -e '--align belongs to --report instructions' "$folder/err"

# A schedule that fits by its bytes, but for which no place is found as it stands: durations are tightened, the latency stays.
full=tests/known/soma/resnet50_full_buffer.yaml
check 'a full buffer' code 0 instructions $full
check 'is tightened' grep -q '^# durations tightened .* as scheduled 8,354,048 bytes alive at most$' "$folder/out"
check 'at the same latency' grep -qx '# replayed: 1,624,927 cycles, as evaluated; no fault' "$folder/out"
check 'of the evaluator' code 0 "$DSE" eval soma_edge resnet50_soma $full --compat -f csv
check 'too' grep -qx 'latency_cycle,1624927' "$folder/out"

# One for which that is not enough either: some tensors are split.
split() {
    "$DSE" eval soma_edge gpt2_small_prefill512 tests/known/soma/gpt2_full_buffer.yaml --compat \
        --set GBUF.capacity='4 MiB' --set DRAM.bandwidth='16 GB/s' "$@"
}
check 'no place for all tensors as a whole' code 0 split --report instructions
check 'is split' grep -Eq '^# [0-9]+ of 149 tensors in several pieces, or it would not fit$' "$folder/out"
check 'and replayed' grep -qx '# replayed: 884,949 cycles, as evaluated; no fault' "$folder/out"
check 'moves say the pieces' grep -Eq '^- [{](load|store): [0-9]+, pieces: \[\[[0-9]+, [0-9]+\], ' "$folder/out"
check 'of the evaluator' code 0 split -f csv
check 'the same' grep -qx 'latency_cycle,884949' "$folder/out"

# What fits by its bytes, but not in units of 1 MiB.
check 'too coarse' code 2 instructions $stage2 --align 1048576
check 'is told with bytes' grep -q 'no place found for all tensors: with offsets at multiples of 1048576 .* the buffer holds 8,388,608; ' "$folder/err"
check 'and nothing else' test ! -s "$folder/out"
check 'a small buffer' code 2 instructions $stage1 --set GBUF.capacity='2 MiB'

finish
