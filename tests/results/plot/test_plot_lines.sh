#!/bin/bash
# Figures of real sweeps, by their scripts: one axis becomes lines, engines and metrics are lines or rows, gaps are marked; facets are rows and
# columns; networks have a best each; a convergence legend names the layers of its network alone. Expected values are counted by hand from the
# specifications below and from experiments/networks.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
folder=${folder:?}
command -v gnuplot >/dev/null || { echo 'skipped: no gnuplot'; exit 0; }

# plots FIGURE ARGS...: draws, and leaves the script beside the figure
plots() {
    out=$folder/$1
    shift
    code 0 "$DSE" plot "$@" -o "$out" --keep-script && [ -s "$out" ]
}
has() { grep -qF -- "$2" "$folder/$1.gp"; }

cat >"$folder/one.yaml" <<'YAML'
experiment: one
title: "One axis: lines"
architecture: simba
network: alexnet
layers: [conv1]
engine: random
options: {search_size: 20}
constraints: [{target: AccumulationBuffer, type: temporal, factors: P=55}]
axes: {AccumulationBuffer.capacity: [8 B, 16 B, 1 KiB, 4 KiB, 16 KiB]}
YAML
check 'a sweep with one axis' code 0 "$DSE" run "$folder/one.yaml" -o "$folder/one.h5"
check 'is drawn' plots one.svg "$folder/one.h5"
check 'as lines' has one.svg '$lines << END_OF_LINES'
# 55 outputs of 3 byte do not fit 8 or 16 B: two gaps, on a logarithmic axis: 8 B at 0, 16 KiB = 2^11 times that at 1, 16 B at 1/11
check 'whose gaps are marked' has one.svg "$(printf '$marks << END_OF_MARKS\n-9 0 0 0\n0 1 0 0\n0.0909090909 1 0 0\n')"
check 'and explained' has one.svg 'array dse_has_look[3] = [1, 0, 0]'
check 'metrics of one unit share a panel' plots unit.svg "$folder/one.h5" -m energy_j,energy_dram_j
check 'one row' has unit.svg 'dse_n_row = 1'
check 'with a name each' has unit.svg "line_name[2] = 'Energy of the DRAM'"
check 'other units have their own' plots units.svg "$folder/one.h5" -m energy_j,latency_s
check 'two rows' has units.svg 'dse_n_row = 2'
check 'a heatmap on demand' plots map.svg "$folder/one.h5" -k heatmap
check 'is one' has map.svg '$cells << END_OF_CELLS'
check 'breakdown has no other metric' code 2 "$DSE" plot "$folder/one.h5" -k breakdown -m latency_s
check 'and energy' plots bars.svg "$folder/one.h5" -k breakdown -m energy_j
sed 's/"One axis: lines"/One axis: lines/' "$folder/one.yaml" >"$folder/colon.yaml"
check 'a title with a colon' code 2 "$DSE" check "$folder/colon.yaml"
check 'wants quotes' grep -q 'colon.yaml:2: .*must be in quotes' "$folder/err"
sed 's/^axes/plot: {kind: breakdown, metric: latency_s}\naxes/' "$folder/one.yaml" >"$folder/wrong.yaml"
check 'a specification is told, too' code 2 "$DSE" check "$folder/wrong.yaml"
check 'where it says so' grep -q 'wrong.yaml:9: plot.metric: .*energy_j by its parts' "$folder/err"
sed 's/^axes/plot: {metric: "latency_s,energy_j"}\naxes/' "$folder/one.yaml" >"$folder/two.yaml"
check 'two metrics in a specification' code 0 "$DSE" check "$folder/two.yaml"

cat >"$folder/nets.yaml" <<'YAML'
experiment: nets
architecture: simba
options: {search_size: 5}
axes:
  engine: [random, hybrid]
  network: [alexnet, resnet50]
  PE.mesh: [2x2, 4x4, 8x8]
  GlobalBuffer.capacity: [64 KiB, 128 KiB]
YAML
check 'networks, meshes, engines' code 0 "$DSE" run "$folder/nets.yaml" -o "$folder/nets.h5"
check 'two networks by three meshes' plots grid.svg "$folder/nets.h5" -k heatmap -x GlobalBuffer.capacity -y engine
check 'are six panels' has grid.svg 'dse_n_panel = 6'
check 'of three columns' has grid.svg 'dse_columns = 3'
check 'each network has a best' has grid.svg "dse_best_word = 'best of its network'"
check 'both are marked' test "$(grep -cE '^[01] [01] .* 2 0$' "$folder/grid.svg.gp")" -eq 2
check 'no best of both' has grid.svg "dse_foot = ''"
check 'one network' plots net.svg "$folder/nets.h5" -k heatmap -x GlobalBuffer.capacity -y engine -w network=alexnet
check 'has a best of all' has net.svg "dse_best_word = 'best of all'"
check 'engines are lines' plots lines.svg "$folder/nets.h5" -w network=alexnet -w PE.mesh=4x4
check 'by name' has lines.svg "line_name[2] = 'hybrid'"
check 'convergence of alexnet' plots conv.svg "$folder/nets.h5" -k convergence -w network=alexnet -w engine=random
check 'has its 8 layers' has conv.svg 'dse_n_layer = 8'
check 'convergence of engines' plots engines.svg "$folder/nets.h5" -k convergence
check 'has a panel for each network' has engines.svg 'dse_n_panel = 2'
check 'a curve for each engine' has engines.svg "series_name[2] = 'hybrid'"
check 'no range of seeds' has engines.svg "dse_note = ''"
check 'meshes as curves' plots meshes.svg "$folder/nets.h5" -k convergence -y PE.mesh -w network=alexnet
check 'by name, of the best engine' has meshes.svg "series_name[3] = '8x8'"
cat >"$folder/seeds.yaml" <<'YAML'
experiment: seeds
architecture: simba
network: alexnet
layers: [conv1]
plot: {kind: convergence, x: seconds}
limits: {max_evaluations: 50}
axes: {engine: [random, annealing], seed: [1, 2, 3], batch: [1, 2]}
YAML
check 'a sweep of seeds' code 0 "$DSE" run "$folder/seeds.yaml" -o "$folder/seeds.h5"
check 'is drawn as it says' plots seeds.svg "$folder/seeds.h5"
check 'over seconds' has seeds.svg "dse_x_title = 'Processor time per layer (s)'"
check 'with a panel for each batch' has seeds.svg 'dse_n_panel = 2'
check 'and two curves' has seeds.svg 'dse_n_series = 2'
check 'of three seeds' has seeds.svg "dse_note = 'mean and range of 3 seeds'"
check 'seeds as curves' plots seeds.svg "$folder/seeds.h5" -k convergence -y seed -w engine=random -w batch=1
check 'one each' has seeds.svg 'dse_n_series = 3'
check 'one search' plots seed.svg "$folder/seeds.h5" -w engine=random -w batch=1 -w seed=2 -x evaluations
check 'is drawn by its layers' has seed.svg 'dse_n_series = 0'
check 'convergence has no metric to choose' code 2 "$DSE" plot "$folder/nets.h5" -k convergence -m latency_s -o "$folder/no.svg"
check 'and says what it shows' grep -q 'kind convergence shows the cost that a search minimised, not latency_s' "$folder/err"
check 'nothing is drawn' test ! -e "$folder/no.svg"
# every kind by every metric: other bytes, or refused
for kind in heatmap convergence breakdown lines; do
    for metric in latency_s energy_j utilization; do
        "$DSE" plot "$folder/one.h5" -k $kind -m $metric -o "$folder/$kind-$metric.svg" 2>/dev/null && cksum <"$folder/$kind-$metric.svg"
    done
done >"$folder/sums"
check 'no metric is passed over' test "$(sort -u "$folder/sums" | wc -l)" -eq "$(wc -l <"$folder/sums")"
check 'seven figures' test "$(wc -l <"$folder/sums")" -eq 7
check 'an axis for x' plots x.svg "$folder/nets.h5" -k lines -x PE.mesh -w network=resnet50 -w GlobalBuffer.capacity='64 KiB'
check 'three meshes' has x.svg "x_label[3] = '8x8'"
finish
