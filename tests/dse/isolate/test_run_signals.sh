#!/bin/sh
# Signals end what runs soon, with exit code 130 and without half files; a sweep resumes.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# interrupted SIGNAL COMMAND...: the command, sent SIGNAL after a second (or $delay), ends within five with exit code 130
interrupted() {
    signal=$1
    shift
    # a non-interactive shell starts background jobs with SIGINT ignored, nohup with SIGHUP; env puts the default back
    env --default-signal=INT,HUP "$@" >"$folder/out" 2>"$folder/err" &
    job=$!
    sleep "${delay:-1}"
    kill -"$signal" $job
    start=$(date +%s)
    wait $job
    got=$?
    seconds=$(($(date +%s) - start))
    [ "$got" -eq 130 ] && [ "$seconds" -le 5 ] && return 0
    echo "exit code $got after $seconds s: $*"
    cat "$folder/err"
    return 1
}

cat >"$folder/long.yaml" <<'YAML'
experiment: long
architecture: simba
network: resnet50
layers: [conv2_0_a, conv2_0_b, conv2_0_c]
engine: random
options: {search_size: 0}
limits: {max_evaluations: 100000000}
axes:
  GlobalBuffer.capacity: [64 KiB, 128 KiB]
YAML
for signal in INT TERM USR1 HUP; do
    check "SIG$signal ends a run" interrupted $signal "$DSE" run "$folder/long.yaml" -o "$folder/long.h5"
    check "the cube is there after SIG$signal" code 0 "$DSE" status "$folder/long.h5"
done

# The search of a moment, then a simulation that takes longer than anyone waits.
cat >"$folder/noc.yaml" <<'YAML'
experiment: noc
architecture: simba_tablev
network: resnet50
layers: [conv1]
batch: 128
engine: random
options: {search_size: 0}
limits: {max_evaluations: 20}
measure: {noc: {max_steps: 0}}
axes:
  DRAM.bandwidth: [10 GB/s, 20 GB/s]
YAML
check 'SIGINT ends a run that simulates' interrupted INT "$DSE" run "$folder/noc.yaml" -j 1 -o "$folder/noc.h5"
check 'says that it resumes' grep -qx 'dse: interrupted with [0-9]* of [0-9]* points to go; the same command resumes' "$folder/err"
check 'without a row of what was simulated' test "$(wc -l <"$folder/noc.csv")" -eq 1

for signal in INT TERM; do
    check "SIG$signal ends dse sample" interrupted $signal "$DSE" sample simba resnet50 conv2_0_b -n 0 --max-draws 1000000000000 \
        -o "$folder/space.csv"
    check 'says so' grep -qx 'dse: interrupted' "$folder/err"
    check 'leaves no file' sh -c "! ls '$folder'/space.csv*"
done
check 'SIGINT ends dse sample that simulates' interrupted INT "$DSE" sample simba_tablev resnet50 conv1 -b 256 -n 1000000 -m noc \
    -o "$folder/space.csv"
check 'leaves no file either' sh -c "! ls '$folder'/space.csv*"
delay=0.3
check 'SIGINT ends dse calibrate' interrupted INT "$DSE" calibrate tpu_128x128 -j 1 -o "$folder/weights.yaml"
check 'without a file' sh -c "! ls '$folder'/weights.yaml*"

finish
