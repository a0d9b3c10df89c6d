#!/bin/sh
# What the engine soma finds, soma-plus finds at the same seed, in a sweep: also without walks of its own.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/both.yaml" <<'END'
experiment: both
axes:
  architecture: [experiments/architectures/soma_edge.yaml]
  network: [experiments/networks/gpt2_small_prefill512.yaml, experiments/networks/randwire_small.yaml]
  GBUF.capacity: [4 MiB]
  DRAM.bandwidth: [4 GB/s]
  engine: [soma, soma-plus]
  seed: [1, 2, 3]
options:
  compat: 1
  soma-plus: {rounds: 0, polish: 0, dlsa_rounds: 0}
END
check 'both engines' code 0 "$DSE" run "$folder/both.yaml" -o "$folder/both.h5"
check 'none is worse than soma' "${PYTHON:-python3}" -c '
import csv, sys
cost = {(r["network"], r["seed"], r["engine"]): float(r["edp_js"]) for r in csv.DictReader(open(sys.argv[1]))}
assert len(cost) == 12
for (network, seed, engine), value in cost.items():
    assert value <= cost[network, seed, "soma"], (network, seed, value)
' "$folder/both.csv"
check 'and all are placed' "${PYTHON:-python3}" -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 12 and all(r["placed"] == "1" and r["n_split_tensor"].isdigit() for r in rows)
' "$folder/both.csv"

finish
