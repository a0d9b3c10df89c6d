#!/bin/sh
# Files of Timeloop v4 wherever a path of a machine, a problem, a mapping or constraints goes; constraints of v3 and v4 restrict a search, and
# `dse eval` says whether a mapping keeps them. The machines are those of tests/known/timeloop_v4/README.md.
# Tests: command_eval.c, command_map.c, command_sample.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
known=tests/known/timeloop_v4

# value FILE KEY: of the list in a CSV
value() {
    sed -n "s/^$2,//p" "$1"
}
for form in '' .dumped; do
    check "eval of rows$form" code 0 "$DSE" eval $known/rows$form.yaml $known/rows.layer.yaml $known/rows.map.yaml --ert $known/rows.ert.yaml -r summary -f csv
    check 'cycles' test "$(value "$folder/out" latency_cycle)" -eq 86016
    check 'the constraints are kept' test "$(value "$folder/out" constraints)" = kept
    check 'without a word' test ! -s "$folder/err"
    # A dump defines compound components: their energies come by an ERT, which may stand in the file as Accelergy's does beside it.
    cat $known/rows$form.yaml $known/rows.ert.yaml >"$folder/rows$form.yaml"
    check "map rows$form" code 0 "$DSE" map "$folder/rows$form.yaml" $known/rows.layer.yaml -e descent -n 1500 -f yaml
    cp "$folder/out" "$folder/found$form.yaml"
done
check 'the energy of one file is that of two' sh -c "'$DSE' map $known/rows.yaml $known/rows.layer.yaml --ert $known/rows.ert.yaml -e descent -n 1500 -f yaml | cmp - '$folder/found.yaml'"
for form in '' .dumped; do
    for found in '' .dumped; do
        check "found$found on rows$form" code 0 "$DSE" eval "$folder/rows$form.yaml" $known/rows.layer.yaml "$folder/found$found.yaml" -r summary -f csv
        check 'is kept' test "$(value "$folder/out" constraints)" = kept
    done
done
check 'compound components need an ERT' code 2 "$DSE" map $known/rows.dumped.yaml $known/rows.layer.yaml -n 1
check 'by name and line' grep -q 'rows.dumped.yaml:15: Rows has class smartbuffer_RF, a compound component (line 38)' "$folder/err"

# A mapping that breaks a constraint is priced, and said to.
sed 's/factors: M8, /factors: M4, /; s/M4 P8 Q2/M8 P8 Q2/; s/target: Shared, type: datatype, keep: \[Inputs, Outputs\], bypass: \[Weights\]/target: Shared, type: datatype/' \
    $known/rows.map.yaml >"$folder/broken.yaml"
check 'eval of a mapping that breaks one' code 0 "$DSE" eval "$folder/rows.yaml" $known/rows.layer.yaml "$folder/broken.yaml"
check 'says so' grep -q 'constraints  broken: Shared keeps Weights, which is to be bypassed there' "$folder/out"
check 'and warns' grep -q "^dse: warning: $folder/broken.yaml: the mapping breaks the machine's constraints: Shared keeps" "$folder/err"
check 'as JSON' sh -c "'$DSE' eval '$folder/rows.yaml' $known/rows.layer.yaml '$folder/broken.yaml' -r summary -f json 2>/dev/null | grep -q '\"constraints\": \"broken: Shared'"

# A fixed factor that a layer has not: the machine's file and line.
sed 's/R: 3, S: 3/R: 1, S: 1/' $known/rows.layer.yaml >"$folder/pointwise.yaml"
sed 's/factors: \[N=1, M=1, P=1, Q=1, S=1\]/factors: [N=1, M=1, P=1, Q=1, S=1, R=3]/' "$folder/rows.yaml" >"$folder/three.yaml"
check 'a factor that no layer has' code 2 "$DSE" map "$folder/three.yaml" "$folder/pointwise.yaml" -n 10
check 'names its line' grep -q 'three.yaml:37: Filters: factor R=3 does not divide the bound 1' "$folder/err"

check 'a network of ours, whose output channels are K' code 0 "$DSE" map "$folder/rows.yaml" resnet50 --layer conv1 -e random -n 20

# Constraints in a file of their own, in v3's words: R=0 is all of R.
cat >"$folder/more.yaml" <<'E3'
mapspace_constraints:
  targets:
  - {target: Filters, type: temporal, factors: R=0}
  - {target: Dram, type: temporal, permutation: PQ M}
E3
check 'with further constraints' code 0 "$DSE" map "$folder/rows.yaml" $known/rows.layer.yaml -c "$folder/more.yaml" -e random -n 50 --nest
check 'all of R at Filters' sh -c "grep -A1 '^Filters' '$folder/out' | grep -q 'for R in 0..2'"
sed 's/R=0/M=2/' "$folder/more.yaml" >"$folder/against.yaml"
check 'that contradict the machine' code 2 "$DSE" map "$folder/rows.yaml" $known/rows.layer.yaml -c "$folder/against.yaml" -n 1
check 'names both files' grep -q "against.yaml:3: Filters: temporal M=2 contradicts M=1 on line 37 of $folder/rows.yaml" "$folder/err"
check 'beside a problem they are refused' sh -c "cat $known/rows.layer.yaml '$folder/more.yaml' >'$folder/both.yaml'; ! '$DSE' map '$folder/rows.yaml' '$folder/both.yaml' -n 1 2>'$folder/err'"
check 'with the way' grep -q -e '--constraints' "$folder/err"

# v3's architecture with constraints in its file.
sed '/^architecture/,$!d' tests/known/timeloop/archs/gb-rf-4x4.yaml >"$folder/v3.yaml"
printf 'architecture_constraints:\n  targets:\n  - {target: RF, type: temporal, factors: R=0 S=0}\n' >>"$folder/v3.yaml"
check 'constraints of v3' code 0 "$DSE" map "$folder/v3.yaml" tests/known/timeloop/problems/resnet50-conv4-3x3.yaml -e random -n 200 -f yaml
cp "$folder/out" "$folder/v3.map.yaml"
check 'are kept' code 0 "$DSE" eval "$folder/v3.yaml" tests/known/timeloop/problems/resnet50-conv4-3x3.yaml "$folder/v3.map.yaml"
check 'as eval says' grep -q 'constraints  kept' "$folder/out"

# Leakage in an ERT for v3, where it means nothing: every command says that it is not counted, and what v4 would write.
cat >"$folder/leak.ert.yaml" <<'E5'
ERT:
  version: 0.4
  tables:
  - {name: system.GB, actions: [{name: read, energy: 1}, {name: leak, energy: 0}]}
  - name: system.RF
    actions:
    - {name: read, energy: 1}
    - {name: leak, energy: 2}
E5
cat "$folder/v3.yaml" "$folder/leak.ert.yaml" >"$folder/leak.yaml"
note="$folder/leak[.]yaml:[0-9]*: leak is not counted, as in Timeloop v3; if it is .* arguments: {global_cycle_seconds: 1e-9}$"
layer=tests/known/timeloop/problems/resnet50-conv4-3x3.yaml
check 'leakage of v3' code 0 "$DSE" eval "$folder/v3.yaml" $layer "$folder/v3.map.yaml" --ert "$folder/leak.ert.yaml"
check 'is not counted' grep -q '^  leakage      not counted: its ERT does not say how long a cycle is$' "$folder/out"
check 'where and what would be' grep -q "^dse: note: $folder/leak.ert.yaml:8: leak is not counted, as in Timeloop v3; " "$folder/err"
check 'in one file' code 0 "$DSE" eval "$folder/leak.yaml" $layer "$folder/v3.map.yaml" -r summary -f csv
check 'as text of programs' grep -q '^leakage,not counted' "$folder/out"
check 'the note' grep -q "^dse: note: $note" "$folder/err"
check 'map' code 0 "$DSE" map "$folder/leak.yaml" $layer -e random -n 200
check 'has it' grep -q "^dse: note: $note" "$folder/err"
check 'sample' code 0 "$DSE" sample "$folder/leak.yaml" $layer -n 1
check 'has it, too' grep -q "^dse: note: $note" "$folder/err"
check 'check' code 0 "$DSE" check "$folder/leak.yaml"
check 'has it below' grep -q "^  $note" "$folder/out"
printf 'experiment: leak\narchitecture: leak.yaml\nnetwork: %s\nengine: random\nlimits: {max_evaluations: 60}\n' "$PWD/$layer" >"$folder/leak.sweep.yaml"
check 'run' code 0 "$DSE" run "$folder/leak.sweep.yaml" -o "$folder/leak.h5"
check 'has it first' grep -q "^dse: note: .*$note" "$folder/err"
sed 's/, energy: 1}$/, arguments: {global_cycle_seconds: 1e-9}, energy: 1}/' "$folder/leak.ert.yaml" >"$folder/v4.ert.yaml"
check 'what would be right' code 0 "$DSE" eval "$folder/v3.yaml" $layer "$folder/v3.map.yaml" --ert "$folder/v4.ert.yaml"
check 'is counted' grep -q '^(leakage) ' "$folder/out"
check 'without a note' test ! -s "$folder/err"

# Samples, checks, sweeps: the fan-out of a container and an attribute as axes, then the result again.
check 'sample' code 0 "$DSE" sample "$folder/rows.yaml" $known/rows.layer.yaml -n 3 --mapping
check 'keeps the constraints' test "$(grep -c 'target: Shared, type: bypass, keep: \[Inputs, Outputs\], bypass: \[Weights\]' "$folder/out")" -eq 3
check 'check' code 0 "$DSE" check "$folder/rows.yaml"
check 'counts levels and MACs' grep -q 'architecture rows: 7 storage levels, 168 MAC units' "$folder/out"
check 'check of an error' code 2 "$DSE" check $known/rows.dumped.yaml
cat >"$folder/sweep.yaml" <<E4
experiment: sweep
architecture: $folder/rows.yaml
network: $PWD/$known/rows.layer.yaml
engine: random
limits: {max_evaluations: 60}
axes:
  Pe.meshY: [6, 12]
  Shared.depth: [4096, 16384]
E4
check 'run' code 0 "$DSE" run "$folder/sweep.yaml" -o "$folder/sweep.h5"
check 'four good points' test "$(grep -c ',ok,' "$folder/sweep.csv")" -eq 4
check 'rerun' code 0 "$DSE" rerun "$folder/sweep.h5"
check 'an unknown path' sh -c "sed 's/Pe.meshY/Pe.meshZ/' '$folder/sweep.yaml' >'$folder/wrong.yaml'; ! '$DSE' check '$folder/wrong.yaml' 2>'$folder/err'"
check 'has a nearest one' grep -q 'did you mean "meshX"\|did you mean "meshY"\|meshX, meshY' "$folder/err"
check 'what schedules networks says no' code 2 "$DSE" map "$folder/rows.yaml" resnet50_soma -e soma -n 1
check 'by reason' grep -q "only an array's fan-out" "$folder/err"
finish
