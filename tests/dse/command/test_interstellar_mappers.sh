#!/bin/sh
# Every mapper finds mappings by Interstellar's accountings, which `dse eval` prices the same; as an axis of a sweep.
# Tests: command_map.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

energy_of_map() {
    "$DSE" map "$1" resnet50 -l conv3_1_b -e "$2" -n 200 -O energy -a "$3" -f csv 2>"$folder/err" |
        python3 -c 'import csv, sys; print(next(csv.DictReader(sys.stdin))["energy_j"])'
}
same() {
    energy_of_map "$1" "$2" "$3" >"$folder/mapped"
    "$DSE" map "$1" resnet50 -l conv3_1_b -e "$2" -n 200 -O energy -a "$3" -f yaml >"$folder/m.yaml" 2>"$folder/err" &&
        "$DSE" eval "$1" resnet50:conv3_1_b "$folder/m.yaml" -a "$3" -f csv -r summary |
        sed -n 's/^energy_j,//p' >"$folder/priced" && test -s "$folder/priced" &&
        paste -d' ' "$folder/mapped" "$folder/priced" | python3 -c '
a, b = map(float, input().split())
assert a > 0 and abs(a - b) <= 1e-12 * a, (a, b)'
}

# Those of Mind Mappings take their own machines alone, and two prove by the accounting timeloop alone.
mappers=$("$DSE" list engines | awk '$2 == "mapper" && $1 !~ /^(mm-.*|mindmappings|exhaustive|optimal)$/ {print $1}')
for mapper in $mappers; do
    check "$mapper on simba" same simba "$mapper" interstellar
    check "$mapper on eyeriss_16x16" same eyeriss_16x16 "$mapper" interstellar-compat
done
# A layer too small to fill the authors' memories to half, which the sounder rules do not ask for.
files=experiments/interstellar
for mapper in $mappers; do
    check "$mapper fills no memory to half" code 0 "$DSE" map $files/architectures/rf64.json $files/networks/lstm_m.csv -b 1 \
        --set SRAM.capacity='8 MiB' -e "$mapper" -n 200 -a interstellar -O energy
done
check 'which the authors do' code 1 "$DSE" map $files/architectures/rf64.json $files/networks/lstm_m.csv -b 1 \
    --set SRAM.capacity='8 MiB' -e interstellar -a interstellar-compat -O energy
for mapper in $mappers; do
    check "$mapper fills each memory beside others" code 0 "$DSE" map $files/architectures/split_wbypass.json densenet161 \
        -l d4_15 -b 1 -e "$mapper" -n 200 -a interstellar -O energy
done
for engine in exhaustive optimal; do
    check "$engine proves by other counts" code 2 "$DSE" map simba resnet50 -l conv1 -e $engine -a interstellar
    check 'and says so' grep -q "engine $engine cannot be priced by accounting interstellar" "$folder/err"
done

cat >"$folder/s.yaml" <<'END'
experiment: accountings
architecture: eyeriss_16x16
network: alexnet_interstellar
engine: hybrid
limits: {max_evaluations: 50}
axes:
  accounting: [interstellar, interstellar-compat]
END
check 'a sweep' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/s.h5"
check 'has a row of each' sh -c "cut -d, -f1-2 '$folder/s.csv' | grep -c '^interstellar.*,ok' | grep -qx 2"
check 'none below its bound' python3 -c "
import csv
for row in csv.DictReader(open('$folder/s.csv')):
    assert float(row['bound_energy_ratio']) >= 1 and float(row['bound_edp_ratio']) >= 1, row"
finish
