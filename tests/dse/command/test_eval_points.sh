#!/bin/sh
# Mappings of one line through `dse eval`: its reports and options.
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
check 'the summary is the first report' code 0 eval_points -a interstellar-compat -f csv
check 'with its columns' grep -qx \
    'line,fits,energy_no_mac_pJ,energy_array_pJ,mac_energy_pJ,pe_used,pe_total,cycles' "$folder/out"
check 'and the energy of the known point' grep -qE \
    '^3,1,20011674501\.1[12][0-9]*,26197032\.9[0-9]*,179424460\.[78][0-9]*,256,256,9345024' "$folder/out"
check 'levels' code 0 eval_points -a interstellar-compat -f csv -r levels
check 'have counts' grep -q '^3,1,Inputs,18,16588800,1560,24960,331776000' "$folder/out"
check 'networks' code 0 eval_points -a interstellar-compat -f csv -r networks
check 'have hops' grep -q '^3,L0,near,Weights,208,0.035,' "$folder/out"
check 'JSON' code 0 eval_points -f json
check 'is read' python3 -c "import json,sys; json.load(open('$folder/out'))"
check 'people get a table' code 0 eval_points
{
    printf '\357\273\277'
    sed 's/$/\r/' "$points"
} >"$folder/windows.txt"
check 'a byte order mark and Windows line ends' code 0 "$DSE" eval eyeriss_16x16 alexnet_interstellar:conv3 \
    "$folder/windows.txt" -b 16 -f csv
cp "$folder/out" "$folder/windows.csv"
check 'change nothing' sh -c '"$0" eval eyeriss_16x16 alexnet_interstellar:conv3 "$1" -b 16 -f csv | cmp -s - "$2"' \
    "$DSE" "$points" "$folder/windows.csv"

printf '%s\n' '[FX:3 OX:13] / [OX:1] / [FY:1 OY:13 IC:256 OC:384 ON:16]' >"$points"
check 'a line without all iterations' code 2 eval_points -a interstellar
check 'is told in its own words' says 'points.txt:1: the mapping does not fit: the factors of dimension FY multiply to 1, its bound is 3'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
    echo '[FX:3 FY:3 OX:13 IC:256 OC:384] / [OX:1] / [OY:13 ON:16]'
done >"$points"
check '--no-fit prices what does not fit' code 0 eval_points -a interstellar --no-fit -f csv
check 'all of it' test "$(wc -l <"$folder/out")" = 24
check 'and tells of 20 lines' test "$(grep -c 'priced all the same$' "$folder/err")" = 21
check 'how many more there are' says "points.txt: and 3 more lines do not fit, priced all the same"

check 'options of other mappings are refused' code 2 eval_points --measure noc
check 'by name' says '--measure belongs to'
"$DSE" map eyeriss_16x16 alexnet_interstellar -l conv3 -e random -n 50 -f yaml >"$folder/m.yaml" 2>/dev/null
check '--no-fit of another mapping' code 2 "$DSE" eval eyeriss_16x16 alexnet_interstellar:conv3 "$folder/m.yaml" --no-fit
check 'is refused' says '--no-fit belongs to'
check 'which either accounting prices' code 0 "$DSE" eval eyeriss_16x16 alexnet_interstellar:conv3 "$folder/m.yaml" \
    -a interstellar
finish
