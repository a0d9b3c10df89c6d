#!/bin/sh
# Areas of native machines: a column, a limit that makes points infeasible, a limit without areas is refused. Of mappers and schedulers.
# Tests: solve.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/sweep.yaml" <<END
experiment: area
architecture: eyeriss_16x16
network: alexnet
layers: [conv3]
engine: random
limits: {max_evaluations: 100}
set: {MAC.area: 600 um2, PE.area: 100 um2, GlobalBuffer.area_per_byte: 4 um2, max_area: 1 mm2}
axes:
  GlobalBuffer.capacity: [128 KiB, 256 KiB]
END
# 256 MACs and links of 700 um2 are 0.1792 mm2, 128 KiB of 4 um2 are 0.524288 mm2, twice that 1.048576 mm2.
check 'a sweep over a limit' code 0 "$DSE" run "$folder/sweep.yaml" -o "$folder/sweep.h5"
check 'has both points' awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["status"] == "ok" && ($at["area_mm2"] - 0.703488) ^ 2 < 1e-24 { ok++ }
    $at["status"] == "infeasible" && index($0, "the machine takes 1.22778 mm2, max_area is 1 mm2") { no++ }
    END { exit !(ok == 1 && no == 1) }' "$folder/sweep.csv"
sed -e '/^set:/d' "$folder/sweep.yaml" >"$folder/none.yaml"
check 'without areas' code 0 "$DSE" run "$folder/none.yaml" -o "$folder/none.h5"
check 'the column is empty' awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { n++; bad = bad || !("area_mm2" in at) || $at["area_mm2"] != "" } END { exit bad || n != 2 }' "$folder/none.csv"
check 'a limit without areas' code 2 "$DSE" map eyeriss_16x16 alexnet -l conv3 --set max_area='1 mm2'
check 'is refused' grep -q 'max_area is given, but no area to compare with it' "$folder/err"
check 'a schedule over the limit' code 1 "$DSE" map soma_edge resnet50_soma -e unfused --set MAC.area='1 mm2' --set max_area='2 mm2'
check 'says why' grep -q 'max_area is 2 mm2' "$folder/err"

# One sentence wherever a machine meets its limit: a search, an evaluation, a check of the file.
over="--set MAC.area=600um2 --set max_area=0.1mm2" told='the machine takes 0.1536 mm2, max_area is 0.1 mm2'
check 'a mapping' code 0 "$DSE" map eyeriss_16x16 alexnet -l conv3 -e random -n 50 -f yaml
cp "$folder/out" "$folder/mapping.yaml"
# shellcheck disable=SC2086
check 'no search on a machine over the limit' code 1 "$DSE" map eyeriss_16x16 alexnet -l conv3 -e random -n 50 $over
check 'which is told' grep -q "$told" "$folder/err" "$folder/out"
# shellcheck disable=SC2086
check 'no evaluation either' code 2 "$DSE" eval eyeriss_16x16 alexnet:conv3 "$folder/mapping.yaml" $over
check 'for the same reason' grep -q "^dse: eyeriss_16x16: $told" "$folder/err"
sed 's/^hierarchy:/max_area: 0.1 mm2\nhierarchy:/; s/^- macs: MAC/- macs: MAC\n  area: 600 um2/' experiments/architectures/eyeriss_16x16.yaml >"$folder/over.yaml"
check 'the file is right' code 0 "$DSE" check "$folder/over.yaml"
check 'and over its limit' grep -q "nothing runs on it: $told" "$folder/out"
echo '[OX:13 OY:13 FX:3 FY:3] / [] / [IC:384 OC:384 ON:1]' >"$folder/points.txt"
cat >"$folder/small.yaml" <<END
architecture: small
clock: 1 GHz
max_area: 0.1 mm2
hierarchy:
- {storage: DRAM, kind: dram, word: 16 bit, access_energy: 200 pJ}
- {storage: SRAM, word: 16 bit, capacity: 1 MiB, access_energy: 20 pJ}
- {storage: RF, word: 16 bit, capacity: 64 KiB, access_energy: 0.12 pJ}
- {macs: MAC, word: 16 bit, energy: 0.075 pJ, area: 0.2 mm2}
END
check 'mappings of one line' code 2 "$DSE" eval "$folder/small.yaml" alexnet:conv3 "$folder/points.txt" -a interstellar
check 'are refused, too' grep -q 'takes 0.2 mm2, max_area is 0.1 mm2' "$folder/err"
check '--no-fit prices them' code 0 "$DSE" eval "$folder/small.yaml" alexnet:conv3 "$folder/points.txt" -a interstellar --no-fit -f csv
check 'and warns' grep -q 'warning: .*max_area is 0.1 mm2; priced all the same' "$folder/err"

check 'an area in other units' code 2 "$DSE" map eyeriss_16x16 alexnet -l conv3 --set MAC.area='1 um'
check 'is told them' grep -q 'um2, mm2' "$folder/err"
finish
