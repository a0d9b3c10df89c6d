#!/bin/sh
# dse watch: ends with the run, or by a signal; on a terminal in place; what was read is not read again.
# Tests: sweep_follow.c, status_report.c, status_json.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
# shellcheck source=tests/dse/command/long_sweep.sh
. tests/dse/command/long_sweep.sh

# ends CODE JOB: the background job ends by itself within 10 s
ends() {
    until_ 10 sh -c "! kill -0 $2 2>/dev/null || grep -q '^State:.*Z' /proc/$2/status" || return 1
    wait "$2"
    got=$?
    [ "$got" -eq "$1" ] || { echo "exit code $got" && return 1; }
}

"$DSE" run "$folder/long.yaml" -o "$folder/long.h5" -j 1 >"$folder/run.out" 2>&1 &
run=$!
check 'it runs' until_ 20 sh -c "'$DSE' status '$folder/long.h5' | grep -q '^points *[1-9]'"
"$DSE" watch "$folder/long.h5" --interval 0.2 --by batch >"$folder/watch.out" 2>"$folder/watch.err" &
watch=$!
env --default-signal=INT "$DSE" watch "$folder/long.csv" -n 0.2 -f json >"$folder/int.out" 2>&1 &
second=$!
# A terminal needs /dev/pts, which a bare chroot has not.
script -qec true /dev/null </dev/null >/dev/null 2>&1 && terminal=yes || terminal=no
[ $terminal = no ] || env --default-signal=INT script -qec "'$DSE' watch '$folder/long.h5' -n 0.2" /dev/null </dev/null >"$folder/terminal.out" 2>&1 &
third=$!
blocks() { [ "$(grep -c '^state ' "$folder/watch.out")" -ge 4 ] && [ "$(wc -l <"$folder/int.out")" -ge 4 ]; }
check 'there are blocks' until_ 20 blocks
kill -INT $second
check 'SIGINT ends watching with exit code 0' ends 0 $second
check 'not the run' kill -0 $run
check 'it is JSON, a line each' "$PYTHON" - "$folder/int.out" <<'PY'
import json, sys
looks = [json.loads(line) for line in open(sys.argv[1])]
n = [look["outputs"][0]["points"] for look in looks]
assert len(looks) >= 4 and n == sorted(n) and looks[-1]["outputs"][0]["state"] == "running", n
PY
kill -TERM $run
wait $run
check 'the run is told to end' test $? -eq 130
check 'then watching ends' ends 0 $watch
[ $terminal = no ] || check 'also on a terminal' ends 0 $third
check 'the last block says so' sh -c "grep '^state ' '$folder/watch.out' | tail -1 | grep -q 'stopped$'"
check 'it ran before' grep -q '^state        running$' "$folder/watch.out"
check 'with the best of each value' grep -q '^ *[12] .*J s  seed=' "$folder/watch.out"
check 'no terminal codes in a file' sh -c "! grep -q '$(printf '\033')' '$folder/watch.out'"
[ $terminal = no ] || check 'terminal codes on a terminal' grep -q "$(printf '\033')\[H" "$folder/terminal.out"
[ $terminal = no ] || check 'and the same lines' grep -q 'state        running' "$folder/terminal.out"

check 'of what has ended there is one block' code 0 "$DSE" watch "$folder/long.h5" --interval 0.1
check 'only one' test "$(grep -c '^state ' "$folder/out")" -eq 1
check 'no such output' code 2 "$DSE" watch "$folder/nothing.h5"
check 'an odd interval' code 2 "$DSE" watch "$folder/long.h5" --interval 0

# 30,000 rows are read once; one more is one more; a table that begins anew is read anew.
{
    head -1 "$folder/long.csv"
    i=0
    row=$(sed -n 2p "$folder/long.csv")
    while [ $i -lt 30000 ]; do
        echo "$row"
        i=$((i + 1))
    done
} >"$folder/big.csv"
"$DSE" watch "$folder/big.h5" "$folder/absent.h5" -n 0.1 -f json >"$folder/big.out" 2>&1 &
watch=$!
has() { grep -q "\"output\":\"$folder/big.h5\",\"state\":\"stopped\",\"points\":$1," "$folder/big.out"; }
check 'all rows' until_ 20 has 30000
before=$(sed -n 's/^rchar: //p' "/proc/$watch/io")
sed -n 2p "$folder/long.csv" | head -c 30 >>"$folder/big.csv"
sleep 1
check 'half a row is none' sh -c "! grep -q '\"points\":30001,' '$folder/big.out'"
sed -n 2p "$folder/long.csv" | tail -c +31 >>"$folder/big.csv"
check 'one row more' until_ 10 has 30001
after=$(sed -n 's/^rchar: //p' "/proc/$watch/io")
[ -z "$before" ] || check 'is all that is read' test $((after - before)) -lt 1000000
check 'which is little' test "$(wc -c <"$folder/big.csv")" -gt 6000000
sed -n "1p;2{p;p}" "$folder/long.csv" >"$folder/new.csv"
mv "$folder/new.csv" "$folder/big.csv"
check 'a table that begins anew' until_ 10 has 2
cp "$folder/long.csv" "$folder/absent.csv"
check 'nothing is awaited any more: it ends' ends 0 $watch

finish
