#!/bin/sh
# Tests: unfused.c, allocator.c, offer.c. scripts/check-schedules on networks of a few layers of the kinds that large ones are made of: weights
# larger than the buffer, blocks that repeat with a cache, an embedding of a table that is mostly not read, a list; on machines where
# weights stay in the buffer and where they stream. And what it checks is not true of everything.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# 96 KiB and 2 x 40 KiB of weights, where a buffer has 64 KiB.
cat >"$folder/large.yaml" <<'END'
network: large
input: {C: 256, H: 4}
layers:
- {name: a, type: linear, C: 256, K: 384, P: 4, from: input}
- {name: b, type: linear, C: 384, K: 160, P: 4, from: a}
- {name: c, type: linear, C: 160, K: 384, P: 4, from: b}
END
# Tokens look up 8 of 5,000 rows; two blocks attend to 32 tokens of two heads from a cache: 2 x 2 x 32 x 32 words beside.
cat >"$folder/blocks.yaml" <<'END'
network: blocks
parameters: {unroll: [false, true]}
unroll: unroll
input: {C: 1, H: 8}
layers:
- {name: table, type: embedding, C: 5000, K: 32, P: 8, from: input}
- block: block
  times: 2
  feeds: {table: sum}
  inputs:
    keys: {C: 32, H: 32}
    values: {C: 32, H: 32}
  layers:
  - {name: q, type: linear, C: 32, K: 32, P: 8, from: table}
  - {name: scores, type: matmul, C: 32, K: 64, P: 8, groups: 2, from: q, weights_from: keys}
  - {name: softmax, type: softmax, C: 64, P: 8, groups: 2, from: scores}
  - {name: context, type: matmul, C: 64, K: 32, P: 8, groups: 2, from: softmax, weights_from: values}
  - {name: sum, type: add, C: 32, P: 8, from: [table, context]}
- {name: head, type: linear, C: 32, K: 48, P: 8, from: sum}
END
echo "{network: unrolled, of: $folder/blocks.yaml, set: {unroll: true}}" >"$folder/unrolled.yaml"
# Each by itself: the output of the first, 16 x 16 x 16, and the input of the second, 16 x 8 x 8, are beside.
cat >"$folder/list.yaml" <<'END'
network: list
kind: layers
layers:
- {name: one, type: conv, C: 8, K: 16, P: 16, Q: 16, R: 3, S: 3, pad: 1}
- {name: two, type: conv, C: 16, K: 32, P: 8, Q: 8}
END
sed 's/^architecture: .*/architecture: small_edge/; s/capacity: 8 MiB/capacity: 64 KiB/' experiments/architectures/soma_edge.yaml >"$folder/small_edge.yaml"

networks=$folder/large.yaml,$folder/blocks.yaml:4096,$folder/unrolled.yaml:4096,$folder/list.yaml:5120
checked() {
    scripts/check-schedules --networks "$1" --machines "$folder/small_edge.yaml,simba,tpu_128x128" --engines unfused,soma --option soma.starts=1 \
        --option unfused.core_evaluations=60 --option soma.core_evaluations=60 "$DSE"
}
check 'schedules of all' code 0 checked "$networks"
check 'are there' [ "$(grep -c ',yes$' "$folder/out")" -eq 24 ]
check 'more than there is' code 1 checked "$folder/list.yaml:500000"
check 'is below a bound' grep -q 'below its bound: DRAM bytes$' "$folder/out"
finish
