/* Times, quoting and the parts of the script: what depends on the job is put in variables at its head, the
 * rest is the same text for every sweep. */
#include "dse/command/slurm.h"

#include <stdio.h>
#include <string.h>

#include "results/record/schema.h"

enum { PATH_SIZE = 4096, TIME_PART_MAX = 4 };

/* ---------------------------------------- times and words */

/* "1-2:03" -> {1, 2, 3}, 3 parts, separators "-:". Returns 0 on anything that is not digits between
 * separators. */
static size_t split_time(const char *text, uint64_t part[TIME_PART_MAX], char separator[TIME_PART_MAX])
{
    size_t n = 0;
    for (;;) {
        char digits[12];
        size_t length = strspn(text, "0123456789");
        if (n == TIME_PART_MAX || length == 0 || length >= sizeof digits)
            return 0;
        memcpy(digits, text, length);
        digits[length] = '\0';
        if (!text_parse_u64(digits, &part[n]))
            return 0;
        separator[n++] = text[length];
        if (text[length] == '\0')
            return n;
        if (text[length] != ':' && text[length] != '-')
            return 0;
        text += length + 1;
    }
}

enum dse_status slurm_read_time(const char *text, uint64_t *seconds, struct dse_error *err)
{
    uint64_t part[TIME_PART_MAX] = {0};
    char separator[TIME_PART_MAX] = {0}, shown[64];
    *seconds = 0;
    if (strcmp(text, "UNLIMITED") == 0 || strcmp(text, "INFINITE") == 0)
        return DSE_OK;
    size_t n = split_time(text, part, separator);
    bool days = n > 1 && separator[0] == '-';
    bool good = n > 0 && (days || n < TIME_PART_MAX);
    for (size_t i = 1; i < n; i++) {
        good = good && (i == 1 || separator[i - 1] == ':');
        good = good && part[i] < (days && i == 1 ? 24 : 60);
    }
    if (!good || part[0] > 1000000)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--time %s: write hours:minutes:seconds (08:00:00), days-hours (2-0), "
                        "days-hours:minutes:seconds or minutes (90)",
                        text_excerpt(text, shown, sizeof shown));
    if (days)
        *seconds = ((part[0] * 24 + part[1]) * 60 + part[2]) * 60 + part[3];
    else if (n == 3)
        *seconds = (part[0] * 60 + part[1]) * 60 + part[2];
    else
        *seconds = part[0] * 60 + part[1];
    return DSE_OK;
}

/* How long before the time limit a task is told to stop: 2 minutes, and at most a fifth of the limit (0: no
 * limit). */
static unsigned signal_before_s(uint64_t time_s)
{
    uint64_t whole = (time_s + 59) / 60 * 60; /* Slurm rounds up to minutes */
    return whole == 0 || whole / 5 > SLURM_SIGNAL_BEFORE_S ? SLURM_SIGNAL_BEFORE_S : (unsigned)(whole / 5);
}

void slurm_quote(struct text_buffer *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (word[0] && word[strspn(word, plain)] == '\0') {
        text_append(text, "%s", word);
        return;
    }
    text_append(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_append(text, "'\"'\"'"); /* sbatch does not know '\'' */
        else
            text_append_bytes(text, word, 1);
    text_append(text, "'");
}

/* "NAME=word" with the word quoted, on a line of its own. */
static void print_variable(struct text_buffer *text, const char *name, const char *word)
{
    text_append(text, "%s=", name);
    slurm_quote(text, word);
    text_append(text, "\n");
}

/* "#SBATCH --NAME=value", or nothing when it is not given. */
static void print_option(struct text_buffer *text, const char *name, const char *value)
{
    if (!value)
        return;
    text_append(text, "#SBATCH --%s=", name);
    slurm_quote(text, value);
    text_append(text, "\n");
}

/* A log beside the results. In file names of sbatch a percent sign begins a number, twice it is itself. */
static void print_log(const struct slurm_job *job, const char *ending, struct text_buffer *text)
{
    char path[PATH_SIZE], pattern[2 * PATH_SIZE];
    size_t n = 0;
    if (!result_path(path, sizeof path, job->out, ""))
        return; /* checked by who made `out` */
    for (const char *c = path; *c && n + 2 < sizeof pattern - 32; c++) {
        pattern[n++] = *c;
        if (*c == '%')
            pattern[n++] = '%';
    }
    snprintf(pattern + n, sizeof pattern - n, "%s", ending);
    print_option(text, "output", pattern);
}

/* ---------------------------------------- the script */

static void print_comment(const struct slurm_job *job, struct text_buffer *text)
{
    char number[48];
    text_append(text,
                "#!/bin/bash\n"
                "# %s: %s points of a sweep in %u shard%s, one for each task of this job array. Printed by\n"
                "#   %s\n"
                "#\n",
                job->name, text_thousands(job->n_point, number, sizeof number), job->n_task,
                job->n_task == 1 ? "" : "s", job->command);
    if (job->merge)
        text_append(text,
                    "# Submit:  bash FILE               the array, and a job that merges the shards when all "
                    "tasks have ended\n"
                    "#          sbatch FILE             the array alone\n");
    else
        text_append(text, "# Submit:  sbatch FILE\n");
    text_append(
        text,
        "#          %s   only these tasks, for instance those that gave up; the shards stay the same\n"
        "# Watch:   squeue --me, the logs, and `dse status` of any shard, also while it runs\n"
        "# Restart: before the time limit (SIGUSR1) and at preemption (SIGTERM) dse keeps what is finished "
        "and "
        "ends; the task\n"
        "#          queues again and resumes, at most %u times. After a crash or the loss of a node it does, "
        "too.\n"
        "#          scancel ends a task for good; the same shard resumes whenever it is submitted again.\n"
        "# Exit:    0 all points done; 1 done, some of them failed or timed out (see the log); 2 cannot "
        "run.\n",
        job->merge ? "bash FILE --array=3,7" : "sbatch --array=3,7 FILE", job->max_restart);
    if (job->n_task > 1)
        text_append(text, "# Merge:   dse merge OUT.h5 OUT.*-of-%u.h5%s\n", job->n_task,
                    job->merge ? ", which the second job does; it says which points are missing" : "");
    text_append(text,
                "# All nodes must see the paths below at the same place. More: docs/clusters.md of dse.\n"
                "#\n");
}

static void print_options(const struct slurm_job *job, struct text_buffer *text)
{
    print_option(text, "job-name", job->name);
    text_append(text, "#SBATCH --array=1-%u", job->n_task);
    if (job->n_at_once && job->n_at_once < job->n_task)
        text_append(text, "%%%u", job->n_at_once);
    text_append(text, "\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n");
    if (job->n_cpu)
        text_append(text, "#SBATCH --cpus-per-task=%u\n", job->n_cpu);
    else
        text_append(text, "#SBATCH --exclusive\n");
    print_option(text, "mem", job->memory);
    print_option(text, "time", job->time);
    print_option(text, "partition", job->partition);
    print_option(text, "account", job->account);
    print_option(text, "qos", job->qos);
    text_append(text, "#SBATCH --signal=B:USR1@%u\n", signal_before_s(job->time_s));
    text_append(text, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    print_log(job, ".slurm-%A_%a.log", text);
    for (size_t i = 0; i < job->n_sbatch; i++)
        text_append(text, "#SBATCH %s\n", job->sbatch[i]);
}

static void print_variables(const struct slurm_job *job, struct text_buffer *text)
{
    char stem[PATH_SIZE];
    text_append(text, "\nset -u\n");
    print_variable(text, "dse", job->dse);
    print_variable(text, "folder", job->folder);
    print_variable(text, "spec", job->spec);
    print_variable(text, "out", job->out);
    if (result_path(stem, sizeof stem, job->out, ""))
        print_variable(text, "stem", stem);
    text_append(text, "options=(");
    for (size_t i = 0; i < job->n_set; i++) {
        text_append(text, "%s--set ", i ? " " : "");
        slurm_quote(text, job->set[i]);
    }
    for (size_t i = 0; i < job->n_run; i++) {
        text_append(text, "%s", i || job->n_set ? " " : "");
        slurm_quote(text, job->run[i]);
    }
    text_append(text, ")\nn_shard=%u\nmax_restart=%u\n", job->n_task, job->max_restart);
    if (job->n_task > 1)
        text_append(text, "lock=$stem.${SLURM_ARRAY_TASK_ID:-}-of-$n_shard.lock\n");
    else
        text_append(text, "lock=$stem.lock\n");
}

/* The job that merges, as a function that prints it. */
static void print_merge(const struct slurm_job *job, struct text_buffer *text)
{
    char stem[PATH_SIZE];
    text_append(text, "\nmerge_job() {\n    cat <<'MERGE'\n#!/bin/bash\n#SBATCH --job-name=%s-merge\n",
                job->name);
    text_append(text, "#SBATCH --ntasks=1\n#SBATCH --time=%s\n",
                job->time_s && job->time_s < 3600 ? job->time : "01:00:00");
    print_option(text, "partition", job->partition);
    print_option(text, "account", job->account);
    print_option(text, "qos", job->qos);
    text_append(text, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    print_log(job, ".merge-%j.log", text);
    text_append(text, "set -u\n");
    print_variable(text, "dse", job->dse);
    print_variable(text, "out", job->out);
    if (result_path(stem, sizeof stem, job->out, ""))
        print_variable(text, "stem", stem);
    text_append(
        text,
        "shards=()\n"
        "[ ! -e \"$out\" ] || shards=(\"$out\") # of an earlier merge: it is replaced when it is named\n"
        "for ((k = 1; k <= %u; k++)); do\n"
        "    shard=$stem.$k-of-%u.h5\n"
        "    if [ -e \"$shard\" ]; then shards+=(\"$shard\"); else echo \"missing: $shard\"; fi\n"
        "done\n"
        "[ ${#shards[@]} -gt 0 ] || exit 2\n"
        "exec \"$dse\" merge \"$out\" \"${shards[@]}\"\n"
        "MERGE\n"
        "}\n",
        job->n_task, job->n_task);
}

/* The part that runs where the user submits. */
static void print_submit(const struct slurm_job *job, struct text_buffer *text)
{
    if (job->merge)
        print_merge(job, text);
    text_append(text, "\n# Not in a job: submit%s\nif [ -z \"${SLURM_ARRAY_TASK_ID:-}\" ]; then\n",
                job->merge ? " the array, and the merge for when all of its tasks have ended." : ".");
    text_append(text, "    array=$(sbatch --parsable \"$@\" \"$0\") || exit 2\n"
                      "    array=${array%%%%;*}\n"
                      "    echo \"job $array: the array\"\n");
    if (job->merge)
        text_append(text,
                    "    merge=$(merge_job | sbatch --parsable --dependency=\"afterany:$array\") || exit 2\n"
                    "    echo \"job ${merge%%%%;*}: the merge after it\"\n");
    text_append(text, "    exit 0\nfi\n");
}

/* What the tasks do; no value of the job is in it. */
static const char task_part[] =
    "\n"
    "task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\n"
    "restarts=${SLURM_RESTART_COUNT:-0}\n"
    "shard=$SLURM_ARRAY_TASK_ID/$n_shard\n"
    "say() { echo \"$(date '+%F %T') task $task on $(hostname): $*\"; }\n"
    "\n"
    "# dse takes its threads from SLURM_CPUS_PER_TASK, else from the processors that it may use. They stay "
    "on their cores\n"
    "# where Slurm keeps the task on its own processors; elsewhere the tasks of a node would all choose the "
    "same ones.\n"
    "[ -z \"${SLURM_CPUS_PER_TASK:-}\" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n"
    "if [ \"$(nproc)\" -le \"${SLURM_CPUS_ON_NODE:-1}\" ]; then\n"
    "    export OMP_PLACES=cores OMP_PROC_BIND=close\n"
    "fi\n"
    "\n"
    "# bash runs a trap at once only while it waits for a job in the background, so dse runs there and gets "
    "the signal from us.\n"
    "child=\n"
    "stop=\n"
    "# shellcheck disable=SC2317 # called by the traps\n"
    "pass_on() {\n"
    "    stop=$1\n"
    "    again=yes\n"
    "    [ -z \"$child\" ] || kill -s \"$1\" \"$child\" 2>/dev/null\n"
    "}\n"
    "trap 'pass_on USR1' USR1\n"
    "trap 'pass_on TERM' TERM\n"
    "\n"
    "# run COMMAND...: its exit code. A trap ends `wait` early; then wait again, for the code of the command "
    "itself.\n"
    "run() {\n"
    "    local now code=127\n"
    "    \"$@\" &\n"
    "    child=$!\n"
    "    again=yes\n"
    "    [ -z \"$stop\" ] || kill -s \"$stop\" \"$child\" 2>/dev/null # it came before there was a child\n"
    "    while [ \"$again\" = yes ]; do\n"
    "        again=no\n"
    "        wait \"$child\"\n"
    "        now=$?\n"
    "        [ \"$now\" -eq 127 ] || code=$now\n"
    "    done\n"
    "    child=\n"
    "    return \"$code\"\n"
    "}\n"
    "\n"
    "# Does Slurm still want this task? Not after scancel: then it is completing, and nothing may start it "
    "again.\n"
    "wanted() {\n"
    "    local job\n"
    "    job=$(scontrol show job -o \"$task\" 2>/dev/null) || return 0\n"
    "    case \"$job \" in\n"
    "        *' JobState=RUNNING '*) return 0 ;;\n"
    "        *' PreemptTime=None '*) return 1 ;;\n"
    "        *' PreemptTime='*) return 0 ;;\n"
    "    esac\n"
    "    return 1\n"
    "}\n"
    "\n"
    "cd \"$folder\" || exit 2\n"
    "say \"shard $shard, start $((restarts + 1))\"\n"
    "for try in 1 2 3 4 5 6 7; do\n"
    "    run \"$dse\" run \"$spec\" -o \"$out\" --shard \"$shard\" ${options[@]+\"${options[@]}\"}\n"
    "    code=$?\n"
    "    if [ \"$code\" -ne 2 ] || [ \"$restarts\" -eq 0 ] || [ ! -e \"$lock\" ] || [ \"$try\" -eq 7 ]; "
    "then\n"
    "        break\n"
    "    fi\n"
    "    # After the loss of a node its lock counts as held until it has not been touched for five minutes.\n"
    "    say 'perhaps another process still holds the shard; next try in a minute'\n"
    "    run sleep 60\n"
    "    if [ -n \"$stop\" ]; then\n"
    "        code=130\n"
    "        break\n"
    "    fi\n"
    "done\n"
    "\n"
    "# 130 is dse stopped by a signal, more than 128 dse killed: what is finished is kept, and the next "
    "start goes on from there.\n"
    "if [ \"$code\" -le 128 ]; then\n"
    "    say \"exit code $code\"\n"
    "    exit \"$code\"\n"
    "fi\n"
    "hint=\"to go on: sbatch --array=$SLURM_ARRAY_TASK_ID SCRIPT\"\n"
    "if ! wanted; then\n"
    "    say \"ended by Slurm, exit code $code; $hint\"\n"
    "elif [ \"$restarts\" -ge \"$max_restart\" ]; then\n"
    "    say \"exit code $code, and it has been started $((restarts + 1)) times: giving up; $hint\"\n"
    "else\n"
    "    say \"exit code $code: requeue\"\n"
    "    trap '' USR1 TERM # Slurm ends what it requeues\n"
    "    scontrol requeue \"$task\" || say \"could not be requeued; $hint\"\n"
    "fi\n"
    "exit \"$code\"\n";

void slurm_print(const struct slurm_job *job, struct text_buffer *text)
{
    print_comment(job, text);
    print_options(job, text);
    print_variables(job, text);
    print_submit(job, text);
    text_append_bytes(text, task_part, sizeof task_part - 1);
}
