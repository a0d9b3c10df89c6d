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
check 'an area in other units' code 2 "$DSE" map eyeriss_16x16 alexnet -l conv3 --set MAC.area='1 um'
check 'is told them' grep -q 'um2, mm2' "$folder/err"
finish
