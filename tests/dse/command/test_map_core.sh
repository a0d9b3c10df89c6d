#!/bin/sh
# Another scheduler of tiles: option core of the SoMa engines, key core of the text form, dse eval --core (docs/core-array.md).
# Tests: command_map.c, command_eval.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
tiny=tests/known/soma/tiny6.yaml
# same KEY: of the summaries $folder/a and $folder/b
same() {
    grep -q "^$1," "$folder/a" && [ "$(grep "^$1," "$folder/a")" = "$(grep "^$1," "$folder/b")" ]
}
differ() {
    ! same "$1"
}

for core in cosa descent; do
    for arch in simba_fused tpu_128x128; do
        check "$arch $core" code 0 "$DSE" map $arch $tiny --engine unfused --option core=$core \
            --option core_evaluations=200 --format yaml
        cp "$folder/out" "$folder/schedule.yaml"
        check 'says what schedules tiles' grep -qx "core: $core" "$folder/schedule.yaml"
        check 'and the budget' grep -qx 'core_evaluations: 200' "$folder/schedule.yaml"
        check 'as csv' code 0 "$DSE" map $arch $tiny --engine unfused --option core=$core \
            --option core_evaluations=200 --format csv
        cp "$folder/out" "$folder/a"
        check 'reads back without options' code 0 "$DSE" eval $arch $tiny "$folder/schedule.yaml" -f csv
        cp "$folder/out" "$folder/b"
        for key in latency_cycle energy_j dram_byte compute_cycle; do
            check "the same $key" same $key
        done
    done
done

# auto, the default: a mapper where the machine is none of the built-in search's; the text says which.
check 'auto on another machine' code 0 "$DSE" map simba_fused $tiny --engine unfused --format yaml
cp "$folder/out" "$folder/schedule.yaml"
check 'says what schedules tiles' grep -qx 'core: quick' "$folder/schedule.yaml"
check 'as csv' code 0 "$DSE" map simba_fused $tiny --engine unfused --format csv
cp "$folder/out" "$folder/a"
check 'reads back' code 0 "$DSE" eval simba_fused $tiny "$folder/schedule.yaml" -f csv
cp "$folder/out" "$folder/b"
check 'the same energy' same energy_j
check 'asked for by name' code 0 "$DSE" eval simba_fused $tiny "$folder/schedule.yaml" -f csv --core auto
check 'is the same' cmp "$folder/out" "$folder/b"

# An element of the TPU-like machine has two bytes: all tensors of the network once, A to F, weights and activations that go in and out
# layer by layer. At one tile per layer no halo is loaded twice: 2 x (inputs, weights, outputs).
check 'one tile per layer' code 0 "$DSE" map tpu_128x128 $tiny --engine unfused --option core=descent \
    --option core_evaluations=200 --format yaml
sed '/^tensors:/,$d; s/tiles: [0-9]*/tiles: 1/' "$folder/out" >"$folder/one.yaml"
check 'is evaluated by 16 bit words' code 0 "$DSE" eval tpu_128x128 $tiny "$folder/one.yaml" --core descent -f csv
cp "$folder/out" "$folder/a"
check 'and by 8 bit words' code 0 "$DSE" eval soma_edge $tiny "$folder/one.yaml" --core descent -f csv
cp "$folder/out" "$folder/b"
byte() {
    sed -n 's/^dram_byte,//p' "$folder/$1"
}
check 'twice the bytes' test "$(byte a)" -eq $((2 * $(byte b)))

check 'a schedule of the array' code 0 "$DSE" map soma_edge $tiny --engine unfused --format yaml
cp "$folder/out" "$folder/schedule.yaml"
check 'does not say so' test "$(grep -c '^core' "$folder/schedule.yaml")" -eq 0
check 'evaluated' code 0 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" -f csv
cp "$folder/out" "$folder/a"
check 'with its own scheduler named' code 0 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" -f csv --core array
cp "$folder/out" "$folder/b"
check 'is the same' cmp "$folder/a" "$folder/b"
check 'with auto' code 0 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" -f csv --core auto
check 'is the same again' cmp "$folder/a" "$folder/out"
check 'with another scheduler' code 0 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" -f csv --core descent
cp "$folder/out" "$folder/b"
check 'moves the same bytes' same dram_byte
check 'other energy' differ energy_j
check 'in the table' code 0 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" --core cosa
check 'is told' grep -q '^tiny6, batch 1, on soma_edge, tiles by cosa$' "$folder/out"

check 'no such core' code 2 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" --core cosmos
check 'names those there are' grep -q 'option core of a fused schedule is "cosmos"; accepted: auto, descent, cosa' "$folder/err"
echo 'core: magic' | cat "$folder/schedule.yaml" - >"$folder/bad.yaml"
check 'no such core in the text' code 2 "$DSE" eval soma_edge $tiny "$folder/bad.yaml"
check 'has its line' grep -q "bad.yaml:$(wc -l <"$folder/bad.yaml"): core is \"magic\"" "$folder/err"
echo 'core_evaluations: 9' | cat "$folder/schedule.yaml" - >"$folder/bad.yaml"
check 'a budget without a mapper' code 2 "$DSE" eval soma_edge $tiny "$folder/bad.yaml"
check 'is told' grep -q 'core_evaluations belongs to a mapper as core' "$folder/err"
check 'compat with a mapper' code 2 "$DSE" eval soma_edge $tiny "$folder/schedule.yaml" --core cosa --compat
check 'is refused' grep -q 'go with core array, not with core cosa' "$folder/err"
check 'array on another machine' code 2 "$DSE" eval simba_fused $tiny "$folder/schedule.yaml"
check 'is told why' grep -q 'simba_fused is no machine for fused schedules' "$folder/err"
check 'is told what would do' grep -q 'with a mapper for its tiles it is one: engine option core=auto' "$folder/err"
check 'a mapping with --core' code 2 "$DSE" eval simba resnet50:conv1 $tiny --core cosa
check 'a machine without a shared buffer' code 2 "$DSE" eval klotski $tiny "$folder/schedule.yaml" --core cosa
check 'names the level' grep -q 'several instances' "$folder/err"

# What auto comes to, written out, is the same point; the key is that of specifications from before there was auto.
keys() {
    printf 'experiment: k\nengine: unfused\nnetwork: resnet18\nbatch: 1\nlimits: {max_evaluations: 10}\n%s\n%s\n' "$1" "$2" >"$folder/k.yaml"
    rm -f "$folder"/k.h5 "$folder"/k*.csv
    "$DSE" run "$folder/k.yaml" -o "$folder/k.h5" >/dev/null 2>&1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "point_key") at = i } NR > 1 { print $at }' "$folder/k.csv"
}
check 'the key' test "$(keys 'architecture: soma_edge' '')" = 31e8c48699f1b642
check 'with auto' test "$(keys 'architecture: soma_edge' 'options: {core: auto}')" = 31e8c48699f1b642
check 'with array' test "$(keys 'architecture: soma_edge' 'options: {core: array}')" = 31e8c48699f1b642
check 'with a mapper' test "$(keys 'architecture: soma_edge' 'options: {core: cosa}')" = ae1030c3c610f8f6
check 'array where it is none' test "$(keys 'architecture: simba' 'options: {core: array}')" != "$(keys 'architecture: simba' '')"
finish
