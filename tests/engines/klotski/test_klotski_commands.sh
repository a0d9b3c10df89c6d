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
check 'are so with the line of the layer' says 'plan.yaml:5: the partition makes more than 100000 uops, at layer b'
check 'a grouped layer' code 2 "$DSE" eval klotski mobilenet_v1 "$folder/plan.yaml"
check 'has its name' says 'layer conv2_dw has 32 groups of channels and can be no uops'
check 'an einsum' code 2 "$DSE" eval klotski mindmappings_mttkrp_0 "$folder/plan.yaml"
check 'is no graph' says 'network mindmappings_mttkrp_0 is a list of layers'
check 'a product of activations' code 2 "$DSE" eval klotski bert_base "$folder/plan.yaml"
check 'or what comes before' says 'can be no uops'
check 'as in a search, which fails' code 1 "$DSE" map klotski mobilenet_v1 -e klotski
check 'with the same words' says 'layer conv2_dw has 32 groups of channels and can be no uops'
finish
