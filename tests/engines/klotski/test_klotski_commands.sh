#!/bin/sh
# Tests: plan_format.c. Klotski's engines and schedules through `dse map` and `dse eval`: what is refused or warned of, with its line.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}

cat >"$folder/two.yaml" <<'YAML'
network: two
input: {C: 4, H: 4, W: 4}
layers:
- {name: a, type: conv, C: 4, K: 40, P: 4, Q: 4, R: 1, S: 1, from: input}
- {name: b, type: conv, C: 40, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}
YAML
plan() { # its input channels of layer b, and the options
    cat >"$folder/plan.yaml" <<YAML
uops: 1
network: two
partition:
- {layer: a, h: 4, w: 4, ic: 4, oc: 40}
- {layer: b, h: 4, w: 4, ic: $1, oc: 4}
cores:
- [a/0, b/0]
- [b/1]
YAML
}
evaluate() {
    "$DSE" eval klotski "$folder/two.yaml" "$folder/plan.yaml" --set Core.mesh=2x1 "$@"
}

plan 24
check 'tiles of all lanes' code 0 evaluate
check 'need no warning' test ! -s "$folder/err"
plan 20
check 'tiles off the lanes' code 0 evaluate -f csv
check 'are warned of' says "dse: warning: $folder/plan.yaml:5: layer b has tiles of 20 input channels, no multiple of the 12 lanes"
check 'once' test "$(wc -l <"$folder/err")" = 1
check 'and so is an engine' code 0 "$DSE" map klotski "$folder/two.yaml" -e klotski -o partition=fixed -o ic=20
check 'with a warning' says 'layer b has tiles of 20 input channels'
plan 1
sed -i 's/h: 4, w: 4/h: 1, w: 1/' "$folder/plan.yaml"
check 'more uops than allowed' code 2 evaluate --batch 1000
check 'are so with the line of the layer' says 'plan.yaml:5: cut into more than 100000 uops at layer b'

# Every shipped network is uops, or is refused before a search: einsums of three operands.
sed 's/^network: .*/network: mindmappings_mttkrp_0/' "$folder/plan.yaml" >"$folder/einsum.yaml"
check 'an einsum' code 2 "$DSE" eval klotski mindmappings_mttkrp_0 "$folder/einsum.yaml"
check 'is no product' says 'layer mttkrp_0 is no convolution and no matrix product'
cat > "$folder/dilated.yaml" <<'TEXT'
network: dilated
input: {C: 4, H: 9, W: 9}
layers:
- {name: wide, type: conv, C: 4, K: 4, P: 5, Q: 5, R: 3, S: 3, dilation: 2, from: input}
TEXT
check 'a dilated layer' code 2 "$DSE" map klotski "$folder/dilated.yaml" -e klotski
check 'has its name' says 'layer wide is dilated and can be no uops'
for shipped in experiments/networks/*.yaml; do
    case $shipped in *mttkrp*) expected=2 ;; *) expected=0 ;; esac
    check "the whole layers of $shipped" code $expected "$DSE" map klotski "$shipped" -e tangram -f yaml
    cp "$folder/out" "$folder/whole.yaml" 2>/dev/null
    [ $expected = 2 ] || check "$shipped read back" code 0 "$DSE" eval klotski "$shipped" "$folder/whole.yaml"
done
check 'more layers than uops' code 2 "$DSE" map klotski bert_base -e klotski -o max_uops=50
check 'is said before' says '97 layers with MACs, each a uop at least for each of 1 samples, more than max_uops = 50; take max_uops=97 or'
check 'uops in slices' code 0 "$DSE" map klotski dlrm -e klotski -o max_uops=99 --set 'SRAM.capacity=3600 B' -f yaml
cp "$folder/out" "$folder/sliced.yaml"
check 'read back' code 0 "$DSE" eval klotski dlrm "$folder/sliced.yaml" --set 'SRAM.capacity=3600 B'
check 'are counted' grep -q '^  slices ' "$folder/out"
check 'also by the DRAM' code 0 "$DSE" eval klotski dlrm "$folder/sliced.yaml" --set 'SRAM.capacity=3600 B' -o memory=dram
check 'with no messages' code 2 "$DSE" eval klotski dlrm "$folder/sliced.yaml" --set 'SRAM.capacity=3600 B' -o memory=dram -o transport=links
check 'that take time' says 'take transport=ideal, sram=all or memory=free'

# Pools as uops: 33 cycles of the convolution as below, then 2 x 2 x 4 values of 4 operations on 168 PEs.
cat >"$folder/pool.yaml" <<'YAML'
network: pool
input: {C: 4, H: 4, W: 4}
layers:
- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}
- {name: p, type: pool, C: 4, P: 2, Q: 2, R: 2, S: 2, stride: 2, from: a}
YAML
fused=$("$DSE" map klotski "$folder/pool.yaml" -e tangram -f csv | grep '^cycles,')
check 'a pool takes no time' test "$fused" = 'cycles,33'
for engine in klotski klotski-plus atomic tangram; do
    check "with vector=uops it does: $engine" code 0 "$DSE" map klotski "$folder/pool.yaml" -e $engine -o vector=uops -f yaml
    cp "$folder/out" "$folder/pool_plan.yaml"
    check 'and says so in the schedule' grep -q 'vector: uops}' "$folder/pool_plan.yaml"
    check 'which is read again' code 0 "$DSE" eval klotski "$folder/pool.yaml" "$folder/pool_plan.yaml" -r uops -f csv
    check 'with uops of the pool' grep -q '^p/0,[0-8],' "$folder/out"
done
check 'behind the whole layer' grep -qx 'p/0,[0-8],33,34,1' "$folder/out"
sed 's/, vector: uops//; s/, p\/0//; s/\[p\/0\]/[]/' "$folder/pool_plan.yaml" >"$folder/fused_plan.yaml"
check 'without it the pool has no uops' code 0 "$DSE" eval klotski "$folder/pool.yaml" "$folder/fused_plan.yaml" -r uops -f csv
sed 's/, vector: uops//' "$folder/pool_plan.yaml" >"$folder/fused_plan.yaml"
check 'and one is unknown' code 2 "$DSE" eval klotski "$folder/pool.yaml" "$folder/fused_plan.yaml"
check 'to the network' says 'there is no uop p/0: network pool has no layer "p" with MACs'

# Several networks at once.
cat >"$folder/one.yaml" <<'YAML'
network: one
input: {C: 4, H: 4, W: 4}
layers:
- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}
YAML
cat >"$folder/joined.yaml" <<'YAML'
uops: 1
network: two+one+one
partition:
- {layer: two.a, h: 4, w: 4, ic: 4, oc: 40}
- {layer: two.b, h: 4, w: 4, ic: 40, oc: 4}
- {layer: one.a, h: 4, w: 4, ic: 4, oc: 4}
- {layer: one-2.a, h: 2, w: 4, ic: 4, oc: 4}
cores:
- [one.a/0, two.a/0, two.b/0]
- [one-2.a/0, one-2.a/1]
YAML
all="$folder/two.yaml+$folder/one.yaml+$folder/one.yaml"
check 'three networks' code 0 "$DSE" eval klotski "$all" "$folder/joined.yaml" --set Core.mesh=2x1 -r networks -f csv
# One pixel of 4 by 4 channels takes 1 + ceil(8 / 128) = 2 cycles, one load 1 more.
check 'each with its times' grep -qx 'one,0,33,1,33' "$folder/out"
check 'and with what it has' grep -qx 'one-2,0,34,2,34' "$folder/out"
check 'the first begins when its accelerator is free' grep -q '^two,33,' "$folder/out"
check 'as a point' code 0 "$DSE" map klotski "$all" -e klotski -f csv
check 'has the first and the mean' grep -q '^mean_network_cycle,' "$folder/out"
check 'another order' code 2 "$DSE" eval klotski "$folder/one.yaml+$folder/two.yaml" "$folder/joined.yaml" --set Core.mesh=2x1
check 'is another network' says 'the schedule is for network "two+one+one", not one+two'
check 'a graph and a list' code 2 "$DSE" map klotski resnet50+deepbench -e klotski
check 'do not go together' says 'networks resnet50 and deepbench cannot be joined'
check 'no name' code 2 "$DSE" map klotski resnet50+ -e klotski
check 'is missed' says 'the name of the network is empty'
check 'a wrong one' code 2 "$DSE" map klotski resnet50+gogglenet -e klotski
check 'has a nearest' says 'unknown network "gogglenet"; did you mean googlenet?'
sed 's/network: one/network: plus/' "$folder/one.yaml" >"$folder/two.yaml+one.yaml"
check 'a file with a plus in its name' code 0 "$DSE" map klotski "$folder/two.yaml+one.yaml" -e klotski
check 'is that file' grep -q '^plus, batch 1' "$folder/out"

cat >"$folder/joint.yaml" <<YAML
experiment: joint
architecture: klotski
engine: klotski
axes:
  network: [two.yaml+one.yaml+two.yaml, one.yaml+one.yaml]
  Core.mesh: [1x1, 2x1]
YAML
check 'a sweep' code 0 "$DSE" run "$folder/joint.yaml" -o "$folder/joint"
check 'of all' test "$(grep -c ',ok,' "$folder/joint.csv")" = 4
check 'again from what it kept' code 0 "$DSE" rerun "$folder/joint.h5"
check 'equal' grep -q '4 of 4 points computed again: 4 equal' "$folder/out"
finish
