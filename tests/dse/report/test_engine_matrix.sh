#!/bin/sh
# What runs where: every engine, machine and network has an answer, the one of `dse map`, and docs/engines.md has the table of today.
# Tests: engine_matrix.c, engine_matrix_print.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
: "${PYTHON:?set PYTHON to an interpreter}"

says() {
    grep -qF -- "$1" "$folder/out"
}
# rows EXPRESSION: of $folder/out as CSV, the expression over `rows` is true
rows() {
    "$PYTHON" -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert '"$1"', rows[:3]' "$folder/out"
}
# count WHAT: how many `dse list` knows
count() {
    "$DSE" list "$1" | tail -n +3 | wc -l
}

check 'the overview' code 0 "$DSE" list engines --matrix
check 'has a machine' grep -q '^simba  *ok ' "$folder/out"
check 'has a network' grep -q '^resnet50  *ok ' "$folder/out"
# A GPU is none of Interstellar's machines: a refusal of principle.
check 'has a reason' grep -q '^ *[0-9]*  accounting interstellar does not price architecture .*: it is a GPU' "$folder/out"
check 'as CSV' code 0 "$DSE" list engines --matrix --format csv
check 'every engine has every answer' rows \
    "len(rows) == $(count engines) * ($(count architectures) + $(count networks)) and len({r['engine'] for r in rows}) == $(count engines)"
check 'ok has no reason, a refusal one' rows 'all((r["status"] == "ok") == (r["reason"] == "") for r in rows)'
check 'a network is taken somewhere' rows 'all(r["architecture"] for r in rows if r["network"])'
check 'descent takes all' rows 'all(r["status"] == "ok" for r in rows if r["engine"] == "descent")'
check 'as JSON' code 0 "$DSE" list engine exhaustive --matrix -N lstm_m -f json
check 'with a row for each machine' sh -c "test \$($PYTHON -c 'import json, sys
print(len(json.load(sys.stdin)[\"rows\"]))' <'$folder/out') -eq $(count architectures)"

# One combination: who takes it, and for the others the words with which dse map ends.
check 'one combination' code 0 "$DSE" list engines --matrix -A mindmappings -N vgg16
check 'its name' says 'mindmappings, vgg16'
check 'who takes it' grep -q '^  ok  .*random.*descent' "$folder/out"
check 'and who does not' grep -q '^  refused  exhaustive$' "$folder/out"
check 'dse map' code 2 "$DSE" map mindmappings vgg16 -e exhaustive
reason=$(sed 's/^dse: //' "$folder/err")
check 'once more' code 0 "$DSE" list engine exhaustive --matrix -A mindmappings -N vgg16
check 'in the words of dse map' says "$reason"
check 'a machine and two networks' code 0 "$DSE" list engine mm-random --matrix -A mindmappings_banks -N resnet50 -N mindmappings_vgg_conv2 -f csv
check 'two answers' rows '[(r["network"], r["status"]) for r in rows] == [("resnet50", "refused"), ("mindmappings_vgg_conv2", "ok")]'
check 'another accounting' code 0 "$DSE" list engines --matrix -A simba -N lstm_m -a interstellar -f csv
check 'is asked about' rows '{r["engine"]: r["reason"] for r in rows}["exhaustive"].startswith("engine exhaustive cannot be priced by")'
check 'and taken' rows '{r["engine"]: r["status"] for r in rows}["descent"] == "ok"'

# Pairs: each taken by itself, not together; dse check has the sentence of the matrix.
check 'a pair' code 0 "$DSE" list engine descent --matrix -A mindmappings_mttkrp_banks -N vgg16 -f csv
check 'is refused' rows '[r["status"] for r in rows] == ["refused"] and "has no such tensor" in rows[0]["reason"]'
reason=$("$PYTHON" -c 'import csv, sys; print(next(csv.DictReader(sys.stdin))["reason"])' <"$folder/out")
printf 'experiment: pair\nengine: descent\narchitecture: mindmappings_mttkrp_banks\nnetwork: vgg16\n' >"$folder/pair.yaml"
check 'a sweep of it' code 1 "$DSE" check "$folder/pair.yaml"
check 'in the same words' says "$reason"

# What --set changes: PEs in rows are none of Mind Mappings' machines.
check 'a parameter and a quantity' code 0 "$DSE" list engine soma --matrix -A soma_edge -N gpt2 --set network.blocks=1 --set 'DRAM.bandwidth=1 GB/s' -f csv
check 'are taken' rows '[r["status"] for r in rows] == ["ok"]'
check 'another mesh' code 0 "$DSE" list engine mm-random --matrix -A mindmappings_banks -N mindmappings_vgg_conv2 --set PE.mesh=16x16 -f csv
check 'is refused' rows '[r["status"] for r in rows] == ["refused"] and "in one row" in rows[0]["reason"]'
check 'no such parameter' code 2 "$DSE" list engines --matrix -A simba -N vgg16 --set network.sequence=9
check 'is told' grep -q 'no parameter sequence' "$folder/err"
check 'no such quantity' code 2 "$DSE" list engines --matrix -A simba -N vgg16 --set GBF.capacity=9
check 'is told' grep -q 'simba.yaml has no quantity "GBF.capacity"' "$folder/err"
check 'of no machine' code 2 "$DSE" list engines --matrix -N vgg16 --set 'DRAM.bandwidth=1 GB/s'
check 'is told' grep -q -- 'say with --architecture of which machine' "$folder/err"
check 'of no network' code 2 "$DSE" list engines --matrix --set network.sequence=9
check 'is told' grep -q -- 'say with --network of which network' "$folder/err"

check 'no such machine' code 2 "$DSE" list engines --matrix -A simbaa
check 'is told' grep -q 'did you mean simba' "$folder/err"
check 'no such engine' code 2 "$DSE" list engine somaa --matrix
check 'no such accounting' code 2 "$DSE" list engines --matrix -a timelop
check 'without --matrix' code 2 "$DSE" list engines -A simba
check 'is told' grep -q -- '--architecture belongs to dse list engines --matrix' "$folder/err"
check 'of networks' code 2 "$DSE" list networks --matrix
check 'is told' grep -q -- '--matrix belongs to dse list engines$' "$folder/err"

check 'docs/engines.md is of today' scripts/write-engine-matrix --check "$DSE" docs/engines.md
sed 's/^| `random`.*/| `random` | none | none |/' docs/engines.md >"$folder/engines.md"
check 'a page of yesterday' sh -c "! scripts/write-engine-matrix --check '$DSE' '$folder/engines.md' 2>'$folder/err'"
check 'is told' grep -q 'run make engine-matrix' "$folder/err"
finish
