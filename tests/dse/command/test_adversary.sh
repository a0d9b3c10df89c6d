#!/bin/sh
# What an unlucky user does to a sweep: no result of one specification gets among those of another, none is lost without a word.
# Tests: command_run.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# One point takes half a minute, the others next to nothing.
cat >"$folder/long.yaml" <<'YAML'
experiment: long
architecture: simba
network: alexnet
layers: [conv1]
engine: drill
axes:
  option.work: [0, 30]
  seed: [1, 2, 3, 4]
skip: [{option.work: 30, seed: [2, 3, 4]}]
YAML
sed 's/^skip.*/only: [{option.work: 0}]/' "$folder/long.yaml" >"$folder/short.yaml"
sed 's/^engine/batch: 4\nengine/' "$folder/long.yaml" >"$folder/other.yaml"

# rows FILE: how many there are
rows() {
    echo $(($(wc -l <"$1") - 1))
}
# killed N FILE OUT COMMAND...: kill -9 to the command when there is FILE, and N rows in OUT.csv
killed() {
    wanted=$1 file=$2 table=$3.csv
    shift 3
    "$@" >"$folder/out" 2>"$folder/err" &
    job=$!
    for _ in $(seq 200); do
        [ -e "$file" ] && [ "$(rows "$table")" -ge "$wanted" ] && break
        sleep 0.1
    done
    kill -9 $job
    wait $job 2>/dev/null
    [ "$(rows "$table")" -ge "$wanted" ] && return 0
    cat "$folder/err"
    return 1
}

# A run that was killed had moved the rows of the old specification aside and written some of the new one: the cube beside them must
# not be the old one, since a merge takes the rows for what the cube says.
check 'a sweep is begun' killed 4 "$folder/a.csv" "$folder/a" "$DSE" run "$folder/long.yaml" -o "$folder/a.h5" -j 2
cp "$folder/a.h5" "$folder/b.h5" && cp "$folder/a.csv" "$folder/b.csv" && cp "$folder/a.layers.csv" "$folder/b.layers.csv"
check 'its specification changes' killed 4 "$folder/a.dropped.csv" "$folder/a" "$DSE" run "$folder/other.yaml" -o "$folder/a.h5" -j 2 --update
check 'the old rows are aside' test "$(rows "$folder/a.dropped.csv")" -eq 4
check 'no merge of the two' code 2 "$DSE" merge "$folder/m.h5" "$folder/a.h5" "$folder/b.h5"
check 'no merge in the other order' code 2 "$DSE" merge "$folder/m.h5" "$folder/b.h5" "$folder/a.h5"
check 'going back is refused' code 2 "$DSE" run "$folder/long.yaml" -o "$folder/a.h5" -j 2
check 'and what differs is said' grep -q 'batch: was 4' "$folder/err"

# A cube whose table is gone is the last copy of its points.
check 'a finished sweep' code 0 "$DSE" run "$folder/short.yaml" -o "$folder/c.h5"
cp "$folder/c.h5" "$folder/copy.h5"
rm "$folder/c.csv"
check 'without its table' code 2 "$DSE" run "$folder/short.yaml" -o "$folder/c.h5"
check 'says what is gone' grep -q 'holds 4 points, but its table .*c.csv is gone' "$folder/err"
check 'and keeps the cube' cmp "$folder/c.h5" "$folder/copy.h5"
check 'unless told so' code 0 "$DSE" run "$folder/short.yaml" -o "$folder/c.h5" --fresh
check 'with all points' test "$(rows "$folder/c.csv")" -eq 4
# Other axes make other columns: refused even with --update, with what differs.
sed 's/^only.*//; s/option.work: .0, 30./DRAM.bandwidth: [5 GB\/s, 10 GB\/s]/' "$folder/long.yaml" | grep -v skip >"$folder/axes.yaml"
cp "$folder/c.csv" "$folder/c.copy"
check 'other axes' code 2 "$DSE" run "$folder/axes.yaml" -o "$folder/c.h5" --update
check 'are named' grep -q 'axis DRAM.bandwidth' "$folder/err"
check 'and nothing is touched' cmp "$folder/c.csv" "$folder/c.copy"

# A folder is no name for results: nothing is written there under a name that nobody finds.
mkdir "$folder/results"
for out in "$folder/results/" "$folder/results/." "$folder/results/.." .; do
    check "-o $out" code 2 "$DSE" run "$folder/short.yaml" -o "$out"
    check 'says so' grep -q 'is a folder; a file in it is expected' "$folder/err"
done
check 'and leaves nothing' test -z "$(ls -A "$folder/results")"

# The terminal is closed under nohup; nobody reads the messages: the sweep goes on.
cat >"$folder/slow.yaml" <<'YAML'
experiment: slow
architecture: simba
network: alexnet
layers: [conv1]
engine: drill
options: {work: 0.2}
axes:
  seed: [1, 2, 3, 4]
YAML
nohup "$DSE" run "$folder/slow.yaml" -o "$folder/nohup.h5" -j 1 >"$folder/out" 2>&1 &
job=$!
sleep 0.3
kill -HUP $job
check 'SIGHUP under nohup is ignored' wait $job
check 'so all points are there' test "$(rows "$folder/nohup.csv")" -eq 4
sed 's/work: 0.2/fault: abort, fault_every: 2/' "$folder/slow.yaml" >"$folder/abort.yaml"
("$DSE" run "$folder/abort.yaml" -o "$folder/pipe.h5" -j 1 2>&1; echo $? >"$folder/code") | true
check 'a closed pipe ends nothing' test "$(cat "$folder/code")" -eq 1
check 'and loses nothing' test "$(rows "$folder/pipe.csv")" -eq 4
finish
