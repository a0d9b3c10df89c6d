#!/bin/sh
# dse map -e cosa tells of layers on which cosa-best is better, and is silent where it is not.
# Tests: map_hint.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

networks=experiments/cosa/networks
hint() {
    "$DSE" map simba_tablev "$networks/resnet50_cosa.yaml" -l 1_7_1024_2048_2 -l 3_7_512_512_1 -j "$1" -e cosa
}
# 1,477,325 cycles and 1.56 mJ of cosa against 244,327 cycles and 304 uJ of the form minmax, one of cosa-best's solves: 31 times the EDP.
check 'a layer that cosa maps badly' code 0 hint 1
check 'has a word about it' grep -qx 'dse: cosa-best is better here, at least 3[0-9]\(\.[0-9]\)* times on layer 1_7_1024_2048_2, and by a tenth or more on 1 of 2 different layers: --engine cosa-best' "$folder/err"
cp "$folder/err" "$folder/one"
check 'with two threads' code 0 hint 2
check 'the same' cmp "$folder/one" "$folder/err"

"$DSE" map simba_tablev $networks/resnet50_cosa.yaml -l 1_7_1024_2048_2 -e cosa-best -f csv >"$folder/best"
"$DSE" map simba_tablev $networks/resnet50_cosa.yaml -l 1_7_1024_2048_2 -e cosa -f csv >"$folder/cosa"
check 'what it says is so' awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "edp_js") at = i }
    FNR == 2 { value[++m] = $at } END { exit !(m == 2 && value[1] < value[2] / 30) }' "$folder/best" "$folder/cosa"

check 'as csv' code 0 "$DSE" map simba_tablev $networks/resnet50_cosa.yaml -l 1_7_1024_2048_2 -e cosa -f csv
check 'nothing is said' test ! -s "$folder/err"
check 'a layer that cosa maps well' code 0 "$DSE" map simba_tablev $networks/resnet50_cosa.yaml -l 1_1_2048_1000_1 -e cosa
check 'is not talked about' test ! -s "$folder/err"
check 'another engine' code 0 "$DSE" map simba_tablev $networks/resnet50_cosa.yaml -l 1_7_1024_2048_2 -e random -n 100
check 'has no successor' test ! -s "$folder/err"
finish
