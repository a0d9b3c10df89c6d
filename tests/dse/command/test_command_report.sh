#!/bin/sh
# dse report from outside: where the page goes, what it says of itself, wrong use. What is in the page: tests/results/page/test_page.py.
# Tests: command_report.c, current_cube.c, run_command.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
cat >"$folder/small.yaml" <<'YAML'
experiment: small
title: A title
architecture: simba
network: resnet50
layers: [conv2_0_a]
engine: random
limits: {max_evaluations: 20}
plot: {kind: heatmap, x: DRAM.bandwidth, y: GlobalBuffer.capacity, metric: energy_j}
axes:
  GlobalBuffer.capacity: [64 KiB, 128 KiB, 256 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
YAML
# has PATTERN PAGE
has() { grep -q -- "$1" "$2"; }

check 'the sweep' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/it's.h5" --set 'seed=2'
check 'the page beside it' code 0 "$DSE" report "$folder/it's.h5"
page="$folder/it's.html"
check 'is named' test "$(cat "$folder/err")" = "dse: $page"
check 'says nothing else' test ! -s "$folder/out"
check 'has the title' has '<h1>A title</h1>' "$page"
check 'shows what the specification shows' has '<option value="energy_j" .* selected>' "$page"
check 'along its axes' has 'Across: DRAM bandwidth (GB/s); upwards: GlobalBuffer capacity (KiB)' "$page"
check 'the command, quoted for a shell' has "dse run .*small.yaml -o .*it&#39;.*s.h5.* --set seed=2" "$page"
check 'of the table' code 0 "$DSE" report "$folder/it's.csv" -o "$folder/2.html"
check 'by the same bytes but for its name' test "$(sed "s/it&#39;s.csv/it\&#39;s.h5/g;s/'\\\\''//g" "$folder/2.html" | grep -c 'class="m v')" = "$(grep -c 'class="m v' "$page")"
check 'to the standard output' sh -c "'$DSE' report \"$folder/it's.h5\" -o /dev/stdout 2>/dev/null | cmp - \"$page\""
check 'another title, metric and slice' code 0 "$DSE" report "$folder/it's.h5" -o "$folder/3.html" --title 'T & U' -m latency_s -w 'DRAM.bandwidth=10 GB/s'
check 'shows them' has '<h1>T &amp; U</h1>' "$folder/3.html"
check 'and what is fixed' has 'DRAM bandwidth 10 GB/s' "$folder/3.html"
check 'a folder that is not there' code 2 "$DSE" report "$folder/it's.h5" -o "$folder/no/such.html"
check 'a wrong metric' code 2 "$DSE" report "$folder/it's.h5" -m energie_j
check 'names the near one' grep -q 'did you mean energy_j' "$folder/err"
check 'no file' code 2 "$DSE" report
check 'no result file' code 2 "$DSE" report "$folder/small.yaml"

# ---- the objective is what is shown
sed -e '/^plot/d' -e 's/^engine/objective: latency\nengine/' "$folder/small.yaml" >"$folder/fast.yaml"
check 'another objective' code 0 "$DSE" run "$folder/fast.yaml" -o "$folder/fast.h5"
check 'its page' code 0 "$DSE" report "$folder/fast.h5"
check 'shows it first' has '<option value="latency_s" .* selected>' "$folder/fast.html"

# ---- a shard
check 'a shard' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard 1/2
check 'its page' code 0 "$DSE" report "$folder/part.1-of-2.h5"
check 'says that it is none of all' has 'Unfinished:.* of 6 points are here' "$folder/part.1-of-2.html"
finish
