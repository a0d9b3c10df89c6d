#!/bin/sh
# The simulated network sees the DRAM's bandwidth and what the buffers in the PEs need again; noc.compat is CoSA's.
# Tests: mapping_report.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# cycles COLUMN: that of the only layer in $folder/out
cycles() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }' "$folder/out"
}

# Bytes over bandwidth is in the model's latency: 0.5, 20 and 200 GB/s.
before=
for bandwidth in 0.5 20 200; do
    check "$bandwidth GB/s" code 0 "$DSE" map simba resnet50 -l conv2_0_c -e cosa -m noc --set DRAM.bandwidth="$bandwidth GB/s" -f csv
    noc=$(cycles noc_latency_cycle)
    check "$bandwidth GB/s: not below the model" test "$noc" -ge "$(cycles latency_cycle)"
    check "$bandwidth GB/s: another latency" test "$noc" != "$before"
    before=$noc
    "$DSE" map simba resnet50 -l conv2_0_c -e cosa -m noc --set DRAM.bandwidth="$bandwidth GB/s" --set noc.compat=on -f csv >"$folder/out"
    check "$bandwidth GB/s: CoSA's DRAM has its own" test "$(cycles noc_latency_cycle)" = "${compat:=$(cycles noc_latency_cycle)}"
done

# Weights of 1_7_1024_2048_2 do not fit the weight buffers with cosa's mapping.
layer=experiments/cosa/networks/resnet50_cosa.yaml
map() {
    "$DSE" map simba_tablev $layer -l 1_7_1024_2048_2 -e cosa -m noc -f csv "$@"
}
check 'weights that come again' code 0 map
check 'take their time' test "$(cycles noc_latency_cycle)" -ge "$(cycles latency_cycle)"
check 'the same by the published program' code 0 map --set noc.compat=on
check 'which sends them once' test "$(cycles noc_latency_cycle)" -lt "$(cycles latency_cycle)"
finish
