#!/bin/sh
# Which accounting prices what dse map finds and dse eval reads: the default, the choice, and what contradicts it.
# Tests: command_eval.c, command_map.c, command_list.c, dry_run.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

tiny=tests/known/soma/tiny6.yaml
conv1='simba resnet50 --layer conv1 -e random -n 200'
says() {
    grep -qF -e "$1" "$folder/err"
}

check 'they are listed' code 0 "$DSE" list accountings
check 'with what they price' grep -q '^soma-compat  *schedules ' "$folder/out"

# The word is split: it holds the operands.
# shellcheck disable=SC2086
{
    check 'default' code 0 "$DSE" map $conv1 -f csv
    cp "$folder/out" "$folder/default"
    check 'the default by name' code 0 "$DSE" map $conv1 -f csv --accounting timeloop
    check 'finds the same' cmp "$folder/out" "$folder/default"
    check 'unknown' code 2 "$DSE" map $conv1 --accounting timelop
    check 'the nearest is named' says 'unknown accounting "timelop"; did you mean timeloop?'
    check 'of schedules' code 2 "$DSE" map $conv1 --accounting soma
    check 'is told' says 'engine random cannot be priced by accounting soma, only by timeloop'
    "$DSE" map $conv1 -f yaml >"$folder/map.yaml"
}
check 'a mapping' code 0 "$DSE" eval simba resnet50:conv1 "$folder/map.yaml" -a timeloop
check 'a mapping by that of schedules' code 2 "$DSE" eval simba resnet50:conv1 "$folder/map.yaml" -a soma
check 'is told' says 'accounting soma prices no mappings of a loop nest'

# Samples of the map space are priced by it too.
check 'samples' code 0 "$DSE" sample simba resnet50 conv1 -n 20
cp "$folder/out" "$folder/default"
check 'samples by name' code 0 "$DSE" sample simba resnet50 conv1 -n 20 -a timeloop
check 'are the same' cmp "$folder/out" "$folder/default"
check 'samples by that of schedules' code 2 "$DSE" sample simba resnet50 conv1 -n 20 -a soma
check 'is told' says 'accounting soma prices no mappings of a loop nest'

# Of the SoMa family the option compat is the same choice.
check 'option compat' code 0 "$DSE" map soma_edge $tiny -e unfused -o compat=true -f yaml
cp "$folder/out" "$folder/compat.yaml"
check 'soma-compat' code 0 "$DSE" map soma_edge $tiny -e unfused --accounting soma-compat -f yaml
check 'is the same' cmp "$folder/out" "$folder/compat.yaml"
check 'soma' code 0 "$DSE" map soma_edge $tiny -e unfused --accounting soma -f yaml
sed 's/^soma: 1/&\ncompat: false/' "$folder/out" >"$folder/sound.yaml"
check 'is another' sh -c "! cmp -s '$folder/out' '$folder/compat.yaml'"
check 'a contradiction' code 2 "$DSE" map soma_edge $tiny -e unfused --accounting soma-compat -o compat=no
check 'names both' says 'accounting soma-compat is option compat=true, but compat=false is given as well'
check 'another machine' code 2 "$DSE" map simba $tiny -e unfused --accounting soma-compat
check 'is told' says 'accounting soma-compat does not price architecture simba: '

check 'what the text says' code 0 "$DSE" eval soma_edge $tiny "$folder/compat.yaml" --accounting soma-compat
check 'both words for it' code 0 "$DSE" eval soma_edge $tiny "$folder/compat.yaml" --accounting soma-compat --compat
check 'and not' code 2 "$DSE" eval soma_edge $tiny "$folder/compat.yaml" --accounting soma
check 'is told' says 'the schedule says compat: true; evaluate it without --accounting soma'
check 'nor so' code 2 "$DSE" eval soma_edge $tiny "$folder/sound.yaml" --accounting soma-compat
check 'is told' says 'the schedule says compat: false; evaluate it without --compat or --accounting soma-compat'
check 'two words against each other' code 2 "$DSE" eval soma_edge $tiny "$folder/sound.yaml" --accounting soma --compat
check 'are told' says '--compat is --accounting soma-compat, but --accounting soma is given as well'
check 'mappings' code 2 "$DSE" eval soma_edge $tiny "$folder/compat.yaml" --accounting timeloop
check 'are told' says 'accounting timeloop prices mappings;'
# One of two machines is none for the engine: the words of the check are those of the row.
cat >"$folder/half.yaml" <<END
experiment: half
network: $PWD/$tiny
engine: unfused
axes: {architecture: [soma_edge, k80], batch: [1, 2]}
END
check 'half of a sweep' code 1 "$DSE" check "$folder/half.yaml"
check 'is counted' grep -q '^2 of the points will fail:$' "$folder/out"
check 'with an example' grep -q 'e.g. architecture=k80 batch=1$' "$folder/out"
reason=$(sed -n 's/^ *2 failed *//p' "$folder/out")
check 'an estimate says it too' code 0 "$DSE" run "$folder/half.yaml" -o "$folder/half.h5" --dry-run
check 'in the same words' grep -qF "$reason" "$folder/out"
check 'the run' code 1 "$DSE" run "$folder/half.yaml" -o "$folder/half.h5"
check 'says before it begins' sh -c "grep -q '^dse: note: 2 of the points will fail:' '$folder/err' && grep -qF '$reason' '$folder/err'"
check 'says no other' test "$(grep -cF "$reason" "$folder/half.csv")" -eq 2
sed -i 's/, k80]/]/' "$folder/half.yaml"
check 'of one such point' code 2 "$DSE" map k80 "$PWD/$tiny" -e unfused
check 'in the same words' grep -qF "$reason" "$folder/err"
check 'without it' code 0 "$DSE" check "$folder/half.yaml"
check 'all is well' sh -c "! grep -q 'will fail' '$folder/out'"
finish
