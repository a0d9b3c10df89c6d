#!/bin/sh
# accounting as key and axis of a specification: the same points as by the option that is the same choice, zipped with
# engines, and what is refused before anything runs.
# Tests: axis_kinds.c, sweep_check.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# A specification of that name, ended by what stands in standard input.
with() {
    printf '%s\n' "experiment: $1" 'architecture: soma_edge' "network: $PWD/tests/known/soma/tiny6.yaml" >"$folder/$1.yaml"
    cat >>"$folder/$1.yaml"
}
refused() {
    check "$1" code 2 "$DSE" check "$folder/$2.yaml"
    check 'is told' grep -qF -e "$2.yaml:$3" "$folder/err"
}
# Column $2 of table $1, in the order of the cells: the first two columns are the axes.
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $1, $2, $at[name] }' "$folder/$1.csv" |
        sed 's/^false/soma/; s/^true/soma-compat/' | sort | cut -d ' ' -f 3
}

with chosen <<END
engine: unfused
axes: {accounting: [soma, soma-compat], batch: [1, 2]}
END
with option <<END
engine: unfused
axes: {option.compat: [false, true], batch: [1, 2]}
END
check 'an axis' code 0 "$DSE" run "$folder/chosen.yaml" -o "$folder/chosen.h5"
check 'the option as an axis' code 0 "$DSE" run "$folder/option.yaml" -o "$folder/option.h5"
for name in accounting latency_cycle energy_j; do
    check "$name is the same" test "$(column chosen $name)" = "$(column option $name)"
done
check 'two prices' test "$(column chosen energy_j | sort -u | wc -l)" -eq 4
check 'the axis has a column of its own' test "$(column chosen accounting_chosen)" = "$(column chosen accounting)"
check 'dse status knows the axis by its name' code 0 "$DSE" status "$folder/chosen.h5" --by accounting
check 'dse rerun' code 0 "$DSE" rerun "$folder/chosen.h5" --all

with zipped <<END
limits: {max_evaluations: 50}
axes: {engine: [random, unfused], accounting: [timeloop, soma-compat]}
zip: [[engine, accounting]]
END
check 'with engines' code 0 "$DSE" run "$folder/zipped.yaml" -o "$folder/zipped.h5"
check 'each says its own' test "$(column zipped accounting | tr '\n' ' ')" = 'timeloop soma-compat '
with fixed <<END
engine: unfused
END
check 'as a key' code 0 "$DSE" run "$folder/fixed.yaml" -o "$folder/fixed.h5" --set accounting=soma-compat
check 'says so' test "$(column fixed accounting)" = soma-compat

with unknown <<END
engine: unfused
accounting: som
END
refused 'unknown' unknown '5: unknown accounting "som"; did you mean soma?'
with crossed <<END
axes:
  engine: [random, unfused]
  accounting: [timeloop, soma]
END
refused 'not of each engine' crossed '6: engine random cannot be priced by accounting soma, only by timeloop'
with against <<END
engine: unfused
options: {compat: true}
axes:
  accounting: [soma-compat, soma]
END
refused 'a contradiction' against '7: engine unfused: accounting soma is option compat=false, but compat=true is given as well'
with axes <<END
engine: unfused
accounting: soma
axes: {option.compat: [false, true]}
END
refused 'an axis against it' axes '5: engine unfused: accounting soma is option compat=false, but compat=true is given as well'
with machine <<END
engine: unfused
accounting: soma-compat
axes: {architecture: [simba]}
END
sed -i '/^architecture: soma_edge/d' "$folder/machine.yaml"
check 'dse check' code 1 "$DSE" check "$folder/machine.yaml"
check 'tells ahead' grep -q 'failed  *accounting soma-compat does not price architecture simba: ' "$folder/out"
check 'another machine fails its points' code 1 "$DSE" run "$folder/machine.yaml" -o "$folder/machine.h5"
check 'and says why' grep -q 'accounting soma-compat does not price architecture simba: ' "$folder/machine.csv"
finish
