#!/bin/sh
# dse status of finished, running, stopped, killed and damaged outputs, alone and as shards; the event log of dse run.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
# shellcheck source=tests/dse/command/long_sweep.sh
. tests/dse/command/long_sweep.sh

cat >"$folder/small.yaml" <<'YAML'
experiment: small
architecture: simba
network: resnet50
layers: [conv2_0_a]
engine: random
limits: {max_evaluations: 50}
set: {GlobalBuffer.block: 1 word}
axes:
  GlobalBuffer.capacity: [1 B, 64 KiB, 128 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
  batch: [1, 2]
YAML
# says PATTERN: the last output has such a line
says() { grep -q -- "$1" "$folder/out" || { cat "$folder/out" && return 1; }; }
says_not() { ! says "$1" >/dev/null; }

# ---- one output
check 'run' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" --log-json "$folder/log.jsonl"
check 'failures are said once' test "$(grep -c infeasible "$folder/err")" -eq 2
check 'status' code 0 "$DSE" status "$folder/small.h5"
check 'is complete' says '^state        complete$'
check 'counts' says '^points       12 of 12$'
check 'by outcome' says '^  infeasible 4$'
check 'by reason' says '^  4 infeasible  layer conv2_0_a: GlobalBuffer needs [0-9]* B .*has 1 B$'
check 'the best' says '^Best edp_js so far: .* at GlobalBuffer.capacity=.* batch=1$'
check 'nobody writes' says_not '^by '
check 'no single points' says_not '^infeasible GlobalBuffer'
check 'single points' code 0 "$DSE" status "$folder/small.csv" --list 3
check 'the first three' test "$(grep -c '^infeasible GlobalBuffer.capacity=1 B' "$folder/out")" -eq 3
check 'and one more' says '^\.\.\. and 1 more$'
check 'by an axis' code 0 "$DSE" status "$folder/small.h5" --by GlobalBuffer.capacity --metric latency_s
check 'a line for each value, in order' sh -c "sed -n '/^Best/,\$p' '$folder/out' | grep -o '^ *[0-9]* [KM]*i*B ' | tr -s ' \n' ' ' | grep -qx ' 1 B 64 KiB 128 KiB '"
check 'of which one has none' says ' 1 B  *-  no point is ok$'
check 'the others have' says '128 KiB .*s  DRAM.bandwidth=.* batch=[12]$'
check 'by two axes' code 0 "$DSE" status "$folder/small.h5" --by batch --by DRAM.bandwidth_byte_per_s
check 'a line for each pair' test "$(grep -c 'J s  GlobalBuffer.capacity=' "$folder/out")" -eq 4
check 'unknown axis' code 2 "$DSE" status "$folder/small.h5" --by batches
check 'names the near one' grep -q 'did you mean batch?' "$folder/err"
check 'unknown metric' code 2 "$DSE" status "$folder/small.h5" --metric edp
check 'nothing best' code 2 "$DSE" status "$folder/small.h5" --metric n_mac
check 'no column' code 2 "$DSE" status "$folder/small.h5" --metric noc_latency_cycle
check 'not there' code 2 "$DSE" status "$folder/nothing.h5"
echo 'a,b' >"$folder/odd.csv"
check 'no journal' code 2 "$DSE" status "$folder/odd.h5"
mkdir "$folder/dir.csv"
check 'a folder' code 2 "$DSE" status "$folder/dir.h5"
check 'json' code 0 "$DSE" status "$folder/small.h5" -f json --by batch
check 'is one line' test "$(wc -l <"$folder/out")" -eq 1
check 'of JSON' "$PYTHON" - "$folder/out" <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
(out,) = s["outputs"]
assert out["state"] == "complete" and out["points"] == out["expected"] == 12 and out["ok"] == 8, out
assert s["total"]["infeasible"] == 4 and s["reasons"][0]["points"] == 4, s
assert [b["by"]["batch"] for b in s["best"]] == ["1", "2"] and all(b["points"] == 6 for b in s["best"]), s
PY

# ---- what is not as it should be
for ending in csv layers.csv; do cp "$folder/small.$ending" "$folder/bare.$ending"; done
check 'without the cube' code 0 "$DSE" status "$folder/bare.h5"
check 'it is not known how many there are to be' says '^points       12$'
check 'places are as in the table' says 'e.g. GlobalBuffer.capacity_byte=1 DRAM'
cp "$folder/small.h5" "$folder/bare.h5"
printf 'torn' >>"$folder/bare.csv"
check 'a torn line' code 0 "$DSE" status "$folder/bare.h5"
check 'is no point' says '^points       12 of 12$'
sed -i '5s/ok/oK/;8s/[0-9]/x/' "$folder/bare.csv"
check 'damaged lines' code 0 "$DSE" status "$folder/bare.h5"
check 'are counted' sh -c "grep -Eq '^damaged      [12] lines?, the first is line [58]; ' '$folder/out'"
: >"$folder/empty.csv"
check 'an empty table' code 0 "$DSE" status "$folder/empty.h5"
check 'has no points' says '^points       0$'
cp "$folder/small.h5" "$folder/foreign.h5"
head -1 "$folder/small.csv" | sed 's/DRAM/RAM/' >"$folder/foreign.csv"
check 'a table of another sweep beside the cube' code 0 "$DSE" status "$folder/foreign.csv"

# ---- shards
for k in 1 2 3; do
    check "shard $k" code 0 "$DSE" run "$folder/small.yaml" -o "$folder/part.h5" --shard $k/3
done
check 'status of shards' code 0 "$DSE" status "$folder/part.1-of-3.h5" "$folder/part.2-of-3.csv" "$folder/part.3-of-3.h5"
check 'one line each' test "$(grep -c 'of-3.* complete$' "$folder/out")" -eq 3
check 'a total' says '^total .* 12/12 .* complete$'
check 'reasons of all' says '^  4 infeasible  layer'
check 'one is not there' code 0 "$DSE" status "$folder/part.1-of-3.h5" "$folder/part.2-of-3.h5" "$folder/part.4-of-3.h5"
check 'and is shown so' says '4-of-3.h5 .*not there$'
check 'none is there' code 2 "$DSE" status "$folder/no1.h5" "$folder/no2.h5"
check 'merge' code 0 "$DSE" merge "$folder/part.h5" "$folder/part.1-of-3.h5" "$folder/part.2-of-3.h5" "$folder/part.3-of-3.h5"
check 'status of what is merged' code 0 "$DSE" status "$folder/part.h5"
check 'has all' says '^points       12 of 12$'

# ---- a run in progress, killed, resumed
"$DSE" run "$folder/long.yaml" -o "$folder/long.h5" -j 1 --log-json "$folder/long.jsonl" >"$folder/long.out" 2>&1 &
run=$!
three() { [ "$(grep -c '"event":"point"' "$folder/long.jsonl")" -ge 3 ]; }
check 'it gets on' until_ 20 three
check 'status of a running sweep' code 0 "$DSE" status "$folder/long.h5"
check 'runs' says '^state        running$'
check 'says who' says '^by           process [0-9]* on .* since 20.* UTC, .* ago$'
check 'says the command' says '^command      dse run .*long.yaml'
check 'of how many' says '^points       [0-9]* of 400$'
check 'how fast and how long' says '^rate         .* points/.*, about .* to go$'
check 'beside a finished one' code 0 "$DSE" status "$folder/long.h5" "$folder/small.h5"
check 'in one table' says 'long.h5 .*/400 .* points/.* running on .* since'
kill -KILL $run
wait $run 2>/dev/null
check 'killed' until_ 5 sh -c "'$DSE' status '$folder/long.h5' | grep -q '^state        killed$'"
check 'says so' code 0 "$DSE" status "$folder/long.h5"
check 'by whom' says '^was run by   process .*, which is gone; the same command resumes$'
rows=$(($(wc -l <"$folder/long.csv") - 1)) told=$(grep -c '"event":"point"' "$folder/long.jsonl")
check 'the log lacks at most the points of a moment' test $((rows - told)) -le 2 -a $((told - rows)) -le 2
rm -f "$folder/long.lock"
check 'without the lock' code 0 "$DSE" status "$folder/long.h5"
check 'it is stopped' says '^state        stopped$'
env --default-signal=INT "$DSE" run "$folder/long.yaml" -o "$folder/long.h5" -j 1 --log-json "$folder/long.jsonl" >"$folder/long.out" 2>&1 &
run=$!
twice() { [ "$(grep -c '"event":"run_begin"' "$folder/long.jsonl")" -eq 2 ]; }
check 'it goes on in the same log' until_ 20 twice
sleep 1
kill -INT $run
wait $run
check 'and ends' test $? -eq 130
check 'every line is JSON, in order' "$PYTHON" - "$folder/long.jsonl" $((told - rows)) <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
names = [e["event"] for e in events]
assert names.count("run_begin") == 2 and names.count("run_end") == 1 and names[-1] == "run_end", names
begin = [e for e in events if e["event"] == "run_begin"]
assert begin[0]["reused"] == 0 and begin[1]["reused"] > 0 and begin[0]["run"] != begin[1]["run"], begin
end = events[-1]
assert end["exit"] == "interrupted" and end["signal"] == "SIGINT" and end["exit_code"] == 130, end
second = [e for e in events if e["run"] == begin[1]["run"] and e["event"] == "point"]
assert len(second) == end["ok"] and all(1 <= e["point"] <= 400 for e in second), end
# A row is on the disk a tenth of a second after its event: only points told without a row when kill -9 came are told again.
twice = {e["point"] for e in second} & {e["point"] for e in events if e["event"] == "point" and e["run"] == begin[0]["run"]}
assert len(twice) <= max(0, int(sys.argv[2])), twice
assert [e["time"] for e in events] == sorted(e["time"] for e in events)
PY

# ---- the log of a finished run, and none
check 'log of a whole run' "$PYTHON" - "$folder/log.jsonl" "$folder/small.csv" <<'PY'
import csv, json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
rows = {(r["GlobalBuffer.capacity_byte"], r["DRAM.bandwidth_byte_per_s"], r["batch"]): r for r in csv.DictReader(open(sys.argv[2]))}
points = [e for e in events if e["event"] == "point"]
assert sorted(e["point"] for e in points) == list(range(1, 13))
for e in points:
    r = rows[tuple(str(v) for v in e["coordinates"].values())]
    assert r["status"] == e["status"] and r["reason"] == e.get("reason", "")
    assert r["edp_js"] == "" and "edp_js" not in e or float(r["edp_js"]) == e["edp_js"]
assert events[0]["event"] == "run_begin" and events[-1]["exit"] == "done" and any(e["event"] == "cube" for e in events)
PY
check 'a log that cannot be written' code 2 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" --log-json "$folder/no/such/log"
check 'a result file as log' code 2 "$DSE" run "$folder/small.yaml" -o "$folder/small.h5" --log-json "$folder/small.csv"
check 'a full disk for the log only' code 0 "$DSE" run "$folder/small.yaml" -o "$folder/full.h5" --log-json /dev/full
check 'is said once' test "$(grep -c 'event log cannot be written' "$folder/err")" -eq 1

finish
