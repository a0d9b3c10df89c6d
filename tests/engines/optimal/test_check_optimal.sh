#!/bin/sh
# Tests: optimal_engine.c. scripts/check-optimal on small layers: no engine has a better answer than engine optimal, for any objective; and what it
# counts is not what is always true.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/small.yaml" <<'END'
network: small
kind: layers
layers:
- {name: conv, type: conv, C: 4, K: 12, P: 4, Q: 4, R: 3, S: 3, pad: 1}
- {name: strided, type: conv, C: 3, K: 8, P: 4, Q: 2, R: 3, S: 1, stride: 2, pad: 1}
- {name: depthwise, type: conv, C: 8, K: 8, P: 4, Q: 4, R: 3, S: 3, pad: 1, groups: 8}
- {name: linear, type: linear, C: 24, K: 16, P: 4}
END
sed 's/^link_transfers: off/link_transfers: on/' experiments/architectures/simba.yaml >"$folder/linked.yaml"
checked() {
    scripts/check-optimal --networks "$folder/small.yaml" --evaluations 500 --engines random,genetic,descent "$@" "$DSE"
}
check 'four layers' code 0 checked --machines simba,eyeriss_16x16 --seeds 1,2
check 'are proved' [ "$(grep -c ',4,4,' "$folder/out")" -eq 6 ]
check 'and compared' [ "$(grep -c '^\(edp\|energy\|latency\),\(random\|genetic\|descent\),' "$folder/out")" -eq 9 ]
check 'with all answers' grep -q '^energy,random,16,' "$folder/out"
check 'that are not all optimal' grep -q '^energy,random,16,[0-9]\{1,2\},' "$folder/out"
check 'nothing to compare' code 1 checked --machines "$folder/linked.yaml"
finish
