#!/bin/bash
# Every tensor lies in the outermost level: bypassing one there is an error on a native machine and in constraints; a Timeloop machine keeps
# Timeloop's number (docs/timeloop.md), with a warning. Constraints that contradict end dse map, dse check and dse run with both lines.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
folder=${folder:?}
known=tests/known/timeloop
arch=$known/archs/simba16.yaml
problem=$known/problems/fc-4096x1000-n16.yaml
map=$known/maps/001_simba16_fc-4096x1000-n16.yaml
says() { grep -qF -- "$1" "$folder/err"; }

cat "$map" >"$folder/map.yaml"
echo '- {target: DRAM, type: bypass, bypass: [Weights]}' >>"$folder/map.yaml"
check 'Timeloop takes it' code 0 "$DSE" eval "$arch" "$problem" "$folder/map.yaml" --format csv
check 'with a warning' says "dse: warning: $folder/map.yaml: Weights is bypassed at DRAM, the outermost level"
# Timeloop charges nothing for what a level does not keep: no instance, no access, no energy
check 'and its number' grep -qx 'DRAM,Weights,0,1,1,0,0,0,0,0,0,0,0.0,0.0' "$folder/out"
check 'without it' code 0 "$DSE" eval "$arch" "$problem" "$map"
check 'no warning' test ! -s "$folder/err"

check 'a mapping of a native machine' code 0 "$DSE" map simba resnet50 -l conv1 -e random -s 1 -o search_size=20 --format yaml
sed 's/DRAM, type: bypass, keep: .*/DRAM, type: bypass, keep: [Inputs, Outputs], bypass: [Weights]}/' "$folder/out" >"$folder/native.yaml"
check 'an error there' code 2 "$DSE" eval simba resnet50:conv1 "$folder/native.yaml"
check 'with its line' says 'native.yaml:3: DRAM is the outermost level: every tensor lies there, Weights cannot be bypassed'

cat >"$folder/c.yaml" <<'YAML'
- {target: GlobalBuffer, type: spatial, factors: C=4}
- {target: DRAM, type: temporal, factors: K<=8}
- {target: GlobalBuffer, type: spatial, factors: C=2}
YAML
check 'dse map' code 2 "$DSE" map simba resnet50 -l conv2_0_c -e random -o search_size=5 -c "$folder/c.yaml"
check 'names both lines' says 'c.yaml:3: GlobalBuffer: spatial C=2 contradicts C=4 on line 1'
check 'dse sample' code 2 "$DSE" sample simba resnet50 conv2_0_c -c "$folder/c.yaml" -o "$folder/s.csv"
check 'does so, too' says 'c.yaml:3: GlobalBuffer: spatial C=2 contradicts C=4 on line 1'
{
    printf 'experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv2_0_c]\nengine: random\noptions: {search_size: 5}\nconstraints:\n'
    cat "$folder/c.yaml"
} >"$folder/spec.yaml"
for command in check run; do
    check "dse $command" code 2 "$DSE" $command "$folder/spec.yaml"
    check "dse $command names both lines" says 'spec.yaml:10: GlobalBuffer: spatial C=2 contradicts C=4 on line 8'
done
sed -i '$d' "$folder/spec.yaml"
printf 'axes:\n  constraints:\n    two: [{target: GlobalBuffer, type: spatial, factors: C=2}]\n    same: []\n' >>"$folder/spec.yaml"
check 'a named list replaces' code 0 "$DSE" check "$folder/spec.yaml"
echo '- {target: DRAM, type: bypass, bypass: [Outputs]}' >"$folder/d.yaml"
check 'constraints' code 2 "$DSE" map simba resnet50 -l conv2_0_c -e random -o search_size=5 -c "$folder/d.yaml"
check 'say so' says 'd.yaml:1: DRAM is the outermost level: every tensor lies there, Outputs cannot be bypassed'
finish
