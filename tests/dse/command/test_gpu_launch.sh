#!/bin/sh
# GPUs as a user meets them: launches from `dse map --gpu`, limits as quantities of the machine, wrong use.
# Tests: command_map.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# map OPTION...: one 3x3 layer of ResNet-50 on the K80 by CoSA
map() {
    "$DSE" map k80 resnet50_v1_5 --engine cosa --layer conv3_1_b "$@"
}
# column NAME: of the only row of the table in $folder/out
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } NR == 2 { print $k }' "$folder/out"
}

check 'a launch' code 0 map --gpu
for word in gridDim blockDim shared registers loops indices; do
    check "names its $word" grep -q "^  $word " "$folder/out"
done
check 'with the limits of the paper' grep -q 'of 1,024 threads in (1024, 1024, 64)' "$folder/out"
check 'of shared memory' grep -q ' of 49,152 B$' "$folder/out"
check 'and of registers' grep -q ' of 65,536 B of a block$' "$folder/out"
check 'the nest beside it' code 0 map --gpu --nest
check 'has both' sh -c "grep -q '^SharedMemory  (keeps: \[Weights, Inputs\])' '$folder/out' && grep -q '^  gridDim' '$folder/out'"
check 'launches as a table' code 0 map --gpu --format csv
check 'one row' test "$(wc -l <"$folder/out")" -eq 2
check 'at most 1024 threads' test "$(column threads)" -le 1024
check 'x y z multiply to the threads' test $(($(column block_x) * $(column block_y) * $(column block_z))) -eq "$(column threads)"
check 'at most 48 KB' test "$(column shared_byte)" -le 49152
check 'at most 64 KB' test "$(column register_byte_per_block)" -le 65536
check 'smaller blocks' code 0 map --gpu --format csv --set gpu.threads_per_block=64 --set gpu.registers_per_block='4 KiB'
check 'of 64 threads' test "$(column threads)" -le 64
check 'and 4 KiB' test "$(column register_byte_per_block)" -le 4096
for engine in random hybrid descent gradient annealing genetic cosa-best; do
    check "$engine keeps a block's limits" code 0 "$DSE" map k80 resnet50_v1_5 --engine "$engine" --layer conv3_1_b -n 3000 --gpu --format csv
    check "$engine: registers" test "$(column register_byte_per_block)" -le 65536
done

check 'no launch on an accelerator' code 2 "$DSE" map simba resnet50_v1_5 --gpu
check 'says why' grep -q 'simba is no GPU' "$folder/err"
check 'no launch as YAML' code 2 map --gpu --format yaml
check 'says what there is' grep -q 'table or csv' "$folder/err"
check 'a wrong block' code 2 map --set gpu.thread_dims=4,4
check 'says how' grep -q 'gpu.thread_dims has 2 sizes; write the largest x, y and z' "$folder/err"
check 'a limit of a machine that is none' code 2 "$DSE" map simba resnet50_v1_5 --set gpu.threads_per_block=4
sed 's/threads: Thread/threads: Thraed/' experiments/architectures/k80.yaml >"$folder/k80.yaml"
line=$(grep -n 'threads: Thraed' "$folder/k80.yaml" | cut -d: -f1)
check 'an array that is not there' code 2 "$DSE" map "$folder/k80.yaml" resnet50_v1_5
check 'file, line and the array meant' grep -q "k80.yaml:$line: gpu.threads: the hierarchy has no array \"Thraed\"; did you mean \"Thread\"" "$folder/err"
check 'no room for one thread' code 1 map --set gpu.registers_per_block='8 B'
check 'is infeasible with the reason' grep -q 'the threads of a block need .* B of registers' "$folder/err"

finish
