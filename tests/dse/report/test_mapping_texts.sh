#!/bin/sh
# Mappings in other forms as a user meets them: behind the table of `dse map`, in place of the report of `dse eval`, and what is refused.
# Tests: mapping_texts.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

map() {
    "$DSE" map eyeriss_16x16 alexnet -n 500 "$@"
}
eval_conv1() {
    "$DSE" eval eyeriss_16x16 alexnet:conv1 "$folder/conv1.yaml" "$@"
}
begins() {
    head -1 "$folder/out" | grep -q "$1"
}

check 'a schedule behind the table' code 0 map -l conv1 --halide
check 'the table is first' begins '^alexnet on eyeriss_16x16, batch 1'
check 'then the layer' grep -qx 'conv1' "$folder/out"
check 'and its algorithm' grep -q '^output(x, y, k, b) += input(x \* 4 + r.x, y \* 4 + r.y, r.z, b)' "$folder/out"
check 'and its schedule' grep -qx 'output.accelerate({input, w});' "$folder/out"
check 'a table alone' code 0 map -l conv1
check 'has nothing behind its total' sh -c "tail -1 '$folder/out' | grep -q '^total'"
check 'two forms' code 0 map -l conv1 --halide --nest
check 'in the order of the registry' sh -c "grep -n 'GlobalBuffer  (keeps\|^RDom' '$folder/out' | cut -d: -f2 | cut -c1-4 | paste -sd, | grep -qx 'Glob,RDom'"
check 'a layer that is none' code 0 map -l conv1 -l conv2 --halide
check 'is told in its place' grep -q '^a Halide schedule is printed for convolutions over .*; problem conv2 has a further dimension, G = 2$' "$folder/out"
check 'no layer that is one' code 2 map -l conv2 --halide
check 'is one sentence' grep -q '^dse: --halide: a Halide schedule is printed for convolutions over .*; problem conv2 has' "$folder/err"
check 'no csv' code 2 map -l conv1 --halide -f csv
check 'is told' grep -qx 'dse: --halide prints a table, not csv' "$folder/err"
check 'no json' code 2 map -l conv1 --nest -f json
check 'is told as well' grep -qx 'dse: --nest prints a table, not json' "$folder/err"

check 'a mapping as a file' code 0 map -l conv1 -f yaml
cp "$folder/out" "$folder/conv1.yaml"
check 'dse eval prints the schedule alone' code 0 eval_conv1 --halide
check 'and nothing before' begins '^// conv1 on eyeriss_16x16: Func input, w and output are given'
check 'nor behind it' sh -c "tail -1 '$folder/out' | grep -q '^output\.'"
check 'or the nest' code 0 eval_conv1 --nest
check 'of loops' begins '^DRAM  (keeps'
check 'no report beside it' code 2 eval_conv1 --halide -r levels
check 'is said' grep -qx 'dse: --report is of the report, and --halide is printed in its place' "$folder/err"
check 'no csv there either' code 2 eval_conv1 --halide -f csv
check 'no launch on an accelerator' code 2 eval_conv1 --gpu
check 'says why' grep -q '^dse: --gpu: eyeriss_16x16 is no GPU; ' "$folder/err"
check 'a launch' code 0 "$DSE" map k80 alexnet -l conv1 -n 300 -f yaml
cp "$folder/out" "$folder/k80.yaml"
check 'as a row' code 0 "$DSE" eval k80 alexnet:conv1 "$folder/k80.yaml" --gpu -f csv
check 'with a header' sh -c "begins() { head -1 '$folder/out' | grep -q '^grid_x,'; }; begins && [ \$(wc -l <'$folder/out') -eq 2 ]"
check 'no mapping' code 2 "$DSE" eval soma_edge resnet50_soma experiments/soma/schedules/resnet50_fused.yaml --halide
check 'is said, too' grep -q -- '--halide belongs to a mapping; .* is a fused schedule' "$folder/err"
check 'help has them' sh -c "'$DSE' map --help | grep -q -- '--halide ' && '$DSE' eval --help | grep -q -- '--halide '"


# One-line points: CONV3 of the worked example in docs/interstellar-halide.md, and one with 13 channels as 4 x 4.
echo '[FX:3 FY:3 OY:13 OC:6] / [OX:13 ON:2] / [IC:16 OC:4 ON:8] ; L0 OC:16 | IC:16' >"$folder/points.txt"
lines() {
    "$DSE" eval eyeriss_16x16 alexnet:conv3 "$folder/points.txt" --batch 16 "$@"
}
check 'a mapping of one line' code 0 lines --halide
check 'is known by its line' begins '^// line 1$'
check 'with its split' grep -qx '  .split(k, k2, k0, 96)        // 4 x (6 temporal x 16 PEs)' "$folder/out"
check 'with its order' grep -q '^  .reorder(r.x, r.y, y, k0, c0, x, b1, c2, k2, b2);' "$folder/out"
check 'with its copies' grep -q '^w.in().in().compute_at(output, c2); ' "$folder/out"
check 'with its array' grep -qx 'output.update().systolic({k0, c0});' "$folder/out"
check 'no csv of lines' code 2 lines --halide -f csv
check 'no report beside them' code 2 lines --nest -r levels
echo '[FX:3 FY:3 OY:13 OC:7] / [OX:13 ON:2] / [IC:16 OC:4 ON:8] ; L0 OC:16 | IC:16' >"$folder/points.txt"
check 'a ragged one' code 0 lines --halide
check 'is guarded' grep -q '^  .split(k, k2, k0, 112, TailStrategy::GuardWithIf) .*, guarded: 448 > 384$' "$folder/out"

finish
