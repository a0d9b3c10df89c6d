#!/bin/bash
# dse slurm: what it refuses, what it prints, and that the script works: with stand-ins for sbatch and scontrol it is really run, told
# of its time limit, killed, cancelled, resumed and merged. `make check-slurm` does the same with a real Slurm.
# Tests: command_slurm.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
DSE=$(realpath "$DSE")
export TMPDIR="${folder:?}"
here="$folder/it's 1 #folder %A"
mkdir "$here"
cat >"$here/sweep one.yaml" <<'YAML'
experiment: slurm
architecture: simba
network: resnet50
layers: [conv1, fc]
engine: random
options: {search_size: 0}
limits: {max_evaluations: 3000}
axes:
  GlobalBuffer.capacity: [64 KiB, 128 KiB, 256 KiB]
  DRAM.bandwidth: [10 GB/s, 20 GB/s, 40 GB/s]
YAML
spec="$here/sweep one.yaml"

# ------------------------------------------------------------------------------------------------- what it refuses

# refused TEXT OPTION...: exit code 2, the text in the message, and no script
refused() {
    text=$1
    shift
    code 2 "$DSE" slurm "$spec" "$@" && grep -q -- "$text" "$folder/err" && [ ! -s "$folder/out" ] &&
        [ "$(wc -l <"$folder/err")" -eq 1 ] && return
    cat "$folder/err"
    return 1
}
check 'no number of nodes' refused 'needs --nodes'
check 'no nodes' refused 'from 1 to' --nodes 0
check 'more tasks than an array has' refused 'MaxArraySize' --nodes 1001
check 'more tasks than points' refused '10 tasks for 9 points' --nodes 10
check 'more at a time than there are' refused 'from 1 to 3' --nodes 3 --array-max 4
for time in 8h 1:2:3:4 1-24 0:60 1:60:00 '' : 1- -1 1-2-3 1:2-3 99999999999999999999 ' 5'; do
    check "time \"$time\"" refused 'hours:minutes:seconds' --nodes 2 --time "$time"
done
for memory in 64X G 64GB '' -1 1.5G; do
    check "memory \"$memory\"" refused 'a number with K, M, G or T' --nodes 2 --mem "$memory"
done
check 'partition' refused 'letters, digits' --nodes 2 --partition 'a b'
check 'account' refused 'letters, digits' --nodes 2 --account ''
check 'an option of sbatch without a dash' refused 'an option of sbatch' --nodes 2 --sbatch exclusive
for option in --array=1-3 -a1-3 --signal=USR2 --no-requeue '--nodes 3' -N3 -n4; do
    check "sbatch $option" refused 'not here' --nodes 2 --sbatch "$option"
done
check 'a second line' refused 'control characters' --nodes 2 --sbatch '--comment=a
rm -rf'
check 'a second line in the output' refused 'control characters' --nodes 2 -o 'a
b.h5'
check 'a run that begins anew' refused 'resumes after each restart' --nodes 2 --run --fresh
check 'a shard of its own' refused 'sets this itself' --nodes 2 --run=--shard=1/2
check 'an option that dse run has not' refused 'did you mean --jobs' --nodes 2 --run=--jbos=3
check 'a second operand for dse run' refused 'one too many' --nodes 2 --run other.yaml
check 'a folder that is not there' refused 'make it first' --nodes 2 -o "$here/none/out.h5"
check 'a backslash' refused 'backslash' --nodes 2 -o "$here/a\\b.h5"
check 'a quantity that is not there' refused 'no quantity' --nodes 2 --set Nothing.capacity=1
check 'a specification that is not there' code 2 "$DSE" slurm "$here/none.yaml" --nodes 2

# ------------------------------------------------------------------------------------------------- what it prints

# prints LINE OPTION...: this line, in good bash
prints() {
    line=$1
    shift
    code 0 "$DSE" slurm "$spec" -o "$here/out.h5" "$@" && bash -n "$folder/out" && grep -qxF -- "$line" "$folder/out" && return
    cat "$folder/err" "$folder/out"
    return 1
}
check 'a task for each node' prints '#SBATCH --array=1-4' --nodes 4
check 'with the whole node' prints '#SBATCH --exclusive' --nodes 4
check 'more tasks than nodes' prints '#SBATCH --array=1-8%4' --nodes 4 --tasks 8
check 'tasks that share nodes' prints '#SBATCH --array=1-8' --nodes 4 --tasks 8 --cpus 2
check 'with processors of their own' prints '#SBATCH --cpus-per-task=2' --nodes 4 --tasks 8 --cpus 2
check 'running tasks' prints '#SBATCH --array=1-8%3' --tasks 8 --cpus 2 --array-max 3
check 'time limit' prints '#SBATCH --time=08:00:00' --nodes 2 --time 08:00:00
check 'a signal before it' prints '#SBATCH --signal=B:USR1@120' --nodes 2 --time 08:00:00
check 'a signal soon before a short one: a fifth' prints '#SBATCH --signal=B:USR1@60' --nodes 2 --time 5
check 'of minutes' prints '#SBATCH --signal=B:USR1@12' --nodes 2 --time 0:01
for time in 90 90:30 1:2:03 100:00:00 2-0 2-23:59 2-23:59:59 0 UNLIMITED; do
    check "time $time" prints "#SBATCH --time=$time" --nodes 2 --time $time
done
check 'memory' prints '#SBATCH --mem=64G' --nodes 2 --mem 64G
check 'partition' prints '#SBATCH --partition=a,b' --nodes 2 -p a,b
check 'account' prints '#SBATCH --account=me' --nodes 2 -A me
check 'quality of service' prints '#SBATCH --qos=low' --nodes 2 -q low
check 'an option of sbatch as it is' prints '#SBATCH --comment="a b"' --nodes 2 --sbatch '--comment="a b"'
check 'options of dse run' prints "options=(--set 'DRAM.access_energy=8 pJ' -j 3)" --nodes 2 --run=-j --run=3 --set 'DRAM.access_energy=8 pJ'
check 'restarts' prints 'max_restart=7' --nodes 2 --restarts 7
check 'no merge for one task' prints 'n_shard=1' --nodes 1
check 'then there is none' sh -c "! grep -q MERGE '$folder/out'"
check 'no merge when not wanted' prints 'n_shard=2' --nodes 2 --no-merge
check 'then there is none' sh -c "! grep -q MERGE '$folder/out'"
code 0 "$DSE" slurm "$spec" -o "$here/out.h5" --nodes 2
check 'a percent sign in the path of the log is doubled' grep -qxF \
    "#SBATCH --output='$folder/it'\"'\"'s 1 #folder %%A/out.slurm-%A_%a.log'" "$folder/out"
if [ -n "$(command -v shellcheck)" ]; then
    check 'shellcheck has nothing to say' shellcheck "$folder/out"
fi

# ------------------------------------------------------------------------------------------------ that it works

# Stand-ins: sbatch notes its arguments and script; scontrol knows the state in $folder/state and notes a requeue.
mkdir "$folder/bin"
cat >"$folder/bin/sbatch" <<'SH'
#!/bin/bash
number=$(($(cat "$FAKE/number" 2>/dev/null || echo 40) + 1))
echo $number >"$FAKE/number"
echo "$*" >"$FAKE/arguments.$number"
[ $number -ne 42 ] || cat >"$FAKE/merge"
echo "$number;cluster"
SH
cat >"$folder/bin/scontrol" <<'SH'
#!/bin/bash
echo "$*" >>"$FAKE/scontrol"
[ "$1" != show ] || echo "JobId=1 JobState=$(cat "$FAKE/state") Reason=None PreemptTime=None"
SH
chmod +x "$folder/bin/sbatch" "$folder/bin/scontrol"
export FAKE="$folder" PATH="$folder/bin:$PATH"
unset SLURM_ARRAY_TASK_ID SLURM_CPUS_PER_TASK SLURM_RESTART_COUNT
echo RUNNING >"$folder/state"

# printed EVALUATIONS: the script of two shards with so many evaluations for a search
printed() { "$DSE" slurm "$spec" -o "$here/out.h5" --nodes 2 --restarts 2 --set "limits.max_evaluations=$1" >"$here/job.sh"; }
# task K RESTARTS: task K in the background, away from here; its log is $folder/task.K
task() {
    : >"$folder/scontrol"
    (cd / && SLURM_ARRAY_JOB_ID=9 SLURM_ARRAY_TASK_ID=$1 SLURM_RESTART_COUNT=$2 SLURM_CPUS_PER_TASK=1 SLURM_CPUS_ON_NODE=1 \
        exec bash "$here/job.sh") >"$folder/task.$1" 2>&1 &
    job=$!
}
# ended WANTED: the task ends within ten seconds with this exit code
ended() {
    start=$SECONDS
    wait "$job"
    got=$?
    [ $got -eq "$1" ] && [ $((SECONDS - start)) -le 10 ] && return
    echo "exit code $got instead of $1 after $((SECONDS - start)) s"
    cat "$folder"/task.?
    return 1
}
requeued() { grep -qx "requeue 9_$1" "$folder/scontrol"; }
not_requeued() { ! requeued "$1"; }
# computes K: dse is at work on shard K
computes() {
    for _ in $(seq 100); do
        [ -e "$here/out.$1-of-2.csv" ] && return
        sleep 0.05
    done
    return 1
}

printed 3000
submits() (cd "$here" && bash ./job.sh --array=2 >"$folder/submitted")
check 'submitted outside of a job' submits
check 'it says the numbers' diff - "$folder/submitted" <<'TEXT'
job 41: the array
job 42: the merge after it
TEXT
check 'the array' grep -qx -- '--parsable --array=2 ./job.sh' "$folder/arguments.41"
check 'the merge waits for it' grep -qx -- '--parsable --dependency=afterany:41' "$folder/arguments.42"
check 'the merge is good bash' bash -n "$folder/merge"

# Searches that take minutes, so that they are there to be interrupted.
printed 1000000000
for signal in USR1 TERM; do
    task 1 0
    check "task 1 computes" computes 1
    sleep 0.3
    kill -$signal "$job"
    check "it ends at SIG$signal" ended 130
    check 'and queues again' requeued 1
    rm -f "$here"/out.1*
done
task 1 0
computes 1
for file in /proc/[0-9]*/cmdline; do
    pid=${file#/proc/}
    tr '\0' ' ' 2>/dev/null <"$file" | grep -qF -- "-o $here/out.h5 --shard 1/2" && kill -9 "${pid%/cmdline}" 2>/dev/null
done
check 'a killed dse ends the task' ended 137
check 'which queues again' requeued 1
echo COMPLETING >"$folder/state"
task 1 1
computes 1
sleep 0.3
kill -TERM "$job"
check 'a cancelled task ends' ended 130
check 'and does not queue again' not_requeued 1
echo RUNNING >"$folder/state"
task 1 2
sleep 0.5
kill -USR1 "$job"
check 'a task that was started often enough ends' ended 130
check 'and gives up' not_requeued 1
check 'and says so' grep -q 'started 3 times: giving up; to go on: sbatch --array=1 SCRIPT' "$folder/task.1"
rm -f "$here"/out.*

printed 3000
task 1 1
check 'task 1 ends well' ended 0
check 'without another start' not_requeued 1
check 'the merge of one shard' code 0 bash "$folder/merge"
check 'says which is missing' grep -qF "missing: $here/out.2-of-2.h5" "$folder/out"
task 2 0
check 'task 2 ends well' ended 0
check 'the merge of both, over the first one' code 0 bash "$folder/merge"
check 'a local run' code 0 "$DSE" run "$spec" -o "$here/local.h5"
# table FILE: its lines in order, without seconds (two columns from the end of a point, so by name) and checksum
table() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /seconds$/ || $i == "checksum") skip[i] = 1 }
        { line = ""; for (i = 1; i <= NF; i++) if (!(i in skip)) line = line "," $i; print line }' "$1" | sort
}
table "$here/local.csv" >"$folder/a"
table "$here/out.csv" >"$folder/b"
check 'gives the same table' diff "$folder/a" "$folder/b"
check 'with all points' test "$(wc -l <"$folder/a")" -eq 10
echo 'axes: {}' >>"$spec"
task 1 0
check 'a specification that is broken meanwhile is an error' ended 2
check 'which is not tried again' not_requeued 1

# --------------------------------------------------------------------------------------------- threads where OpenMP binds them

# With OMP_PROC_BIND the first thread is bound to its place before main begins; the other processors count all the same.
code 0 "$DSE" run quickstart --dry-run
threads=$(sed -n 's/.* on \([0-9]* thread\)/\1/p' "$folder/out")
check 'OMP_PROC_BIND leaves the number of threads' sh -c \
    "OMP_PLACES=cores OMP_PROC_BIND=close '$DSE' run quickstart --dry-run | grep -q ' on $threads'"
finish
