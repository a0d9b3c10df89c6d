#!/bin/sh
# dse optimise: its rows in every format, batches by network, what it refuses. The search itself: tests/dse/optimise.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# One hierarchy, so that the numbers are those of dse map.
check 'one hierarchy' code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m lstm_m -b mlp_m=128 --dataflow any --size 'RF1=16 B' -f csv
cp "$folder/out" "$folder/rows"
check 'rows of both and all' awk -F, '{ name = name " " $1 } END { exit name != " network mlp_m lstm_m all" }' "$folder/rows"
"$DSE" map experiments/interstellar/architectures/rf2_sram.yaml mlp_m -b 128 -e interstellar -O energy -f csv >"$folder/map"
check 'energy and time of dse map' awk -F, '
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    NR == FNR { if ($1 == "total") { e = $at["energy_j"]; t = $at["latency_s"] } next }
    $1 == "mlp_m" { exit !($5 / e - 1 < 1e-12 && 1 - $5 / e < 1e-12 && $8 / t - 1 < 1e-12 && 1 - $8 / t < 1e-12) }' "$folder/map" "$folder/rows"
check 'TOPs/W are 2 operations per MAC over the energy, and all is the sum' awk -F, '
    NR == 1 { next } $1 != "all" { e += $5; next } { exit !($5 / e - 1 < 1e-12 && 1 - $5 / e < 1e-12) }' "$folder/rows"
check 'json' code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m --size 'RF1=16 B,32 B' -f json
check 'is json' python3 -m json.tool "$folder/out"
check 'a batch that is no number' code 2 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m -b mlp_m=x --size 'RF1=16 B'
check 'is refused' grep -q 'NETWORK=N' "$folder/err"
check 'a ratio without an end' code 2 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m --ratio 4 --size 'RF1=16 B'
check 'a size twice' code 2 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m --size 'RF1=16 B' --size 'RF1=32 B'
check 'an accounting without proofs' code 2 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m --size 'RF1=16 B' -a timeloop

# refused SENTENCE OPTION...: with that sentence, for mlp_m on eyeriss_16x16
refused() {
    sentence=$1
    shift
    check "$*" code 2 "$DSE" optimise eyeriss_16x16 mlp_m "$@"
    check 'says why' grep -q -e "$sentence" "$folder/err"
}
refused 'write LEVEL=SIZES' --size GlobalBuffer
refused 'write LEVEL=SIZES' --size '=64 KiB'
refused 'two dots and two ends' --size 'GlobalBuffer=64 KiB..'
refused 'two dots and two ends' --size 'GlobalBuffer=..64 KiB'
refused 'two dots and two ends' --size 'GlobalBuffer=64 KiB...128 KiB'
refused '--size GlobalBuffer=1 B: GlobalBuffer.capacity is 8 bit' --size 'GlobalBuffer=1 B,64 KiB'
refused 'outermost level is off the chip' --size 'DRAM=64 KiB'
refused 'limits: 2 break --ratio' --size 'GlobalBuffer=64 KiB,128 KiB' --ratio 4:16
refused 'limits: 1 break --max-storage, 1 break --ratio' --size 'GlobalBuffer=64 KiB,1 MiB' --ratio 4:16 --max-storage '1 MiB'
refused 'did you mean mlp_m' --size 'GlobalBuffer=64 KiB' -b mlp=3
refused 'did you mean GlobalBuffer.capacity\|did you mean "GlobalBuffer.capacity"' --size 'globalbuffer=64 KiB'
finish
