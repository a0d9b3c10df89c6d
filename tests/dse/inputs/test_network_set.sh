#!/bin/sh
# --set network.NAME=VALUE on every command that takes a network and --set, and where there is none to set it of.
# Tests: inputs.c. Expected: the network of a file that sets the same.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
cat >"$folder/fixed.yaml" <<END
{network: gpt2, of: $PWD/experiments/networks/gpt2.yaml, set: {blocks: 1, sequence: 64}}
END
set_both='--set network.blocks=1 --set network.sequence=64'

# same_as OPERAND COMMAND...: what the command prints of gpt2 with --set it prints of the file, which stands for @
same() {
    with=$(echo "$*" | sed "s|@|gpt2|") without=$(echo "$*" | sed "s|@|$folder/fixed.yaml|")
    # shellcheck disable=SC2086
    "$DSE" $with $set_both >"$folder/with" && "$DSE" $without >"$folder/without" && cmp "$folder/with" "$folder/without"
}
check 'map' same map simba @ -e random -n 20 -f csv
check 'map, a scheduler' same map soma_edge @ -e soma -n 50 -f csv
check 'eval of a layer' code 0 "$DSE" map simba "$folder/fixed.yaml" --layer ffn1 -e random -n 20 -f yaml
cp "$folder/out" "$folder/ffn1.yaml"
check 'eval of a layer' same eval simba @:ffn1 "$folder/ffn1.yaml"
check 'a schedule' code 0 "$DSE" map soma_edge "$folder/fixed.yaml" -e soma -n 50 -f yaml
cp "$folder/out" "$folder/schedule.yaml"
check 'eval of a schedule' code 0 "$DSE" eval soma_edge "$folder/fixed.yaml" "$folder/schedule.yaml" -f csv
cp "$folder/out" "$folder/without"
sed 's/^network:.*/&\nparameters: {blocks: 1, sequence: 64}/' "$folder/schedule.yaml" >"$folder/set.yaml"
# shellcheck disable=SC2086
check 'with its parameters' code 0 "$DSE" eval soma_edge gpt2 "$folder/set.yaml" $set_both -f csv
check 'is the same' cmp "$folder/out" "$folder/without"
# shellcheck disable=SC2086
check 'plot of a schedule' code 0 "$DSE" plot "$folder/set.yaml" --arch soma_edge --network gpt2 $set_both -o "$folder/x.svg"
# Texts say what is not the file's own, and are read with it.
for engine in 'soma_edge -e unfused' 'klotski -e tangram'; do
    machine=${engine%% *}
    # shellcheck disable=SC2086
    check "a schedule of $engine" code 0 "$DSE" map $engine gpt2 $set_both -f yaml
    cp "$folder/out" "$folder/said.yaml"
    check 'says its parameters' grep -qx 'parameters: {sequence: 64, blocks: 1}' "$folder/said.yaml"
    # shellcheck disable=SC2086
    check 'with them' code 0 "$DSE" eval "$machine" gpt2 "$folder/said.yaml" $set_both -f csv
    cp "$folder/out" "$folder/with"
    check 'without' code 0 "$DSE" eval "$machine" gpt2 "$folder/said.yaml" -f csv
    check 'the same' cmp "$folder/with" "$folder/out"
    check 'a plot without' code 0 "$DSE" plot "$folder/said.yaml" --arch "$machine" -o "$folder/x.svg"
    check 'another length' code 2 "$DSE" eval "$machine" gpt2 "$folder/said.yaml" --set network.sequence=128
    check 'is refused' grep -q 'said.yaml:[0-9]*: the schedule is for network.sequence=64, not 128$' "$folder/err"
    check 'another size' code 2 "$DSE" eval "$machine" gpt2 "$folder/said.yaml" --set network.size=medium
    check 'is refused' grep -q 'said.yaml:[0-9]*: the schedule is for the size that network gpt2 has by its file, not medium;' "$folder/err"
    check 'another network' code 2 "$DSE" eval "$machine" resnet18 "$folder/said.yaml"
    check 'is refused, not its parameters' grep -q 'said.yaml:[0-9]*: the schedule is for network "gpt2", not resnet18$' "$folder/err"
    sed '/^parameters/d' "$folder/said.yaml" >"$folder/unsaid.yaml"
    # shellcheck disable=SC2086
    check 'it does not say what is set' code 2 "$DSE" eval "$machine" gpt2 "$folder/unsaid.yaml" $set_both
    check 'is told what it would' grep -q 'unsaid.yaml:[0-9]*: .* by its file, not 64; one for that says "parameters: {sequence: 64}"$' "$folder/err"
    sed 's/blocks: 1}/blocs: 1}/' "$folder/said.yaml" >"$folder/wrong.yaml"
    check 'a wrong name' code 2 "$DSE" eval "$machine" gpt2 "$folder/wrong.yaml"
    check 'is refused' grep -q 'wrong.yaml:[0-9]*: the network has no parameter blocs;.*did you mean blocks' "$folder/err"
done
check 'the default' code 0 "$DSE" map soma_edge mobilenet_v1 -e unfused -f yaml --set network.width=1.0
check 'is not said' sh -c "! grep parameters '$folder/out'"

check 'sample' same sample simba @ ffn1 -n 10
check 'the last --set counts' code 0 "$DSE" list layers gpt2 --set network.blocks=3 --set network.blocks=2
check 'two blocks' test "$(grep -c '\.norm1 ' "$folder/out")" -eq 2
check 'parameters are listed' grep -q '^network.blocks *2 *from 1 to 12$' "$folder/out"
check 'together with the machine' code 0 "$DSE" map simba gpt2 --layer ffn1 -n 10 --set network.blocks=1 --set PE.mesh=2x2

# A layer of 8 x 4, or what is said.
small() { printf '%s\n' "network: small" "parameters: {k: {default: $1}}" 'input: {C: 8}' 'layers: [{name: a, type: linear, C: 8, K: k, from: input}]'; }
small 4 >"$folder/small.yaml"
small 16 >"$folder/sixteen.yaml"
optimise() { "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml "$@" --size 'RF1=16 B,32 B' -f csv; }
optimised() { optimise "$folder/small.yaml" --set network.k=16 >"$folder/1" && optimise "$folder/sixteen.yaml" >"$folder/2" && cmp "$folder/1" "$folder/2"; }
check 'optimise' optimised
optimise "$folder/small.yaml" >"$folder/3"
check 'the default is another' code 1 cmp -s "$folder/1" "$folder/3"

# refuse NAME TEXT COMMAND...: exit code 2, and the message has the text
refuse() {
    name=$1 text=$2
    shift 2
    check "$name" code 2 "$@"
    check "$name: why" grep -qF -e "$text" "$folder/err"
}
problem=tests/known/timeloop/problems/gemm-512x512x512.yaml
refuse 'no such parameter' 'the network has no parameter block; it has size, phase, sequence, cache, blocks, unroll; did you mean blocks?' \
    "$DSE" map simba gpt2 --set network.block=1
refuse 'no such value' 'network.phase decoding: one of prefill, decode is expected' "$DSE" map simba gpt2 --set network.phase=decoding
refuse 'out of range' 'network.blocks 13: a whole number from 1 to 12 is expected' "$DSE" map simba gpt2 --set network.blocks=13
refuse 'a network without' 'the network has no parameter blocks' "$DSE" map simba resnet18 --set network.blocks=1
refuse 'joined ones without' 'no network of resnet18+alexnet has a parameter blocks' "$DSE" map simba resnet18+alexnet --set network.blocks=1
refuse 'what the file sets' 'the network sets it itself' "$DSE" map simba "$folder/fixed.yaml" --set network.blocks=2
refuse 'no value' 'the value is missing' "$DSE" map simba gpt2 --set network.blocks=
refuse 'a problem file' 'has no parameter k' "$DSE" map simba $problem --set network.k=1
refuse 'problem files' 'a list of problem files has no parameters of a network' "$DSE" map simba $problem $problem --set network.k=1
refuse 'eval of a problem file' 'has no parameters of a network' "$DSE" eval simba $problem "$folder/ffn1.yaml" --set network.k=1
refuse 'list of anything else' 'nothing else is set here' "$DSE" list networks --set network.k=1
refuse 'list of a quantity' 'nothing else is set here' "$DSE" list layers gpt2 --set DRAM.bandwidth=1
check 'one of the joined has it' code 0 "$DSE" list layers resnet18+gpt2 --set network.blocks=1
check 'and it is set' test "$(grep -c '^gpt2\..*norm1 ' "$folder/out")" -eq 1
finish
