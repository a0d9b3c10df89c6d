@# The script that `dse slurm` prints. @name@ is a value in quotes for the shell where it needs them, @=name@ one as it is;
@# a line with a value that there is none of is left out, and so are the lines from "@if name" to the next "@if" or "@end".
@# The values are in dse/command/slurm.c.
#!/bin/bash
# @name@: @=points@ points of a sweep in @=shards@, one for each task of this job array. Printed by
#   @=command@
#
@if merge
# Submit:  bash FILE               the array, and a job that merges the shards when all tasks have ended
#          sbatch FILE             the array alone
@if no_merge
# Submit:  sbatch FILE
@end
#          @=some_tasks@   only these tasks, for instance those that gave up; the shards stay the same
# Watch:   squeue --me, the logs, and `dse status` of any shard, also while it runs
# Restart: before the time limit (SIGUSR1) and at preemption (SIGTERM) dse keeps what is finished and ends; the task
#          queues again and resumes, at most @max_restart@ times. After a crash or the loss of a node it does, too.
#          scancel ends a task for good; the same shard resumes whenever it is submitted again.
# Exit:    0 all points done; 1 done, some of them failed or timed out (see the log); 2 cannot run.
@if many
# Merge:   dse merge OUT.h5 OUT.*-of-@n_shard@.h5@=who_merges@
@end
# All nodes must see the paths below at the same place. More: docs/clusters.md of dse.
#
#SBATCH --job-name=@name@
#SBATCH --array=@array@
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@cpus@
#SBATCH --exclusive@=whole_node@
#SBATCH --mem=@memory@
#SBATCH --time=@time@
#SBATCH --partition=@partition@
#SBATCH --account=@account@
#SBATCH --qos=@qos@
#SBATCH --signal=B:USR1@@signal_before@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@log@
@=sbatch@

set -u
dse=@dse@
folder=@folder@
spec=@spec@
out=@out@
stem=@stem@
options=(@=options@)
n_shard=@n_shard@
max_restart=@max_restart@
@if many
lock=$stem.${SLURM_ARRAY_TASK_ID:-}-of-$n_shard.lock
@if one
lock=$stem.lock
@if merge

merge_job() {
    cat <<'MERGE'
#!/bin/bash
#SBATCH --job-name=@name@-merge
#SBATCH --ntasks=1
#SBATCH --time=@merge_time@
#SBATCH --partition=@partition@
#SBATCH --account=@account@
#SBATCH --qos=@qos@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@merge_log@
set -u
dse=@dse@
out=@out@
stem=@stem@
shards=()
[ ! -e "$out" ] || shards=("$out") # of an earlier merge: it is replaced when it is named
for ((k = 1; k <= @n_shard@; k++)); do
    shard=$stem.$k-of-@n_shard@.h5
    if [ -e "$shard" ]; then shards+=("$shard"); else echo "missing: $shard"; fi
done
[ ${#shards[@]} -gt 0 ] || exit 2
exec "$dse" merge "$out" "${shards[@]}"
MERGE
}

# Not in a job: submit the array, and the merge for when all of its tasks have ended.
@if no_merge

# Not in a job: submit.
@end
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
    array=$(sbatch --parsable "$@" "$0") || exit 2
    array=${array%%;*}
    echo "job $array: the array"
@if merge
    merge=$(merge_job | sbatch --parsable --dependency="afterany:$array") || exit 2
    echo "job ${merge%%;*}: the merge after it"
@end
    exit 0
fi

task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
restarts=${SLURM_RESTART_COUNT:-0}
shard=$SLURM_ARRAY_TASK_ID/$n_shard
say() { echo "$(date '+%F %T') task $task on $(hostname): $*"; }

# dse takes its threads from SLURM_CPUS_PER_TASK, else from the processors that it may use. They stay on their cores
# where Slurm keeps the task on its own processors; elsewhere the tasks of a node would all choose the same ones.
[ -z "${SLURM_CPUS_PER_TASK:-}" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
if [ "$(nproc)" -le "${SLURM_CPUS_ON_NODE:-1}" ]; then
    export OMP_PLACES=cores OMP_PROC_BIND=close
fi

# bash runs a trap at once only while it waits for a job in the background, so dse runs there and gets the signal from us.
child=
stop=
# shellcheck disable=SC2317 # called by the traps
pass_on() {
    stop=$1
    again=yes
    [ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null
}
trap 'pass_on USR1' USR1
trap 'pass_on TERM' TERM

# run COMMAND...: its exit code. A trap ends `wait` early; then wait again, for the code of the command itself.
run() {
    local now code=127
    "$@" &
    child=$!
    again=yes
    [ -z "$stop" ] || kill -s "$stop" "$child" 2>/dev/null # it came before there was a child
    while [ "$again" = yes ]; do
        again=no
        wait "$child"
        now=$?
        [ "$now" -eq 127 ] || code=$now
    done
    child=
    return "$code"
}

# Does Slurm still want this task? Not after scancel: then it is completing, and nothing may start it again.
wanted() {
    local job
    job=$(scontrol show job -o "$task" 2>/dev/null) || return 0
    case "$job " in
        *' JobState=RUNNING '*) return 0 ;;
        *' PreemptTime=None '*) return 1 ;;
        *' PreemptTime='*) return 0 ;;
    esac
    return 1
}

cd "$folder" || exit 2
say "shard $shard, start $((restarts + 1))"
for try in 1 2 3 4 5 6 7; do
    run "$dse" run "$spec" -o "$out" --shard "$shard" ${options[@]+"${options[@]}"}
    code=$?
    if [ "$code" -ne 2 ] || [ "$restarts" -eq 0 ] || [ ! -e "$lock" ] || [ "$try" -eq 7 ]; then
        break
    fi
    # After the loss of a node its lock counts as held until it has not been touched for five minutes.
    say 'perhaps another process still holds the shard; next try in a minute'
    run sleep 60
    if [ -n "$stop" ]; then
        code=130
        break
    fi
done

# 130 is dse stopped by a signal, more than 128 dse killed: what is finished is kept, and the next start goes on from there.
if [ "$code" -le 128 ]; then
    say "exit code $code"
    exit "$code"
fi
hint="to go on: sbatch --array=$SLURM_ARRAY_TASK_ID SCRIPT"
if ! wanted; then
    say "ended by Slurm, exit code $code; $hint"
elif [ "$restarts" -ge "$max_restart" ]; then
    say "exit code $code, and it has been started $((restarts + 1)) times: giving up; $hint"
else
    say "exit code $code: requeue"
    trap '' USR1 TERM # Slurm ends what it requeues
    scontrol requeue "$task" || say "could not be requeued; $hint"
fi
exit "$code"
