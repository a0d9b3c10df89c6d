#!/bin/sh
# Leakage and areas through the commands: evaluations, columns of results that only such machines have, sweeps of a technology, schedules fused
# and of uops, and what cannot be said. Tests: command_eval.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
: "${PYTHON:=/usr/bin/python3}"

value() { # of a list: FILE KEY
    sed -n "s/^$2,//p" "$1"
}
is_equal() { # within rounding: a formula of awk
    awk "BEGIN { a = $1; b = $2; exit !(a - b <= 1e-12 * b && b - a <= 1e-12 * b && b > 0) }"
}
header_has() {
    head -1 "$1" | tr , '\n' | grep -qx "$2"
}

lacks() {
    ! header_has "$@"
}

cat >"$folder/node.yaml" <<'END_OF_FILE'
architecture: node
clock: 1 GHz
technology: 45 nm
hierarchy:
- {storage: DRAM, kind: dram, word: 8 bit, block: 64 word, bandwidth: 16 GB/s, dram: lpddr4}
- {storage: GlobalBuffer, word: 8 bit, block: 8 word, capacity: 128 KiB, bandwidth: 64 GB/s}
- {array: PE, mesh: 4x4}
- {storage: File, word: 8 bit, capacity: 64 B}
- {macs: MAC, word: 8 bit}
END_OF_FILE

# Power by time: 16 files of 1 mW and 5 mW of the buffer; with power gating those files that the mapping uses, which has 4 of them.
cat >"$folder/mapping.yaml" <<'END_OF_FILE'
mapping:
- {target: DRAM, type: temporal, factors: C=256 K=96 P=13 Q=13 R=3 S=3}
- {target: GlobalBuffer, type: spatial, factors: K=4}
END_OF_FILE
for gating in off on; do
    check "power gating $gating" code 0 "$DSE" eval "$folder/node.yaml" alexnet:conv3 "$folder/mapping.yaml" --set File.leakage='1 mW' \
        --set GlobalBuffer.leakage='5 mW' --set power_gating=$gating --report summary --format csv
    cp "$folder/out" "$folder/$gating.csv"
done
check 'all of it leaks' is_equal "$(value "$folder/off.csv" energy_leakage_j)" "0.021 * $(value "$folder/off.csv" latency_s)"
check 'or what is in use' is_equal "$(value "$folder/on.csv" energy_leakage_j)" "0.009 * $(value "$folder/on.csv" latency_s)"
check 'no other energy differs' is_equal "$(value "$folder/off.csv" energy_j) - $(value "$folder/off.csv" energy_leakage_j)" \
    "$(value "$folder/on.csv" energy_j) - $(value "$folder/on.csv" energy_leakage_j)"
check 'a table for people' code 0 "$DSE" eval "$folder/node.yaml" alexnet:conv3 "$folder/mapping.yaml"
check 'has it as a part' grep -q '^(leakage) ' "$folder/out"
check 'JSON' code 0 "$DSE" eval "$folder/node.yaml" alexnet:conv3 "$folder/mapping.yaml" -r summary -f json
check 'has it, too' grep -q '"energy_leakage_j"' "$folder/out"

# Capacity, node and MACs move energy, area and leakage together; proved by optimal.
cat >"$folder/sweep.yaml" <<'END_OF_FILE'
experiment: technology
architecture: node.yaml
network: alexnet
layers: [conv3]
engine: optimal
options: {starts: 1}
axes:
  GlobalBuffer.capacity: [64 KiB, 256 KiB]
  technology: [45 nm, 22 nm]
  PE.mesh: [4x4, 8x8]
END_OF_FILE
check 'a sweep of a technology' code 0 "$DSE" run "$folder/sweep.yaml" -o "$folder/sweep.h5"
check 'all different, all proved' awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { n += $at["stop"] == "optimal" && $at["energy_leakage_j"] > 0 && $at["GlobalBuffer.area_mm2"] > 0 && $at["File.area_mm2"] > 0 &&
          $at["bound_energy_ratio"] >= 1 - 1e-9 && $at["DRAM.area_mm2"] == ""
      part = $at["energy_mac_j"] + $at["energy_buffer_j"] + $at["energy_noc_j"] + $at["energy_dram_j"] + $at["energy_leakage_j"]
      n -= (part / $at["energy_j"] - 1) ^ 2 > 1e-20
      energy[$at["energy_j"]] = leakage[$at["energy_leakage_j"]] = area[$at["area_mm2"]] = 1 }
    END { for (i in energy) e++; for (i in leakage) l++; for (i in area) a++; exit !(n == 8 && e == 8 && l == 8 && a == 8) }' "$folder/sweep.csv"
check 'again from the file alone' code 0 "$DSE" rerun "$folder/sweep.h5"
check 'is equal' grep -q '^8 of 8 points computed again: 8 equal' "$folder/out"
sed 's/^  GlobalBuffer.capacity.*/  max_area: [0.2 mm2, 9 mm2]/; s/, 22 nm\]/]/' "$folder/sweep.yaml" >"$folder/limit.yaml"
check 'a limit to areas of the tables' code 0 "$DSE" run "$folder/limit.yaml" -o "$folder/limit.h5"
check 'holds' [ "$(grep -c ',infeasible,"layer conv3: the machine takes 0[.]' "$folder/limit.csv")" -eq 2 ]

# Other machines have no such columns, and nothing else changes.
cat >"$folder/plain.yaml" <<'END_OF_FILE'
experiment: plain
architecture: eyeriss_16x16
network: alexnet
layers: [conv3]
engine: descent
limits: {max_evaluations: 200}
END_OF_FILE
check 'a machine without' code 0 "$DSE" run "$folder/plain.yaml" -o "$folder/plain.h5"
check 'has no column' lacks "$folder/plain.csv" energy_leakage_j
check 'and none of levels' lacks "$folder/plain.csv" DRAM.area_mm2
check 'with leakage' code 0 "$DSE" run "$folder/plain.yaml" --set DRAM.leakage='0 W' --set DRAM.area='1 um2' -o "$folder/leaks.h5"
check 'has them' header_has "$folder/leaks.csv" energy_leakage_j
check 'in files that differ' code 1 "$PYTHON" scripts/same-results "$folder/plain.h5" "$folder/leaks.h5"
check 'by these columns alone' code 0 "$PYTHON" scripts/same-results --ignore energy_leakage_j --ignore '*.area_mm2' --ignore area_mm2 --ignore point_key \
    "$folder/plain.h5" "$folder/leaks.h5"

# Schedules of networks: dynamic energy and all power by the latency.
for machine in soma_edge klotski; do
    engine=$([ $machine = klotski ] && echo tangram || echo unfused)
    check "a schedule on $machine" code 0 "$DSE" map $machine resnet50 -e $engine -f yaml
    cp "$folder/out" "$folder/schedule.yaml"
    check 'without leakage' code 0 "$DSE" eval $machine resnet50 "$folder/schedule.yaml" -r summary -f csv
    cp "$folder/out" "$folder/dynamic.csv"
    check 'with leakage' code 0 "$DSE" eval $machine resnet50 "$folder/schedule.yaml" -r summary -f csv --set DRAM.leakage='100 mW' --set MAC.leakage='1 uW'
    macs=$([ $machine = klotski ] && echo 1512 || echo 8192)
    check 'is power by time' is_equal "$(value "$folder/out" energy_leakage_j)" "(0.1 + $macs * 1e-6) * $(value "$folder/out" latency_s)"
    check 'and comes on top' is_equal "$(value "$folder/out" energy_j)" \
        "$(value "$folder/dynamic.csv" energy_j) + $(value "$folder/out" energy_leakage_j)"
    check 'a search by energy' code 0 "$DSE" map $machine resnet50 -e $engine -f csv --objective energy --set DRAM.leakage='100 mW'
    check 'sees it' grep -q '^energy_leakage_j,0[.]' "$folder/out"
    check 'power gating' code 2 "$DSE" map $machine resnet50 -e $engine --set DRAM.leakage='100 mW' --set power_gating=on
    check 'is refused' grep -q 'it gates the power of what is not in use' "$folder/err"
done

check 'an enumeration' code 2 "$DSE" map eyeriss_16x16 alexnet -l conv3 -e interstellar -o mode=enumerate --objective energy --set DRAM.leakage='1 W'
check 'is told what it counts' grep -q 'least energy of accesses, as the authors. program, and architecture eyeriss_16x16 leaks' "$folder/err"
check 'a power in other units' code 2 "$DSE" map eyeriss_16x16 alexnet -l conv3 --set DRAM.leakage='1 J'
check 'is told them' grep -q 'nW, uW, mW, W' "$folder/err"
finish
