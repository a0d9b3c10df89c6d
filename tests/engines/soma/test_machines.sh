#!/bin/sh
# Tests: task.c. Fused schedules on every shipped machine: searched, read back from their text with the same latency, placed and replayed, and never
# with fewer bytes than have to cross the chip's border. What is no machine for them says why.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

tiny=tests/known/soma/tiny6.yaml
least=31152 # its input of 3 x 32 x 32, 23,984 weights, its output of 64 x 8 x 8; a byte each or more

value() {
    sed -n "s/^$1,//p" "$folder/summary"
}

# One search, its text again, its instructions.
scheduled() {
    on=$1 engine=$2
    shift 2
    check "$engine on $on" code 0 "$DSE" map "$on" $tiny --engine "$engine" --option core_evaluations=60 --format yaml "$@"
    mv "$folder/out" "$folder/schedule.yaml"
    check "$on: its text" code 0 "$DSE" eval "$on" $tiny "$folder/schedule.yaml" --format csv
    mv "$folder/out" "$folder/summary"
    head -1 "$folder/schedule.yaml" | tr -d , >"$folder/head"
    check "$on: the same latency" grep -q " $(value latency_cycle) cycles" "$folder/head"
    check "$on: bytes" [ "$(value dram_byte)" -ge "$least" ]
    check "$on: time" [ "$(value latency_cycle)" -ge "$(value compute_cycle)" ]
    check "$on: its instructions" code 0 "$DSE" eval "$on" $tiny "$folder/schedule.yaml" --report instructions
    check "$on: run as evaluated" grep -q 'as evaluated; no fault' "$folder/out"
}

for file in experiments/architectures/*.yaml; do
    machine=$(basename "$file" .yaml)
    case $machine in
        k80 | klotski | mindmappings_mttkrp_banks)
            check "$machine" code 2 "$DSE" map "$machine" $tiny --engine unfused
            check "$machine says why" grep -q "$machine is no machine for fused schedules" "$folder/err"
            ;;
        *)
            scheduled "$machine" unfused
            scheduled "$machine" soma --option starts=1 --option lfa_rounds=3 --option dlsa_rounds=3
            ;;
    esac
done

# Weights stream where the buffer does not keep them, and fused.keeps lets it.
scheduled simba unfused
check 'weights stream' [ "$(value stream_byte)" -ge 23984 ]
code 0 "$DSE" map simba $tiny --engine unfused --option core_evaluations=60 --set fused.keeps=all
check 'it says so' grep -q ' for all tensors' "$folder/out"
check 'nothing streams' code 0 "$DSE" map simba $tiny --engine unfused --option core_evaluations=60 --set fused.keeps=all --format csv
check 'no bytes of it' grep -q '^stream_byte,0' "$folder/out"
check 'another buffer' code 0 "$DSE" map mindmappings $tiny --engine unfused --option core_evaluations=60 --set fused.buffer=PsumBuffer

# Settings that cannot be.
for setting in 'fused.buffer=GlobalBufer:did you mean "GlobalBuffer"' 'fused.buffer=DRAM:is the outermost storage' \
    'fused.buffer=WeightBuffer:has several instances' 'fused.keeps=some:own, all'; do
    check "${setting%%:*}" code 2 "$DSE" map simba $tiny --engine unfused --set "${setting%%:*}"
    check 'is told' grep -q "${setting#*:}" "$folder/err"
done
sed 's/^clock:/fused: {keeps: everything}\nclock:/' experiments/architectures/simba.yaml >"$folder/arch.yaml"
check 'in a file' code 2 "$DSE" map "$folder/arch.yaml" $tiny --engine unfused
check 'with its line' grep -q "arch.yaml:$(sed -n '/^fused:/=' "$folder/arch.yaml"): fused.keeps" "$folder/err"
finish
