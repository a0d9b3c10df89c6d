#!/bin/sh
# Mappings of one line: what does not fit, mistakes in a line, accountings and reports that there are not.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}
points="$folder/points.txt"
eval_points() {
    "$DSE" eval eyeriss_16x16 alexnet_interstellar:conv3 "$points" -b 16 "$@"
}

# P01 of tests/known/interstellar/points_public.csv; the machine is the authors' eyeriss512.
one='[IC:8 OC:2 OY:13] / [OC:2 FX:3 OX:13] / [OC:6 FY:3 ON:16 IC:2] ; L0 OC:16 | IC:16'
printf '# a comment\n\n%s\r\n' "$one" >"$points"
sed -i 's/IC:8/IC:80/; s/IC:2]/]/; s/IC:16/IC:4/' "$points"
check 'what does not fit is an error' code 2 eval_points
check 'that says what would help' says \
    "points.txt:3: the mapping does not fit: RegisterFile needs 2,452 B for Weights+Inputs+Outputs, has 512 B; --no-fit"
check 'and prints nothing' test ! -s "$folder/out"
check '--no-fit prices it' code 0 eval_points --no-fit -f csv
check 'says so' says 'warning:'
check 'and in the row' grep -q '^3,0,' "$folder/out"

printf '%s\n' '[] / [] / []' >"$points"
check 'iterations left out are an error with --no-fit too' code 2 eval_points --no-fit
check 'that names a loop' says 'points.txt:1: the mapping does not fit: the factors of dimension'
printf '%s\n' '[IC:8] / [OC:x] / []' >"$points"
check 'a mistake' code 2 eval_points --no-fit
check 'has line and column' says 'points.txt:1: column 14: OC wants a whole number'
check 'another accounting has no such lines' code 2 eval_points -a timeloop
check 'and says which has' says '--accounting interstellar or interstellar-compat'
check 'a report it has not' code 2 eval_points -r noc
check 'gets those there are' says 'summary, levels, networks'
finish
