#!/bin/sh
# dse map with a scheduler: the summary is that of dse eval of the text it writes; what belongs to mappings of layers is refused.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# Six layers, so that it is quick under sanitizers as well.
network=tests/known/soma/tiny6.yaml
map() {
    "$DSE" map soma_edge $network --engine unfused "$@"
}
# agree OPTIONS...: dse eval of --format yaml prints the first lines of --format csv
agree() {
    map "$@" --format yaml >"$folder/schedule.yaml" && map "$@" --format csv >"$folder/map.csv" &&
        "$DSE" eval soma_edge $network "$folder/schedule.yaml" --format csv $eval >"$folder/eval.csv" &&
        head -n "$(wc -l <"$folder/eval.csv")" "$folder/map.csv" | cmp - "$folder/eval.csv"
}

check 'a schedule' code 0 map
for words in '^tiny6, batch 1, on soma_edge$' '^  engine        unfused, seed 0, converged after [0-9]* evaluations$' \
    '^  objective     edp = [0-9.e-]* J s$' '^  schedule      6 layer groups, 6 fine-grained groups,' '^  utilization   '; do
    check "says $words" grep -q "$words" "$folder/out"
done
eval=''
check 'dse eval agrees' agree
eval='--batch 4'
check 'dse eval agrees for batch 4' agree -b 4
eval=''
check 'dse eval follows the rules that the text names' agree --option compat=true
check 'the text says where it is from' grep -qE '^# by unfused for batch 1 on soma_edge, GBUF 8 MiB, DRAM 16.0 GB/s: [0-9,]+ cycles$' \
    "$folder/schedule.yaml"
check 'an engine of two stages' code 0 "$DSE" map soma_edge tests/known/soma/tiny6.yaml -e soma -n 50
check 'tells of the first' grep -q '^  first stage   [0-9,]* cycles with double buffering$' "$folder/out"
check 'an engine of one' code 0 "$DSE" map soma_edge tests/known/soma/tiny6.yaml -e unfused
check 'does not' sh -c "! grep -q '^  first stage' '$folder/out'"
check 'the text names them' grep -q '^compat: true' "$folder/schedule.yaml"
eval='--set DRAM.bandwidth=64GB/s'
check 'dse eval agrees on another machine' agree --set DRAM.bandwidth=64GB/s
check 'json' code 0 map --format json
check 'has the engine' grep -q '"engine": "unfused"' "$folder/out"
check 'without a bound' grep -q '"bound_cost_ratio": null' "$folder/out"
cp "$folder/map.csv" "$folder/one.csv"
check 'threads change nothing' sh -c "'$DSE' map soma_edge $network -e unfused --set DRAM.bandwidth=64GB/s -j 3 -f csv | cmp - '$folder/one.csv'"

check 'what does not fit' code 1 map --option compat=1 --set 'GBUF.capacity=19000 B'
check 'is told with layer and bytes' grep -q '^dse: infeasible: layer [A-Za-z0-9_]*, cut into [0-9]* tiles*, needs [0-9,]* bytes of the global buffer with double buffering; it has 19,000; engine soma-plus, which loads later, has a schedule$' "$folder/err"
check 'what does not fit whole' code 1 map --option compat=1 --set 'GBUF.capacity=16 KiB'
check 'is told with their bytes' grep -q '^dse: infeasible: layer F_conv3x3s2 has 18,432 bytes of weights, which must fit whole (compat never cuts channels); the global buffer has 16,384$' "$folder/err"
check 'without output' test ! -s "$folder/out"
# Of a tile 64 bytes of inputs, 32 of outputs and 2,048 of weights live at the same time; double buffering adds the next inputs.
narrow() {
    "$DSE" map soma_edge tests/known/soma/odd_batch.yaml --batch 7 --set 'GBUF.capacity=2200 B' -n 300 --engine "$1"
}
check 'without room for double buffering' code 0 narrow soma
check 'parts have' grep -q '^  parts  *conv in 3$' "$folder/out"
check 'soma-plus loads later' code 0 narrow soma-plus
for option in '--layer conv1' '--measure cosa' '--constraints x.yaml' --each-dataflow --nest --gpu; do
    # shellcheck disable=SC2086
    check "$option is refused" code 2 map $option
    check 'and why' grep -q "^dse: ${option%% *} is for mappers; engine unfused schedules whole networks$" "$folder/err"
done
check 'an einsum' code 2 "$DSE" map soma_edge mindmappings_mttkrp_0 --engine unfused
check 'is told' grep -q '^dse: .*layer mttkrp_0 is no convolution' "$folder/err"
check 'a GPU' code 2 "$DSE" map k80 resnet50_soma --engine unfused
check 'is told' grep -q '^dse: .*k80 .*it is a GPU' "$folder/err"
check 'dse sample wants a layer' code 0 "$DSE" list engines
check 'kinds' sh -c "grep -q '^unfused  *scheduler ' '$folder/out' && grep -q '^descent  *mapper ' '$folder/out'"

finish
