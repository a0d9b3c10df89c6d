#!/bin/sh
# The program as a user calls it: help, version, exit codes, outputs that other commands read back.
# Tests: command_table.c, command_engine.c, command_eval.c, command_list.c, command_map.c, command_run.c, command_sample.c, command_rerun.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

for command in run eval map sample list plot report merge status watch check calibrate train rerun; do
    check "dse $command --help" code 0 "$DSE" $command --help
    check "dse $command --help has a usage line" grep -q "^Usage: dse $command" "$folder/out"
    check "dse --help names $command" sh -c "'$DSE' --help | grep -q '^  $command '"
done
check 'dse --version' code 0 "$DSE" --version
check 'dse --version names itself' grep -q '^dse [0-9]' "$folder/out"
check 'dse alone is wrong use' code 2 "$DSE"
check 'unknown command' code 2 "$DSE" rnu
for what in reports engines accountings architectures networks experiments; do
    check "dse list $what" code 0 "$DSE" list $what
done
check 'dse list experiments knows the quickstart' grep -q '^quickstart ' "$folder/out"
check 'dse check quickstart' code 0 "$DSE" check experiments/quickstart.yaml
cp "$folder/out" "$folder/by-path"
check 'dse check by name' code 0 "$DSE" check quickstart
check 'is the same' cmp "$folder/out" "$folder/by-path"
check 'dse run by name' code 0 "$DSE" run quickstart --dry-run -o "$folder/quick.h5"
check 'a name that is none' code 2 "$DSE" run quikstart
check 'says which there is' grep -q 'unknown experiment "quikstart"; did you mean quickstart?' "$folder/err"
program=$(realpath "$DSE")
mkdir -p "$folder/home/experiments/paper"
printf '%s\n' 'experiment: named' 'architecture: simba' 'network: resnet50' 'engine: random' >"$folder/home/experiments/paper/figure.yaml"
sed 's/named/other/' "$folder/home/experiments/paper/figure.yaml" >"$folder/home/plain"
ln -s "$PWD/experiments/architectures" "$PWD/experiments/networks" "$folder/home/experiments"
check 'FOLDER/NAME' sh -c "cd '$folder/home' && '$program' check paper/figure | grep -q '^named:'"
check 'a file without an ending' sh -c "cd '$folder/home' && '$program' check plain | grep -q '^other:'"

# What `dse map` writes, `dse eval` reads back, to the same cost.
check 'dse map yaml' code 0 "$DSE" map simba resnet50 --layer conv1 -e random -n 200 --format yaml
cp "$folder/out" "$folder/conv1.yaml"
check 'dse map csv' code 0 "$DSE" map simba resnet50 --layer conv1 -e random -n 200 --format csv
mapped=$(sed -n 2p "$folder/out" | cut -d, -f4)
check 'dse eval' code 0 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --report summary --format csv
check 'the same cycles' grep -qx "latency_cycle,$mapped" "$folder/out"
check 'an invalid mapping' code 2 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --set GlobalBuffer.capacity='64 B'
check 'says who needs how much' grep -q 'GlobalBuffer needs .* has 64 B' "$folder/err"

check 'a mapping for a large array' code 0 "$DSE" map tpu_128x128 resnet50 --layer conv1 -e random -n 200 --format yaml
cp "$folder/out" "$folder/tpu.yaml"
# The simulated network: the flits that arrive are the file's packets times destinations times 5.
check 'dse eval noc' code 0 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --report noc --format csv --noc-steps 0 \
    --noc-transactions "$folder/noc.csv"
received=$(awk -F, '$3 < 2 { n += $4 * split($6, port, " ") * 5 } END { printf "%d", n }' "$folder/noc.csv")
check 'the flits of its transactions' grep -qx "flits_received,$received" "$folder/out"
check 'dse eval noc, a few steps' code 0 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --report noc --noc-steps 3
check 'says what it simulated' grep -q '^  steps .* of them simulated, the latency extrapolated' "$folder/out"
check 'dse eval noc json' code 0 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --report noc --noc-steps 3 -f json
check 'a machine without a mesh that small' code 2 "$DSE" eval tpu_128x128 resnet50:conv1 "$folder/tpu.yaml" --report noc
check 'says so' grep -q 'a mesh of at most 2048 routers can be simulated' "$folder/err"
check '--noc-steps alone' code 2 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --noc-steps 3
check 'transactions into no folder' code 2 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml" --noc-transactions "$folder/none/x"

check 'dse eval table' code 0 "$DSE" eval simba resnet50:conv1 "$folder/conv1.yaml"
check 'energy times delay has a blank' grep -q '^  edp  *[0-9.]* .J s$' "$folder/out"
check 'says what a slowdown is' grep -q '^Slowdown 0.50: .* half its speed' "$folder/out"
check 'no mapping: nothing to hand on' code 1 "$DSE" map simba resnet50 --layer conv1 --set GlobalBuffer.block='1 word' --set GlobalBuffer.capacity='1 B'
check 'says why' grep -q '^dse: infeasible: layer conv1: GlobalBuffer needs' "$folder/err"

# A Timeloop architecture with its ERT inside, and the same two parts in two files.
known=tests/known/timeloop
case="$known/problems/resnet50-conv3-1x1s2.yaml $known/maps/047_gb-rf-4x4_resnet50-conv3-1x1s2.yaml"
sed '/^ERT:/,$d' $known/archs/gb-rf-4x4-4.yaml >"$folder/arch.yaml"
sed -n '/^ERT:/,$p' $known/archs/gb-rf-4x4-4.yaml >"$folder/ert.yaml"
check 'ERT inside' code 0 "$DSE" eval $known/archs/gb-rf-4x4-4.yaml $case --report summary --format csv
cp "$folder/out" "$folder/inside.csv"
check '--ert' code 0 "$DSE" eval "$folder/arch.yaml" $case --ert "$folder/ert.yaml" --report summary --format csv
check 'the same energies' cmp "$folder/out" "$folder/inside.csv"
cat >"$folder/art.yaml" <<'END'
ART: {version: '0.4', tables: [{name: 'chip.RF[1..16]', area: 100}, {name: chip.GB, area: 2e4}, {name: 'chip.MAC[1..16]', area: 400}]}
END
check '--art' code 0 "$DSE" eval "$folder/arch.yaml" $case --ert "$folder/ert.yaml" --art "$folder/art.yaml" --report summary --format csv
check 'areas of all instances' grep -q '^area_mm2,0.028$' "$folder/out"
cat "$folder/art.yaml" >>"$folder/arch.yaml"
check 'an ART inside' code 0 "$DSE" eval "$folder/arch.yaml" $case --ert "$folder/ert.yaml" --report summary --format csv
check 'says the same' grep -q '^area_mm2,0.028$' "$folder/out"
check 'two ARTs' code 2 "$DSE" eval "$folder/arch.yaml" $case --ert "$folder/ert.yaml" --art "$folder/art.yaml"
check 'names the second' grep -q 'art.yaml:1: a second ART' "$folder/err"
check 'an ART for a native machine' code 2 "$DSE" eval simba $case --art "$folder/art.yaml"
check 'says where it belongs' grep -q 'art.yaml: an ART belongs to a Timeloop architecture; .* gives its areas itself' "$folder/err"
check 'two ERTs' code 2 "$DSE" eval $known/archs/gb-rf-4x4-4.yaml $case --ert "$folder/ert.yaml"
check 'names the second' grep -q 'ert.yaml:2: a second ERT' "$folder/err"
check 'an ERT for a native machine' code 2 "$DSE" eval simba $case --ert "$folder/ert.yaml"
check 'says where it belongs' grep -q 'ert.yaml: an ERT belongs to a Timeloop architecture' "$folder/err"

# A map space's samples: rows in a file that comes whole, the same for any number of threads, and each mapping at its price.
check 'dse sample' code 0 "$DSE" sample simba resnet50 conv2_0_b -n 200 --mapping -j 2 -o "$folder/space.csv"
check 'writes rows to the file' test ! -s "$folder/out" -a "$(wc -l <"$folder/space.csv")" -eq 201
check 'and a summary' grep -q '^dse: 200 valid mappings in 200 draws' "$folder/err"
check 'leaves nothing else' test ! -e "$folder/space.csv.tmp"
check 'dse sample on one thread' code 0 "$DSE" sample simba resnet50 conv2_0_b -n 200 --mapping -j 1
check 'gives the same' cmp "$folder/out" "$folder/space.csv"
check 'dse sample of a summary' code 0 "$DSE" sample simba resnet50 conv2_0_b -n 200 --only-summary
# mean and deviation of column 4, energy_j, of the rows
awk -F, 'NR > 1 { n++; s += $4; q += $4 * $4 } END { m = s / n; printf "%.9e %.9e\n", m, sqrt((q - n * m * m) / (n - 1)) }' \
    "$folder/space.csv" >"$folder/moments"
awk -F, '$1 == "energy_j" && $2 == 200 { printf "%.9e %.9e\n", $6, $7 }' "$folder/out" >"$folder/summary"
check 'has the moments of the rows' cmp "$folder/moments" "$folder/summary"
check 'and a row for each value' test "$(cut -d, -f1 "$folder/out" | tr '\n' ' ')" = 'value latency_cycle energy_j edp_js '
check 'a summary with mappings' code 2 "$DSE" sample simba resnet50 conv2_0_b --only-summary --mapping
sed -n 2p "$folder/space.csv" | grep -o 'mapping: \[[^"]*\]' >"$folder/sampled.yaml"
check 'a sampled mapping' code 0 "$DSE" eval simba resnet50:conv2_0_b "$folder/sampled.yaml" --report summary --format csv
check 'has its price' grep -qx "latency_cycle,$(sed -n 2p "$folder/space.csv" | cut -d, -f2)" "$folder/out"
check 'dse sample of primes' code 0 "$DSE" sample simba resnet50 conv2_0_b -n 20 --draw primes -m noc,cosa
check 'has the measured columns' grep -q '^draw,.*,noc_latency_cycle,cosa_util,cosa_comp,cosa_traf,cosa_objective$' "$folder/out"
check 'which are all there' sh -c "! grep -q ',,' '$folder/out'"
check 'says why draws are invalid' grep -q 'such as: .* needs' "$folder/err"
check 'dse sample of a few draws' code 1 "$DSE" sample simba resnet50 conv2_0_b --draw primes --max-draws 2
check 'may give nothing' grep -q '^dse: 0 valid mappings in 2 draws' "$folder/err"
printf '%s\n' '- {target: DRAM, type: temporal, factors: K=4}' >"$folder/k4.yaml"
check 'dse sample with constraints' code 0 "$DSE" sample simba resnet50 conv2_0_b -n 5 --mapping -c "$folder/k4.yaml"
check 'keeps to them' test "$(grep -c 'DRAM, type: temporal, factors: [^,]* K=4 ' "$folder/out")" -eq 5
check 'dse map with constraints' code 0 "$DSE" map simba resnet50 -l conv2_0_b -e random -n 50 -f yaml -c "$folder/k4.yaml"
check 'keeps to them too' grep -q 'DRAM, type: temporal, factors: .* K=4 ' "$folder/out"
printf '%s\n' '- {target: DRAM, type: temporal, factors: K=5}' >"$folder/k5.yaml"
check 'constraints that divide no layer' code 2 "$DSE" map simba resnet50 -n 50 -c "$folder/k5.yaml"
check 'are blamed on their line' grep -q 'k5.yaml:1: .*does not divide' "$folder/err"
printf '%s\n' 'a: 1' >"$folder/none.yaml"
check 'constraints that are no list' code 2 "$DSE" sample simba resnet50 conv2_0_b -c "$folder/none.yaml"
check 'dse sample without limits' code 2 "$DSE" sample simba resnet50 conv2_0_b -n 0
check 'dse sample into no folder' code 2 "$DSE" sample simba resnet50 conv2_0_b -o "$folder/none/x.csv"
check 'dse sample of an unknown layer' code 2 "$DSE" sample simba resnet50 conv2_0_d
check 'names the nearest' grep -q 'did you mean' "$folder/err"

# Weights of CoSA's objective: the same for any number of threads, and the last line is what a specification takes.
check 'dse calibrate' code 0 "$DSE" calibrate mindmappings_mttkrp -j 2 -o "$folder/weights.yaml"
check 'prints options' grep -q '^options: {weight_util: [0-9.]*, weight_comp: [0-9.]*, weight_traf: 1}$' "$folder/out"
check 'and writes them' sh -c "tail -n 2 '$folder/out' | cmp - '$folder/weights.yaml'"
{
    printf '%s\n' 'experiment: w' 'architecture: mindmappings_mttkrp' 'network: resnet50' 'engine: cosa'
    cat "$folder/weights.yaml"
} >"$folder/calibrated.yaml"
check 'a specification takes them' code 0 "$DSE" check "$folder/calibrated.yaml"
check 'dse calibrate of an unknown machine' code 2 "$DSE" calibrate mindmappings_mttkrq
check 'dse calibrate for an unknown objective' code 2 "$DSE" calibrate simba --objective speed
check 'dse calibrate into no folder' code 2 "$DSE" calibrate mindmappings_mttkrp -o "$folder/none/w.yaml"

# A layer that an engine enlarged: the row says how, and with that the mapping is evaluated to the same numbers.
cat >"$folder/padded.yaml" <<'YAML'
experiment: padded
architecture: simba_tablev
network: alexnet
layers: [conv5]
engine: cosa
options: {pad: 7}
measure: [noc, cosa]
YAML
check 'run with padding' code 0 "$DSE" run "$folder/padded.yaml" -o "$folder/padded.h5"
check 'tells the padding' grep -q ',"P 13->14, Q 13->14",' "$folder/padded.layers.csv"
sed -n 2p "$folder/padded.layers.csv" | grep -o 'mapping: \[[^"]*\]' >"$folder/line.yaml"
check 'a padded mapping without its padding' code 2 "$DSE" eval simba_tablev alexnet:conv5 "$folder/line.yaml"
check 'a padded mapping' code 0 "$DSE" eval simba_tablev alexnet:conv5 "$folder/line.yaml" --pad P=14 --pad Q=14 -m noc,cosa -r summary -f csv
for name in noc_latency_cycle cosa_util cosa_comp cosa_traf cosa_objective; do
    value=$(sed -n "s/^$name,//p" "$folder/out")
    check "$name is that of the row" grep -q ",$value," "$folder/padded.layers.csv"
done
check 'padding to less' code 2 "$DSE" eval simba_tablev alexnet:conv5 "$folder/line.yaml" --pad P=3
check 'padding of nothing' code 2 "$DSE" eval simba_tablev alexnet:conv5 "$folder/line.yaml" --pad Z=30
check 'padding without a bound' code 2 "$DSE" eval simba_tablev alexnet:conv5 "$folder/line.yaml" --pad P
check 'says how' grep -q 'write DIM=N' "$folder/err"

# What is measured besides, and what cannot be.
check 'dse map with measures' code 0 "$DSE" map simba resnet50 -l conv2_0_a -e random -n 50 -m noc,cosa -f csv
check 'has their columns' sh -c "head -1 '$folder/out' | grep -q ',noc_latency_cycle,cosa_util,cosa_comp,cosa_traf,cosa_objective,'"
printf '%s\n' 'architecture: lone' 'clock: 1 GHz' 'hierarchy:' \
    '- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}' \
    '- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}' '- {macs: MAC, word: 8 bit, energy: 0.1 pJ}' >"$folder/lone.yaml"
check 'chosen by simulations' code 0 "$DSE" map simba resnet50 -l conv2_0_a -l conv2_0_b -e random -n 50 --simulations 3 -j 1 -f csv
check 'has how many' grep -q ',noc_latency_cycle,noc_simulations,' "$folder/out"
cp "$folder/out" "$folder/chosen.csv"
check 'chosen on two threads' code 0 "$DSE" map simba resnet50 -l conv2_0_a -l conv2_0_b -e random -n 50 --simulations 3 -j 2 -f csv
check 'the same' cmp "$folder/out" "$folder/chosen.csv"
check 'simulations of a schedule' code 2 "$DSE" map soma_edge resnet50 -e soma --simulations 3
check 'says whose they are' grep -q 'simulations' "$folder/err"
check 'no mesh to choose by' code 2 "$DSE" map "$folder/lone.yaml" resnet50 -l conv2_0_a -n 50 --simulations 2
check 'no mesh' code 2 "$DSE" map "$folder/lone.yaml" resnet50 -l conv2_0_a -n 50 -m noc
check 'says so' grep -q 'measure: noc: ' "$folder/err"
check 'an unknown measure' code 2 "$DSE" map simba resnet50 -l conv2_0_a -n 50 -m nocs
check 'names the near one' grep -q 'did you mean noc' "$folder/err"

cat >"$folder/small.yaml" <<'YAML'
experiment: small
architecture: simba
network: resnet50
layers: [conv2_0_a, conv2_0_b, conv2_0_c]
engine: random
limits: {max_evaluations: 100}
axes:
  GlobalBuffer.capacity: [64 KiB, 128 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
YAML
check 'dry run' code 0 "$DSE" run "$folder/small.yaml" --dry-run -o "$folder/small.h5"
check 'dry run counts' grep -q '^to compute *4$' "$folder/out"
check 'dry run writes nothing' test ! -e "$folder/small.csv"
check 'dry run of searches that take 0.1 s' code 0 "$DSE" run "$folder/small.yaml" --dry-run -o "$folder/small.h5" \
    --set option.search_size=0 --set limits.max_evaluations=0 --set limits.point_max_seconds=0.3
check 'shows the limits' grep -q '^point limits *0.3 s$' "$folder/out"
check 'and the share of each' grep -q '^search limits *0.1 s$' "$folder/out"
check 'knows how long they take' grep -q '^estimated time *about' "$folder/out"
for fault in loop segfault; do
    check "dry run of an engine with the fault $fault" code 0 timeout 20 "$DSE" run "$folder/small.yaml" --dry-run \
        -o "$folder/small.h5" --set engine=drill --set option.fault=$fault --set limits.max_evaluations=0
    check 'does not try it' grep -q '^estimated time *not known on' "$folder/out"
done
check 'run' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" -j 2
check 'results are there' test -s "$folder/small.h5" -a -s "$folder/small.csv" -a -s "$folder/small.layers.csv"
check 'four points' test "$(wc -l <"$folder/small.csv")" -eq 5
check 'nothing is said of layers that are not mapped, as there are none' sh -c "! grep -q 'not mapped' '$folder/err'"
check 'second run reuses' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5"
check 'and says so' grep -q '4 were there already' "$folder/err"
check 'fresh and update' code 2 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" --fresh --update
check 'fresh run' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" --fresh
check 'computes again' grep -q '^dse: 4 points' "$folder/err"
check 'status' code 0 "$DSE" status "$folder/small.h5"
check 'is complete' grep -q '^points *4 of 4$' "$folder/out"

# x and y of the specification are for its own kind of figure.
sed 's/small/drawn/' "$folder/small.yaml" >"$folder/drawn.yaml"
echo 'plot: {x: GlobalBuffer.capacity, y: DRAM.bandwidth}' >>"$folder/drawn.yaml"
check 'run with plot' code 0 "$DSE" run "$folder/drawn.yaml" -o "$folder/drawn.h5"
check 'convergence' code 0 "$DSE" plot "$folder/drawn.h5" -k convergence -o "$folder/drawn.svg" --keep-script
check 'has one panel' grep -qx 'dse_n_panel = 1' "$folder/drawn.svg.gp"
check 'convergence by y' code 0 "$DSE" plot "$folder/drawn.h5" -k convergence -y GlobalBuffer.capacity -o "$folder/drawn.svg" --keep-script
check 'has two curves' grep -qx 'dse_n_series = 2' "$folder/drawn.svg.gp"
check 'convergence over an axis' code 2 "$DSE" plot "$folder/drawn.h5" -k convergence -x GlobalBuffer.capacity
check 'is told' grep -q "one of evaluations, seconds, not 'GlobalBuffer.capacity'" "$folder/err"
check 'shard 1' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard 1/2
check 'shard 2' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard 2/2
check 'merge' code 0 "$DSE" merge "$folder/part.h5" "$folder/part.1-of-2.h5" "$folder/part.2-of-2.h5"
check 'merged has all' test "$(wc -l <"$folder/part.csv")" -eq 5
check 'set' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/set.h5" --set batch=2 --set limits.max_evaluations=50
# A changed axis: results of two specifications are never mixed.
sed 's/64 KiB, 128 KiB/64 KiB, 256 KiB/' "$folder/small.yaml" >"$folder/changed.yaml"
for ending in h5 csv layers.csv; do cp "$folder/small.$ending" "$folder/changed.$ending"; done
check 'a changed specification is refused' code 2 "$DSE" run "$folder/changed.yaml" -o "$folder/changed.h5"
check 'says what differs' grep -q '^  axis GlobalBuffer.capacity: 256 KiB is new; 128 KiB is gone' "$folder/err"
check 'and how many points' grep -q 'changed.csv: 2 of its 4 points are not of this specification; --update' "$folder/err"
check 'nothing is changed' cmp "$folder/small.csv" "$folder/changed.csv"
check 'a dry run says it before' code 0 "$DSE" run "$folder/changed.yaml" --dry-run -o "$folder/changed.h5"
check 'and how many' grep -q '^in the way *2 points of another specification' "$folder/out"
check 'an update' code 0 "$DSE" run "$folder/changed.yaml" -o "$folder/changed.h5" --update
check 'computes what is new' grep -q '^dse: 2 points in .*; 2 were there already' "$folder/err"
check 'and says where the others are' grep -q 'dse: 2 rows were moved to .*changed.dropped.csv' "$folder/err"
check 'they are' test "$(wc -l <"$folder/changed.dropped.csv")" -eq 3
check 'status of it' code 0 "$DSE" status "$folder/changed.h5"
check 'counts its own points' grep -q '^points *4 of 4$' "$folder/out"
sed 's/64 KiB, 256 KiB/64 KiB, 256 KiB, 512 KiB/' "$folder/changed.yaml" >"$folder/grown.yaml"
check 'a grown specification goes on' code 0 "$DSE" run "$folder/grown.yaml" -o "$folder/changed.h5"
check 'says what is new' grep -q 'GlobalBuffer.capacity: 512 KiB is new' "$folder/err"
check 'and keeps all' grep -q '^dse: 2 points in .*; 4 were there already' "$folder/err"
check 'set of an axis is refused' code 2 "$DSE" run "$folder/small.yaml" -o "$folder/set.h5" --set DRAM.bandwidth='1 GB/s'

# One and many, and the note about layers without multiply-accumulates: of each network once, when a sweep starts.
printf '%s\n' 'experiment: one' 'architecture: simba' 'engine: random' 'limits: {max_evaluations: 20}' \
    'axes: {network: [mobilenet_v1, resnet50]}' >"$folder/one.yaml"
check 'two networks' code 0 "$DSE" run "$folder/one.yaml" -o "$folder/one.h5"
check 'a note of both' grep -qx 'dse: note: not mapped: 1 layer of mobilenet_v1, 18 layers of resnet50 (no multiply-accumulates)' "$folder/err"
check 'only once' test "$(grep -c 'not mapped' "$folder/err")" -eq 1
check 'resumed' code 0 "$DSE" run "$folder/one.yaml" -o "$folder/one.h5"
check 'without the note' sh -c "! grep -q 'not mapped' '$folder/err'"
sed -i 's/, resnet50//' "$folder/one.yaml"
check 'one point' code 0 "$DSE" run "$folder/one.yaml" -o "$folder/one.h5" --fresh
check 'one point, not points' grep -q '^dse: 1 point in' "$folder/err"
check 'and again' code 0 "$DSE" run "$folder/one.yaml" -o "$folder/one.h5"
check 'one was there' grep -q '; 1 was there already' "$folder/err"
check 'map of one' code 0 "$DSE" map simba mobilenet_v1 -e random -n 20
check 'one layer is not mapped' grep -q '^1 layer without multiply-accumulates is not mapped' "$folder/out"

# Another measure is another result: rows of the first are not taken for the second.
sed 's/small/measured/' "$folder/small.yaml" >"$folder/measured.yaml"
echo 'measure: {noc: {max_steps: 2}}' >>"$folder/measured.yaml"
check 'run with a measure' code 0 "$DSE" run "$folder/measured.yaml" -o "$folder/measured.h5"
check 'has its column' sh -c "head -1 '$folder/measured.csv' | grep -q ',noc_latency_cycle,'"
check 'plots it' code 0 "$DSE" plot "$folder/measured.h5" -m noc_latency_cycle -o "$folder/measured.svg"
sed -i 's/max_steps: 2/max_steps: 3/' "$folder/measured.yaml"
check 'run with more steps is refused' code 2 "$DSE" run "$folder/measured.yaml" -o "$folder/measured.h5"
check 'and names them' grep -q 'max_steps: was 2, is 3' "$folder/err"
check 'run with more steps' code 0 "$DSE" run "$folder/measured.yaml" -o "$folder/measured.h5" --update
check 'computes all of it' grep -q '^dse: 4 points' "$folder/err"
check 'status with two generations' code 0 "$DSE" status "$folder/measured.h5"
check 'counts the second' grep -q '^points *4 of 4$' "$folder/out"
echo 'title: without' >"$folder/unmeasured.yaml"
sed 's/small/measured/' "$folder/small.yaml" >>"$folder/unmeasured.yaml"
check 'run without the measure' code 2 "$DSE" run "$folder/unmeasured.yaml" -o "$folder/measured.h5"
check 'names the column' grep -q "column .* is 'noc_latency_cycle'" "$folder/err"

# A layer's mapping in the table is what `dse eval` reads.
sed -n 2p "$folder/small.layers.csv" | grep -o 'mapping: \[[^"]*\]' >"$folder/line.yaml"
check 'mapping of the table' code 0 "$DSE" eval simba resnet50:conv2_0_a "$folder/line.yaml" --set GlobalBuffer.capacity='64 KiB'

# A point whose every layer is infeasible is a row, and no failure; a timed-out one is.
{
    sed 's/64 KiB, 128 KiB/1 B, 128 KiB/' "$folder/small.yaml"
    echo 'set: {GlobalBuffer.block: 1 word}'
} >"$folder/tight.yaml"
check 'infeasible points' code 0 "$DSE" run "$folder/tight.yaml" -o "$folder/tight.h5"
check 'are one line with the reason' grep -q '^  2 infeasible  layer .*: GlobalBuffer needs' "$folder/err"
check 'with an example' grep -q '^ *e\.g\. GlobalBuffer.capacity=1 B DRAM.bandwidth=10 GB/s$' "$folder/err"
check 'status of them' code 0 "$DSE" status "$folder/tight.csv"
check 'groups them alike' grep -q '^  2 infeasible  layer .*: GlobalBuffer needs' "$folder/out"
check 'status, one by one' code 0 "$DSE" status "$folder/tight.csv" --list 9
check 'lists them' grep -q '^infeasible GlobalBuffer.capacity=1 B DRAM.bandwidth=10 GB/s: .*GlobalBuffer needs' "$folder/out"
sed '/^axes/,$d' "$folder/small.yaml" >"$folder/lone.yaml"
echo 'set: {GlobalBuffer.block: 1 word, GlobalBuffer.capacity: 1 B}' >>"$folder/lone.yaml"
check 'one infeasible point without axes' code 0 "$DSE" run "$folder/lone.yaml" -o "$folder/lone.h5"
check 'is said without a place' sh -c "grep -q '^  1 infeasible  layer conv2_0_a: GlobalBuffer needs' '$folder/err' && ! grep -q '^ *at ' '$folder/err'"

# Each value is good on its own, one combination is not: a failed row, listed, exit code 1.
{
    sed 's/64 KiB, 128 KiB/8 B, 128 KiB/' "$folder/small.yaml"
    echo '  GlobalBuffer.block: [1 word, 16 word]'
} >"$folder/clash.yaml"
check 'failed points' code 1 "$DSE" run "$folder/clash.yaml" -o "$folder/clash.h5"
check 'are listed with the reason' grep -q 'failed .*less than one block' "$folder/err"
check 'and values' grep -q '^ *e\.g\. .*GlobalBuffer.block.*16' "$folder/err"
check 'and are not run again' code 1 "$DSE" run "$folder/clash.yaml" -o "$folder/clash.h5"
check 'all eight are there' grep -q '8 were there already' "$folder/err"

# A stack in which searches do not fit is an error of use; one that is just large enough is enough for a search of its own.
small_stack() {
    (
        ulimit -s "$1"
        shift
        exec "$DSE" "$@"
    )
}
check 'a stack of 64 KiB' code 2 small_stack 64 map simba alexnet -l conv2 -e random
check 'a stack of 64 KiB: what to do' grep -q '64 KiB here, and 1024 KiB are needed.*ulimit -s' "$folder/err"
check 'a stack of 1 MiB' code 0 small_stack 1024 map simba alexnet -l conv2 -e random
finish
