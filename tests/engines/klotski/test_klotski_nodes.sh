#!/bin/sh
# Tests: node_pricer.c. Klotski's engines on machines that are nodes of a mesh, through the commands: text read back, axes, threads, refusals.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}
is() { # a row of `dse eval -f csv`
    "$DSE" eval simba mobilenet_v1 "$folder/plan.yaml" --set noc.mesh=2x2 -f csv | grep -qx "$1"
}

cat >"$folder/small.yaml" <<'YAML'
network: small
input: {C: 16, H: 14, W: 14}
layers:
- {name: a, type: conv, C: 16, K: 32, P: 14, Q: 14, R: 3, S: 3, pad: 1, from: input}
- {name: b, type: conv, C: 32, K: 64, P: 14, Q: 14, R: 1, S: 1, from: a}
YAML

check 'a schedule of nodes' code 0 "$DSE" map simba mobilenet_v1 -e tangram --set noc.mesh=2x2 -f yaml
cp "$folder/out" "$folder/plan.yaml"
cycles=$(sed -n 's/.*: \([0-9,]*\) cycles$/\1/p;q' "$folder/plan.yaml" | tr -d ,)
check 'is read back with its cycles' is "cycles,$cycles"
for report in uops edges networks links; do
    check "report $report" code 0 "$DSE" eval simba mobilenet_v1 "$folder/plan.yaml" --set noc.mesh=2x2 -r $report -f csv
done
check 'lists for another mesh' code 2 "$DSE" eval simba mobilenet_v1 "$folder/plan.yaml"
check 'are refused with their line' says "plan.yaml:$(($(grep -n '^cores:' "$folder/plan.yaml" | cut -d: -f1) + 1)): there are lists for 4 cores, and the machine has 1 x 1"
check 'a timeline of it' code 0 "$DSE" eval simba mobilenet_v1 "$folder/plan.yaml" --set noc.mesh=2x2 --timeline "$folder/timeline.csv"

# Meshes, links and memories are axes; threads change nothing.
cat >"$folder/sweep.yaml" <<YAML
experiment: nodes
network: $folder/small.yaml
objective: latency
options: {transport: links, memory: dram}
axes:
  architecture: [simba, eyeriss_12x14, mindmappings_banks]
  engine: [klotski, atomic]
  noc.mesh: [1x1, 2x2]
  noc.flit: [64 bit, 512 bit]
YAML
for threads in 1 3; do
    check "a sweep on $threads threads" code 0 "$DSE" run "$folder/sweep.yaml" -j $threads -o "$folder/sweep$threads.csv"
done
python3 - "$folder/sweep1.csv" "$folder/sweep3.csv" <<'PY'
import csv, sys
def rows(path):
    with open(path) as file:
        table = list(csv.DictReader(line for line in file if not line.startswith("#")))
    drop = [c for c in table[0] if "seconds" in c or c == "checksum"]
    return sorted(tuple((k, v) for k, v in row.items() if k not in drop) for row in table), table
one, table = rows(sys.argv[1])
three, _ = rows(sys.argv[2])
assert len(one) == 24 and one == three
assert table[0]["accounting"] == "maestro-kc-quick"
assert all(row["status"] == "ok" for row in table)
PY
check 'has the same rows' test $? = 0

check 'a GPU' code 2 "$DSE" map k80 "$folder/small.yaml" -e klotski
check 'is none' says 'k80 is no accelerator of a mesh for uops: it is a GPU'
check 'nor what keeps tensors by name' code 2 "$DSE" map mindmappings_mttkrp_banks "$folder/small.yaml" -e tangram
check 'which is said' says 'keeps tensors by name alone'
printf 'experiment: refused\narchitecture: k80\nnetwork: resnet18\nengine: klotski\n' >"$folder/refused.yaml"
check 'dse check says so, too' code 1 "$DSE" check "$folder/refused.yaml"
check 'before the sweep' grep -qF 'k80 is no accelerator of a mesh for uops: it is a GPU' "$folder/out"
finish
