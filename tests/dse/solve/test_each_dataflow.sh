#!/bin/sh
# Every dataflow of a layer, as Interstellar (ASPLOS 2020) counts them: section 3.2 has 21 for a convolution and 3 for a fully-connected
# layer on a 2-D array, and replication adds more. Counts, least energies and spreads of GoogLeNet 4C3R are those of the authors' program
# (commit ed38e1e, dataflow_explore, utilization_threshold 0.75); 146 is its count for AlexNet CONV3 by the rule it had in 2018.
# Tests: each_dataflow.c, workload.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/machine.json" <<'END'
{"access_cost": [0.96, 20, 200], "capacity": [512, 131072, 1073741824], "mac_capacity": 0, "mem_levels": 3,
 "memory_partitions": [[0, 0, 0], [0, 0, 0], [0, 0, 0]], "parallel_cost": [0.035], "parallel_count": [256, 1, 1],
 "parallel_mode": [1, 0, 0], "precision": 16, "static_cost": [0, 0, 0]}
END
cat >"$folder/layers.csv" <<'END'
name,B,K,C,X,Y,FX,FY,stride,groups,count,origin,note
CONV3,16,384,256,13,13,3,3,1,1,1,,
4C3R,16,128,512,14,14,1,1,1,1,1,,
FC1,16,4096,9216,1,1,1,1,1,1,1,,
TINY,1,7,5,1,1,1,1,1,1,1,,
END
# each LAYER OPTION...: a row per dataflow
each() {
    "$DSE" map "$folder/machine.json" "$folder/layers.csv" -l "$@" -e interstellar -a interstellar-compat -O energy --each-dataflow -f csv
}
rows() {
    [ "$(($(wc -l <"$folder/out") - 1))" -eq "$1" ]
}
# cell KEY COLUMN: of the row whose dataflow_key is KEY
cell() {
    awk -F, -v key="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i; else if ($i == "dataflow_key") d = i } $d == key { print $k }' "$folder/out"
}
# span COLUMN: least and most, five digits
span() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i; next } NR == 2 || $k < least { least = $k } $k > most { most = $k }
        END { printf "%.5g %.4g\n", least, most / least }' "$folder/out"
}

check 'without replication' code 0 each CONV3 -o replication=0
check 'a convolution has 21' rows 21
check 'no total of alternatives' sh -c "! grep -q '^total' '$folder/out'"
check 'weight stationary uses 9 of 256' test "$(cell '(1)(0)' utilization)" = 0.03515625
check 'output stationary 169' test "$(cell '(3)(2)' utilization)" = 0.66015625
check 'by its name in the paper' sh -c "grep -q ',C|K,' '$folder/out' && grep -q ',Y|X,' '$folder/out'"
channels=$(cell '(5)(4)' energy_no_mac_pJ)
check 'a fully-connected layer' code 0 each FC1 -o replication=0
check 'has 3' rows 3
check 'a 1x1 convolution' code 0 each 4C3R -o replication=0
check 'has 10' rows 10
check 'with replication' code 0 each 4C3R -o threshold=0.75
check 'has 130' rows 130
check 'of these energies' test "$(span energy_no_mac_pJ)" = '1.4858e+09 1.064'
check 'each uses three quarters' sh -c "[ '$(span utilization | cut -c1-3)' = 0.7 ]"
check 'threads change nothing' sh -c "'$DSE' map '$folder/machine.json' '$folder/layers.csv' -l 4C3R -e interstellar -a interstellar-compat -O energy --each-dataflow -f csv -o threshold=0.75 -j 3 | cmp - '$folder/out'"
check 'the rule of 2018: more than half of each side' code 0 each CONV3 -o threshold=0.501 -o use=0
check 'CONV3 has 146' rows 146
check 'C|K uses 1.23 times the array of row stationary with replication' test "$(cell '(5)(4)' utilization) $(cell '(3)(51)' utilization)" = '0.75 0.609375'

check 'several layers' code 0 "$DSE" map "$folder/machine.json" "$folder/layers.csv" -l FC1 -l 4C3R -e interstellar -a interstellar-compat --each-dataflow -o replication=0 -f csv
check 'one after the other' rows 13
echo '- {target: SRAM, type: spatial, dataflow: K|C}' >"$folder/one.yaml"
check 'one dataflow' code 0 "$DSE" map "$folder/machine.json" "$folder/layers.csv" -l CONV3 -e interstellar -a interstellar-compat -O energy -o replication=0 -c "$folder/one.yaml" -f csv
check 'with its sides as asked for' test "$(cell '(4)(5)' energy_no_mac_pJ)" = "$channels"

check 'no engine of dataflows' code 2 "$DSE" map "$folder/machine.json" "$folder/layers.csv" -l FC1 -e random --each-dataflow
check 'is told' grep -qx 'dse: engine random does not list dataflows; interstellar does' "$folder/err"
check 'no YAML of several' code 2 "$DSE" map "$folder/machine.json" "$folder/layers.csv" -l FC1 -e interstellar --each-dataflow -f yaml
check 'nothing uses so much' code 2 each TINY -o threshold=1
check 'is told, too' grep -q 'layer TINY has no dataflow on machine' "$folder/err"
finish
