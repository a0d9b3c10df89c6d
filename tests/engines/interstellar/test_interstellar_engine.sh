#!/bin/sh
# What the engine says is optimal no mapper undercuts, no answer is below its bound, and where nothing is proved a local search makes
# the best of it: 1.9 times descent's energy on simba without it. Limits leave an answer.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

cat >"$folder/s.yaml" <<'END'
experiment: mappers
objective: energy
layers: [conv1, conv2_dw, conv3_pw, conv7_pw, fc]
limits: {max_evaluations: 8000}
axes:
  engine: [interstellar, descent]
  accounting: [interstellar, interstellar-compat]
  network: [mobilenet_v1]
  architecture: [simba, eyeriss_16x16, tpu_128x128]
END
check 'a sweep' code 0 "$DSE" run "$folder/s.yaml" -o "$folder/s.h5"
cat >"$folder/compare.py" <<'END'
import csv, sys
table = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["status"] == "ok" and float(row["energy_j"]) > 0:
        key = tuple(row[name] for name in ("accounting_chosen", "architecture", "network", "layer"))
        table.setdefault(key, {})[row["engine"]] = row
proved = {"interstellar": 0, "interstellar-compat": 0}
for key, row in table.items():
    least, other = float(row["interstellar"]["energy_j"]), float(row["descent"]["energy_j"])
    assert all(float(r["bound_energy_ratio"]) >= 1 - 1e-12 for r in row.values()), (key, "below its bound")
    if row["interstellar"]["stop"] == "optimal":
        proved[key[0]] += 1
        assert least <= other * (1 + 1e-12), (key, least, other)
    elif key[1] == "simba":
        assert least <= 1.03 * other, (key, least, other)
assert proved == {"interstellar": 15, "interstellar-compat": 10}, proved
END
check 'answers of both' python3 "$folder/compare.py" "$folder/s.layers.csv"

# Storages that share banks: proofs hold there, too, and the mapping read back is the one priced.
cat >"$folder/banks.yaml" <<'END'
experiment: banks
objective: energy
accounting: interstellar
layers: [conv7_pw, conv14_pw, fc]
limits: {max_evaluations: 8000}
axes:
  engine: [interstellar, descent, hybrid]
  network: [mobilenet_v1]
  architecture: [mindmappings_banks]
  PrivateBuffer.bank: [32 B, 256 B]
END
check 'a sweep over banks' code 0 "$DSE" run "$folder/banks.yaml" -o "$folder/banks.h5"
cat >"$folder/banks.py" <<'END'
import csv, sys
table = {}
for row in csv.DictReader(open(sys.argv[1])):
    assert row["status"] == "ok" and float(row["bound_energy_ratio"]) >= 1 - 1e-12, row
    table.setdefault((row["PrivateBuffer.bank_byte"], row["layer"]), {})[row["engine"]] = row
assert len(table) == 6
for key, row in table.items():
    least = float(row["interstellar"]["energy_j"])
    assert row["interstellar"]["stop"] == "optimal", key
    assert all(least <= float(r["energy_j"]) * (1 + 1e-12) for r in row.values()), (key, least)
END
check 'answers on banks' python3 "$folder/banks.py" "$folder/banks.layers.csv"
"$DSE" map mindmappings_banks mobilenet_v1 -e interstellar -O energy --layer fc -f yaml >"$folder/fc.yaml"
check 'a mapping on banks, read back' code 0 \
    "$DSE" eval mindmappings_banks mobilenet_v1:fc "$folder/fc.yaml" --accounting interstellar
check 'at the same energy' grep -q '^  energy  *218 uJ' "$folder/out"

# A DRAM of 30 GB/s: least EDP and latency are proved, too.
for objective in edp latency; do
    for engine in interstellar descent; do
        "$DSE" map tpu_128x128 mobilenet_v1 -l conv3_pw -l fc -e $engine -a interstellar -O $objective -n 3000 -f csv |
            grep '^total' >"$folder/$engine.$objective"
    done
    check "$objective is proved" grep -q ',optimal,' "$folder/interstellar.$objective"
    column=7; [ $objective = latency ] && column=5
    check "and not above another's" awk -F, -v c=$column 'NR == FNR {least = $c; next} {exit !(least <= $c * (1 + 1e-12))}' \
        "$folder/interstellar.$objective" "$folder/descent.$objective"
done

# A depthwise layer has no C to unroll, the others have; other mappers may only not unroll another loop.
echo '- {target: GlobalBuffer, type: spatial, dataflow: C|K}' >"$folder/ck.yaml"
check 'a dataflow that one layer lacks' code 1 "$DSE" map eyeriss_16x16 mobilenet_v1 -l conv3_pw -l conv2_dw -l fc -e interstellar -a interstellar \
    -O energy -c "$folder/ck.yaml" -f csv
check 'which is infeasible' grep -q '^conv2_dw,.*infeasible' "$folder/out"
check 'and says why' grep -q 'conv2_dw: the dataflow asked for unrolls loop C, which has one iteration' "$folder/err" "$folder/out"
check 'the others are proved' test "$(grep -c '^conv3_pw,.*,optimal,\|^fc,.*,optimal,' "$folder/out")" = 2
check 'another mapper' code 0 "$DSE" map eyeriss_16x16 mobilenet_v1 -l conv3_pw -l conv2_dw -e descent -n 500 -a interstellar -O energy -c "$folder/ck.yaml"

# Its blockings are two million and more, and one step of the proof takes seconds.
cat >"$folder/large.yaml" <<'END'
network: large
kind: layers
layers:
- {name: factors, type: conv, C: 2520, K: 2520, P: 1260, Q: 1260, R: 3, S: 3}
END
check 'too large a space' code 1 "$DSE" map simba "$folder/large.yaml" -b 16 -e interstellar -a interstellar
check 'says what to take' grep -q 'too large for engine interstellar.*take descent' "$folder/err" "$folder/out"
cat >"$folder/hurry.yaml" <<'END'
experiment: hurry
engine: interstellar
architecture: mindmappings
network: vgg16
layers: [conv1_2]
batch: 7
limits: {max_seconds: 0.001}
END
check 'no time' code 0 "$DSE" run "$folder/hurry.yaml" -o "$folder/hurry.h5"
check 'gives an answer' grep -q '^ok,.*,max_seconds,' "$folder/hurry.csv"
check 'one evaluation' code 0 "$DSE" map simba vgg16 -l conv1_2 -e interstellar -n 1 -f csv
check 'is one' sh -c "grep '^conv1_2,1,ok,' '$folder/out' | cut -d, -f11 | grep -qx 1"
finish
