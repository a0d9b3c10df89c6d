#!/bin/sh
# What dse map, dse list engine and dse eval print: lines that fit a terminal, padding wherever it matters, measures in their place.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# narrow WIDTH: no line of $folder/out is longer
narrow() {
    awk -v most="$1" 'length > most { exit 1 }' "$folder/out"
}

# An option's sentence is broken, not cut: its last words are there, and every option stays the first word of a row.
for engine in random hybrid descent gradient annealing genetic exhaustive cosa cosa-best; do
    check "dse list engine $engine" code 0 "$DSE" list engine "$engine"
    check "$engine: lines of at most 150 columns" narrow 150
    awk -v engine="$engine" '/^## / { mine = $2 == engine } /^\| option / { on = mine } /^$/ { on = 0 }
        on && /^\| `/ { gsub(/`/, "", $2); print $2 }' docs/engines.md >"$folder/options"
    check "$engine has options in docs/engines.md" test -s "$folder/options"
    while read -r option; do
        check "$engine: $option" grep -q "^  $option " "$folder/out"
    done <"$folder/options"
done
check 'the longest sentence' code 0 "$DSE" list engine cosa
check 'has its end' grep -q 'safe: their full size$' "$folder/out"

# Padding: in the table, in the csv row, and as the options that dse eval needs (13 is a prime above 7, 14 = 2 * 7).
map() {
    "$DSE" map simba_tablev alexnet --layer conv5 --engine cosa -o pad=7 "$@"
}
padded() {
    "$DSE" eval simba_tablev alexnet:conv5 "$folder/padded.yaml" --pad P=14 --pad Q=14 "$@"
}
check 'a padded layer' code 0 map
check 'is told' grep -qx 'conv5: mapped with P 13->14, Q 13->14' "$folder/out"
check 'as csv' code 0 map --format csv
check 'has a column' sh -c "head -1 '$folder/out' | grep -q ',padded\$' && grep -q ',\"P 13->14, Q 13->14\"\$' '$folder/out'"
check 'as yaml' code 0 map --format yaml
check 'says what dse eval needs' grep -q '^# .*--pad P=14 --pad Q=14$' "$folder/out"
cp "$folder/out" "$folder/padded.yaml"
check 'which is right' code 0 padded
check 'and needed' code 2 "$DSE" eval simba_tablev alexnet:conv5 "$folder/padded.yaml"
check 'as the message says' grep -q 'multiply to 14, the problem has 13 (--pad' "$folder/err"

check 'as json' code 0 map --format json
check 'has the cycles of the csv' sh -c "map_cycles=\$(sed -n 's/.*\"latency_cycle\": \([0-9]*\).*/\1/p' '$folder/out' | head -1); test \"\$map_cycles\" -gt 0"

# Measures.
check 'terms of the objective' code 0 map -m noc,cosa
check 'have a table of their own' grep -qx 'layer  cosa_util  cosa_comp  cosa_traf  cosa_objective' "$folder/out"
check 'in lines of at most 150 columns' narrow 150
check 'in a summary' code 0 padded -m noc,cosa
check 'all values begin in one column' sh -c "sed -n '2,/^\$/p' '$folder/out' | grep . | grep -vq '^  .\{17\}  [^ ]'; test \$? -eq 1"
check 'measures of another report' code 2 padded -m noc -r levels
check 'are refused' grep -q -e '--measure belongs to --report summary' "$folder/err"

finish
