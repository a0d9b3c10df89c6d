#!/bin/sh
# dse merge: what is missing is named, and the command that it prints computes it.
# Tests: command_merge.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/small.yaml" <<'YAML'
experiment: small
architecture: simba
network: resnet50
layers: [conv2_0_a]
engine: random
limits: {max_evaluations: 50}
axes:
  GlobalBuffer.capacity: [64 KiB, 128 KiB, 256 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
skip: [{GlobalBuffer.capacity: 128 KiB, DRAM.bandwidth: 10 GB/s}]
YAML
# The table without wall times and checksums.
table() {
    python3 - "$1" <<'PYTHON'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print([value for name, value in row.items() if name not in ("seconds", "trace_seconds", "checksum")])
PYTHON
}
check 'all at once' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/whole.h5" -j 1 --set batch=2
check 'shard 1' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard 1/2 --set batch=2
check 'shard 2' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard 2/2 --set batch=2
n_other=$(($(wc -l <"$folder/part.1-of-2.csv") - 1))
check 'merge of one' code 0 "$DSE" merge "$folder/part.h5" "$folder/part.2-of-2.h5"
check 'counts what is missing' grep -q "^dse: $n_other points* \(is\|are\) missing" "$folder/err"
check 'names each of them, and not the cell that is skipped' test "$(grep -c '^ *GlobalBuffer.capacity=' "$folder/err")" -eq "$n_other"
check 'not that one' sh -c "! grep -q 'GlobalBuffer.capacity=128 KiB DRAM.bandwidth=10 GB/s' '$folder/err'"
command=$(sed -n 's/^dse: to compute what is missing: dse //p' "$folder/err")
check 'a command' test -n "$command"
# shellcheck disable=SC2086
check 'which runs' code 0 "$DSE" $command -j 1
check 'computes only what is missing' test "$(wc -l <"$folder/part.csv")" -eq 6
table "$folder/whole.csv" | sort >"$folder/one"
table "$folder/part.csv" | sort >"$folder/two"
check 'and gives the results of one run' cmp "$folder/one" "$folder/two"
check 'merge into a shard' code 0 "$DSE" merge "$folder/part.h5" "$folder/part.h5" "$folder/part.1-of-2.h5"
check 'nothing is missing' sh -c "! grep -q missing '$folder/err'"
table "$folder/whole.csv" >"$folder/one"
table "$folder/part.csv" >"$folder/two"
check 'in cell order, as one thread computes' cmp "$folder/one" "$folder/two"
check 'nothing else is left' test "$(find "$folder" -name 'part.*' | wc -l)" -eq 9

check 'an output that is there' code 2 "$DSE" merge "$folder/whole.h5" "$folder/part.1-of-2.h5"
check 'no such shard' code 2 "$DSE" merge "$folder/new.h5" "$folder/none.h5"
check 'leaves nothing' test ! -e "$folder/new.csv" -a ! -e "$folder/new.lock"

# The command holds in a shell whatever the names are.
cp "$folder/small.yaml" "$folder/it's \$x.yaml"
check 'a name with a quote' code 0 "$DSE" run "$folder/it's \$x.yaml" -o "$folder/o u't.h5" --shard 1/2
check 'merged' code 0 "$DSE" merge "$folder/m u't.h5" "$folder/o u't.1-of-2.h5"
command=$(sed -n 's/^dse: to compute what is missing: dse //p' "$folder/err")
check 'gives a command for a shell' sh -c "\"$DSE\" $command -j 1"
check 'that computes the rest' test "$(wc -l <"$folder/m u't.csv")" -eq 6
finish
