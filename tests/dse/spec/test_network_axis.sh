#!/bin/sh
# Parameters of networks as axes, points, `set` and --set of a sweep: what comes out is what the network with these
# parameters gives alone, shards and reruns agree, and what is wrong is told with its line.
# Tests: sweep_networks.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

with() {
    printf '%s\n' "experiment: $1" 'architecture: simba' 'engine: random' 'limits: {max_evaluations: 20}' >"$folder/$1.yaml"
    cat >>"$folder/$1.yaml"
}
refused() {
    check "$1" code 2 "$DSE" check "$folder/$2.yaml"
    check "$1 is told" grep -qF -e "$2.yaml:$3" "$folder/err"
}
# Column $2 of table $1, in the order of the cells: the first two columns are the axes.
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $1, $2, $at[name] }' "$folder/$1.csv" |
        sort | cut -d ' ' -f 3
}

with axes <<END
network: gpt2
set: {network.blocks: 2}
axes: {network.phase: [decode, prefill], network.sequence: [64, 128]}
END
check 'axes' code 0 "$DSE" run "$folder/axes.yaml" -o "$folder/axes.h5"
check 'four points' test "$(column axes status | tr '\n' ' ')" = 'ok ok ok ok '
check 'columns' grep -q '^network.phase,network.sequence,status' "$folder/axes.csv"
check 'dse rerun' code 0 "$DSE" rerun "$folder/axes.h5" --all
check 'resumed' code 0 "$DSE" run "$folder/axes.yaml" -o "$folder/axes.h5"
for k in 1 2; do
    check "shard $k" code 0 "$DSE" run "$folder/axes.yaml" -o "$folder/shards.h5" --shard $k/2
done
check 'merge' code 0 "$DSE" merge "$folder/shards.h5" "$folder/shards.1-of-2.h5" "$folder/shards.2-of-2.h5"
check 'shards agree' test "$(column shards energy_j)" = "$(column axes energy_j)"
check 'one network alone' code 0 "$DSE" map simba gpt2 -e random -n 20 -f csv --set network.blocks=2 --set network.sequence=128
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $1 == "total" { print $at["energy_j"] }' "$folder/out" >"$folder/alone"
check 'the same energy' test "$(cat "$folder/alone")" = "$(column axes energy_j | sed -n 3p)"

with zipped <<END
network: gpt2
axes: {network.size: [small, medium], network.blocks: [1, 2], batch: [1, 2]}
zip: [[network.size, network.blocks, batch]]
END
check 'linked axes' code 0 "$DSE" run "$folder/zipped.yaml" -o "$folder/zipped.h5"
with points <<END
points:
- {network: gpt2, network.blocks: 1, batch: 1}
- {network: gpt2+gpt2, network.blocks: 2, batch: 2}
END
check 'points, joined networks' code 0 "$DSE" run "$folder/points.yaml" -o "$folder/points.h5"
check 'their layers' grep -q ',gpt2-2.block1.ffn2,ok,2,' "$folder/points.layers.csv"
check 'a fixed one' code 0 "$DSE" check "$folder/points.yaml" --set network.sequence=7
check 'an axis is not set' code 2 "$DSE" check "$folder/points.yaml" --set network.blocks=2
check 'a wrong --set' code 2 "$DSE" check "$folder/points.yaml" --set network.sequence=0
check 'is told' grep -q 'set: network.sequence 0: a whole number from 1 to' "$folder/err"

with lacks <<END
axes:
  network: [gpt2, resnet18]
  network.sequence: [7]
END
refused 'a network that lacks it' lacks '7: the network has no parameter sequence'
with unknown <<END
network: gpt2
axes:
  network.length: [7]
END
refused 'an unknown parameter' unknown '7: the network has no parameter length; it has size, phase,'
with value <<END
network: gpt2
axes:
  network.size:
  - small
  - huge
END
refused 'an unknown value' value '9: network.size huge: one of small, medium, large, xl is expected'
with both <<END
network: gpt2
set: {network.size: small}
axes: {network.size: [small, xl]}
END
refused 'fixed and swept' both '7: network.size is an axis here and fixed on line 6'
with own <<END
network: gpt2_xl_decode1025
set: {network.cache: 3}
END
refused 'what the file sets' own '6: network.cache: the network sets it itself'
printf '%s\n' 'network: odd' 'parameters: {n: {default: 4}}' 'input: {C: 4}' 'layers:' \
    '- {name: a, type: linear, C: 4, K: 12 / n, from: input}' >"$folder/odd.yaml"
with rest <<END
network: $folder/odd.yaml
axes: {network.n: [3, 5]}
END
check 'a value that does not fit' code 2 "$DSE" check "$folder/rest.yaml"
check 'names the file and the value' grep -q 'odd.yaml:5: "12 / n": 12 / 5 leaves a rest of 2; divisions are exact (with network.n=5)' "$folder/err"
finish
