#!/bin/sh
# Mappings as vectors through `dse eval --vectors` and `dse map --format vector`: options, and back again.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}
known=tests/known/mindmappings/best_mappings_cnn.csv
check 'the published best mappings are read as they are' code 0 "$DSE" eval mindmappings_banks --vectors "$known" -f csv
check 'with named columns' grep -qx 'line,member,reason,InputRegFile_uJ,WeightRegFile_uJ,PsumRegFile_uJ,PsumBuffer_uJ,'\
'WeightBuffer_uJ,InputBuffer_uJ,DRAM_Weights_uJ,DRAM_Inputs_uJ,DRAM_Outputs_uJ,utilization,energy_uJ,cycles,edp_norm,'\
'edp_norm_no_mac,edp_norm_halo' "$folder/out"
check 'a row each, all members' test "$(grep -c '^[0-9]*,1,,' "$folder/out")" = 12
check 'cycles are counts' grep -q ',13996800,' "$folder/out"
check 'people get a table' code 0 "$DSE" eval mindmappings_banks --vectors "$known"
check 'JSON' code 0 "$DSE" eval mindmappings_banks --vectors "$known" -f json
check 'is read' python3 -c "import json,sys; json.load(open('$folder/out'))"
check 'with --mode all are of that mode' code 0 "$DSE" eval mindmappings_banks --vectors "$known" -f csv --mode mustfit
check 'and half of them no members' test "$(grep -c '^[0-9]*,0,.* needs .* words' "$folder/out")" = 6
check 'a machine with more banks holds more' code 0 "$DSE" eval mindmappings_banks --vectors "$known" -f csv \
    --set SharedBuffer.banks=17
check 'so these deal out too few' test "$(grep -c 'banks of SharedBuffer are dealt out, it has 17' "$folder/out")" = 12

check 'no such mode' code 2 "$DSE" eval mindmappings_banks --vectors "$known" --mode mustfti
check 'has a nearest' says 'did you mean "mustfit"'
check 'no such orders' code 2 "$DSE" eval mindmappings_banks --vectors "$known" --orders inside
check 'another machine' code 2 "$DSE" eval simba --vectors "$known"
check 'says what it lacks' says 'simba is no machine of Mind Mappings'
check 'the other algorithm' code 2 "$DSE" eval mindmappings_mttkrp_banks --vectors "$known"
check 'is named' says '62 values are a vector of cnn, and mindmappings_mttkrp_banks is a machine for mttkrp'
check 'options of other mappings' code 2 "$DSE" eval mindmappings_banks --vectors "$known" --batch 2
check 'are refused by name' says '--batch does not go with --vectors'
check 'a problem beside vectors' code 2 "$DSE" eval mindmappings_banks resnet50:conv1 m.yaml --vectors "$known"
check 'is too much' says '--vectors takes ARCH alone'
check '--mode without vectors' code 2 "$DSE" eval simba resnet50:conv1 m.yaml --mode mustfit
check 'has nothing to say' says '--mode belongs to --vectors'
check 'one operand' code 2 "$DSE" eval simba
check 'is too few' says 'needs ARCH PROBLEM MAPPING, ARCH LIST.csv, ARCH --report machine, or ARCH --vectors FILE'

sample() {
    "$DSE" sample mindmappings_banks mindmappings_resnet_conv4 -b 16 --draw vectors -n 500 "$@"
}
check 'vectors are drawn' code 0 sample
check 'from a space of known size' says 'of 10^24.74 vectors' # 5.5e24: docs/mindmappings.md
cp "$folder/out" "$folder/one"
check 'the same for any number of threads' code 0 sample -j 3
check 'as they should' cmp -s "$folder/out" "$folder/one"
check 'tiles may have to fit' code 0 sample --mode mustfit
check 'then they are others' sh -c "! cmp -s '$folder/out' '$folder/one'"
check 'constraints' code 2 sample --search-bypass
check 'do not go with vectors' says '--search-bypass does not go with --draw vectors'
check 'another machine' code 2 "$DSE" sample simba resnet50 conv1 --draw vectors
check 'has none' says 'simba is no machine of Mind Mappings'
check 'modes' code 2 "$DSE" sample simba resnet50 conv1 --mode mustfit
check 'are of vectors' says '--mode belongs to --draw vectors'

# A mapping with loops at the blocks alone, found and evaluated again.
cat >"$folder/blocks.yaml" <<'YAML'
constraints:
- {target: WeightBuffer, type: temporal, factors: "R1 S1 P1 Q1 C1 K1 N1"}
- {target: PsumBuffer, type: temporal, factors: "R1 S1 P1 Q1 C1 K1 N1"}
- {target: PsumRegFile, type: temporal, factors: "R1 S1 P1 Q1 C1 K1 N1"}
- {target: WeightRegFile, type: temporal, factors: "R1 S1 P1 Q1 C1 K1 N1"}
YAML
map() {
    "$DSE" map mindmappings_banks mindmappings_alexnet_conv2 -b 8 -n 2000 -c "$folder/blocks.yaml" "$@"
}
map -f csv >"$folder/map.csv" 2>/dev/null
check 'a mapping as a vector' code 0 map -f vector
cp "$folder/out" "$folder/vector.csv"
check 'of 62 values' test "$(tr ',' '\n' <"$folder/vector.csv" | wc -l)" = 62
check 'is evaluated' code 0 "$DSE" eval mindmappings_banks --vectors "$folder/vector.csv" -f csv --mode mustfit
check 'to the same cycles and energy' python3 - "$folder/map.csv" "$folder/out" <<'PYTHON'
import csv, sys
row = next(csv.DictReader(open(sys.argv[1])))
again = next(csv.DictReader(open(sys.argv[2])))
assert again["member"] == "1"
assert abs(float(row["energy_j"]) * 1e6 / float(again["energy_uJ"]) - 1) < 1e-9
assert int(row["latency_cycle"]) == float(again["cycles"])
PYTHON
check 'loops elsewhere are no vector' code 1 "$DSE" map mindmappings_banks mindmappings_alexnet_conv2 -b 8 -e random -n 20 \
    -f vector
check 'a comment says why' grep -q '^# alexnet_conv2: no vector stands for this mapping: it has a loop over' "$folder/out"
check 'and the program too' says '1 mapping is printed as a comment'
check 'a strided layer' code 2 "$DSE" map mindmappings_banks resnet50 -l conv1 -f vector
check 'has no vectors' says 'conv1 is none of the problems of cnn vectors'
check 'a scheduler' code 2 "$DSE" map mindmappings_banks resnet50 -e unfused -f vector
check 'has none either' says '--format vector is for mappings'
finish
