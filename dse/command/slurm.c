/* Times, quoting, and the values that the lines of slurm/sweep.sh are filled in with. */
#include "dse/command/slurm.h"

#include <stdio.h>
#include <string.h>

#include "base/files.h"
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

/* ---------------------------------------- values of the script */

enum { VALUE_MAX = 40 };

/* What slurm/sweep.sh is filled in with. */
struct values {
    struct value {
        const char *name, *text; /* text NULL: there is none */
    } value[VALUE_MAX];
    size_t n;
    struct text_buffer array, log, merge_log, options, sbatch; /* some of the texts */
};

static void set(struct values *values, const char *name, const char *text)
{
    values->value[values->n++] = (struct value){name, text};
}

/* A log beside the results. In file names of sbatch a percent sign begins a number, twice it is itself. */
static void make_log(struct text_buffer *log, const char *stem, const char *ending)
{
    for (const char *c = stem; *c; c++)
        text_append(log, *c == '%' ? "%%%%" : "%c", *c);
    text_append(log, "%s", ending);
}

static void make_texts(const struct slurm_job *job, const char *stem, struct values *values)
{
    text_append(&values->array, "1-%u", job->n_task);
    if (job->n_at_once && job->n_at_once < job->n_task)
        text_append(&values->array, "%%%u", job->n_at_once);
    make_log(&values->log, stem, ".slurm-%A_%a.log");
    make_log(&values->merge_log, stem, ".merge-%j.log");
    text_append_string(&values->options, "");
    for (size_t i = 0; i < job->n_set; i++) {
        text_append(&values->options, "%s--set ", i ? " " : "");
        slurm_quote(&values->options, job->set[i]);
    }
    for (size_t i = 0; i < job->n_run; i++) {
        text_append(&values->options, "%s", i || job->n_set ? " " : "");
        slurm_quote(&values->options, job->run[i]);
    }
    for (size_t i = 0; i < job->n_sbatch; i++)
        text_append(&values->sbatch, "%s#SBATCH %s", i ? "\n" : "", job->sbatch[i]);
}

static void set_texts(const struct slurm_job *job, const char *stem, struct values *values)
{
    set(values, "name", job->name);
    set(values, "command", job->command);
    set(values, "dse", job->dse);
    set(values, "folder", job->folder);
    set(values, "spec", job->spec);
    set(values, "out", job->out);
    set(values, "stem", stem);
    set(values, "time", job->time);
    set(values, "merge_time", job->time_s && job->time_s < 3600 ? job->time : "01:00:00");
    set(values, "memory", job->memory);
    set(values, "partition", job->partition);
    set(values, "account", job->account);
    set(values, "qos", job->qos);
    set(values, "array", values->array.data);
    set(values, "log", values->log.data);
    set(values, "merge_log", values->merge_log.data);
    set(values, "options", values->options.data);
    set(values, "sbatch", values->sbatch.data);
    set(values, "some_tasks", job->merge ? "bash FILE --array=3,7" : "sbatch --array=3,7 FILE");
    set(values, "who_merges",
        job->merge ? ", which the second job does; it says which points are missing" : "");
    set(values, "many", job->n_task > 1 ? "" : NULL);
    set(values, "one", job->n_task > 1 ? NULL : "");
    set(values, "merge", job->merge ? "" : NULL);
    set(values, "no_merge", job->merge ? NULL : "");
    set(values, "whole_node", job->n_cpu ? NULL : "");
}

/* ---------------------------------------- filling it in */

static const struct value *find_value(const struct values *values, const char *name, size_t length)
{
    for (size_t i = 0; i < values->n; i++)
        if (strncmp(values->value[i].name, name, length) == 0 && values->value[i].name[length] == '\0')
            return &values->value[i];
    return NULL;
}

/* A line of the script, without its end. What is no value of ours ("$@") stays. */
static void fill_line(const char *line, size_t length, const struct values *values, struct text_buffer *text)
{
    size_t start = text->length;
    for (size_t i = 0; i < length; i++) {
        bool as_it_is = line[i] == '@' && line[i + 1] == '=';
        const char *name = line + i + 1 + as_it_is;
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
        const struct value *value =
            line[i] == '@' && n > 0 && name[n] == '@' ? find_value(values, name, n) : NULL;
        if (!value) {
            text_append_bytes(text, line + i, 1);
            continue;
        }
        if (!value->text) { /* no line, then */
            text->length = start;
            return;
        }
        if (as_it_is)
            text_append(text, "%s", value->text);
        else
            slurm_quote(text, value->text);
        i = (size_t)(name + n - line);
    }
    text_append_bytes(text, "\n", 1);
}

static void fill(const char *line, const struct values *values, struct text_buffer *text)
{
    bool on = true;
    for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
        size_t length = (size_t)(end - line);
        if (strncmp(line, "@if ", 4) == 0) {
            const struct value *value = find_value(values, line + 4, length - 4);
            on = value && value->text;
        } else if (strncmp(line, "@end\n", 5) == 0) {
            on = true;
        } else if (on && strncmp(line, "@#", 2) != 0) {
            fill_line(line, length, values, text);
        }
    }
}

enum dse_status slurm_print(const struct slurm_job *job, struct text_buffer *text, struct dse_error *err)
{
    struct values values = {0};
    struct text_buffer form;
    char stem[PATH_SIZE], points[48], shards[32], number[4][16];
    text_init(&form);
    enum dse_status status = data_folder_append("slurm", "sweep.sh", &form, err);
    if (status == DSE_OK && !result_path(stem, sizeof stem, job->out, ""))
        status = dse_fail(err, DSE_BAD_USAGE, "%s: the path is too long", job->out);
    if (status == DSE_OK) {
        make_texts(job, stem, &values);
        set_texts(job, stem, &values);
        snprintf(shards, sizeof shards, "%u shard%s", job->n_task, job->n_task == 1 ? "" : "s");
        snprintf(number[0], sizeof number[0], "%u", job->n_task);
        snprintf(number[1], sizeof number[1], "%u", job->n_cpu);
        snprintf(number[2], sizeof number[2], "%u", job->max_restart);
        snprintf(number[3], sizeof number[3], "%u", signal_before_s(job->time_s));
        set(&values, "points", text_thousands(job->n_point, points, sizeof points));
        set(&values, "shards", shards);
        set(&values, "n_shard", number[0]);
        set(&values, "cpus", job->n_cpu ? number[1] : NULL);
        set(&values, "max_restart", number[2]);
        set(&values, "signal_before", number[3]);
        if (!form.failed)
            fill(form.data, &values, text);
    }
    text->failed |= form.failed | values.array.failed | values.log.failed | values.merge_log.failed |
                    values.options.failed | values.sbatch.failed;
    text_free(&form);
    text_free(&values.array);
    text_free(&values.log);
    text_free(&values.merge_log);
    text_free(&values.options);
    text_free(&values.sbatch);
    return status;
}
