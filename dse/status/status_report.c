/* One output is told in sentences, many in a table with a total; then reasons and best points. */
#include "dse/status/status_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dse/console/table.h"

enum { REASON_SHOWN_MAX = 12 };

char *status_rate(double per_s, char *buffer, size_t size)
{
    static const struct {
        double second;
        const char *word;
    } unit[] = {{1, "s"}, {60, "min"}, {3600, "h"}};
    size_t i = 0;
    if (!isfinite(per_s)) {
        (void)text_copy(buffer, size, "-");
        return buffer;
    }
    while (i < 2 && per_s * unit[i].second < 0.95)
        i++;
    double value = per_s * unit[i].second;
    char whole[32];
    if (value < 99.95 || value > 1e15)
        snprintf(buffer, size, "%.1f points/%s", value, unit[i].word);
    else
        snprintf(buffer, size, "%s points/%s", text_thousands((uint64_t)(value + 0.5), whole, sizeof whole),
                 unit[i].word);
    return buffer;
}

void status_total(const struct follow_set *set, struct status_total *total)
{
    uint64_t n_sweep = 0; /* points of the whole sweep, when the outputs are its shards */
    bool unknown = false;
    *total = (struct status_total){.exact = true, .complete = true, .rate = NAN, .eta_s = NAN};
    for (size_t i = 0; i < set->n; i++) {
        const struct follow *f = &set->each[i];
        total->n_point += f->n_point;
        total->n_expected += f->n_expected;
        unknown = unknown || f->n_expected == 0;
        total->exact = total->exact && f->n_expected > 0 && !f->about;
        if (f->known && f->schema.n_shard == set->n && set->n > 1)
            n_sweep = f->schema.n_point;
        total->complete = total->complete && f->state == FOLLOW_COMPLETE;
        for (int s = 0; s < RESULT_STATUS_COUNT; s++)
            total->n_status[s] += f->n_status[s];
        if (isfinite(f->rate))
            total->rate = (isfinite(total->rate) ? total->rate : 0) + f->rate;
        if (isfinite(f->eta_s))
            total->eta_s = fmax(isfinite(total->eta_s) ? total->eta_s : 0, f->eta_s);
    }
    if (unknown || n_sweep > 0)
        total->n_expected = n_sweep;
    total->exact = total->exact || n_sweep > 0;
}

/* ---------------------------------------- one output */

static void print_owner(const struct follow *f, struct text_buffer *out)
{
    char time[48] = "";
    const struct lock_owner *owner = &f->owner;
    bool running = f->state == FOLLOW_RUNNING;
    if (!running && f->state != FOLLOW_KILLED)
        return;
    text_append(out, running ? "by           " : "was run by   ");
    if (owner->pid == 0)
        text_append(out, "a process of which the lock says nothing");
    else
        text_append(out, "process %ld on %s since %s", owner->pid, owner->host, owner->since);
    if (running && isfinite(f->running_s))
        text_append(out, ", %s ago", table_duration(f->running_s, time, sizeof time));
    if (!running)
        text_append(out, ", which is gone; the same command resumes");
    text_append(out, "\n");
    if (owner->command[0])
        text_append(out, "command      %s\n", owner->command);
}

static void print_rate(const struct follow *f, struct text_buffer *out)
{
    char rate[48], eta[48];
    if (f->state == FOLLOW_RUNNING && f->eta_s <= 0) /* false for NaN */
        text_append(out, "to do        OUT.h5 is being built\n");
    if (f->state != FOLLOW_RUNNING || !isfinite(f->rate))
        return;
    text_append(out, "rate         %s", status_rate(f->rate, rate, sizeof rate));
    if (isfinite(f->eta_s) && f->eta_s > 0)
        text_append(out, ", about %s to go", table_duration(f->eta_s, eta, sizeof eta));
    text_append(out, "\n");
}

static void print_one(const struct follow *f, struct text_buffer *out)
{
    char a[64], when[64];
    text_append(out, "state        %s\n", follow_state_text(f->state));
    print_owner(f, out);
    text_append(out, "points       %s", text_thousands(f->n_point, a, sizeof a));
    if (f->n_expected)
        text_append(out, " of %s%s", f->about ? "about " : "", text_thousands(f->n_expected, a, sizeof a));
    text_append(out, "\n");
    for (int i = 0; i < RESULT_STATUS_COUNT; i++)
        if (f->n_status[i])
            text_append(out, "  %-10s %s\n", result_status_text((enum result_status)i),
                        text_thousands(f->n_status[i], a, sizeof a));
    print_rate(f, out);
    if (f->n_foreign)
        text_append(out, "besides      %s row%s of earlier versions of the specification\n",
                    text_thousands(f->n_foreign, a, sizeof a), text_plural(f->n_foreign));
    text_append(out, "evaluations  %s in %s of search\n", text_thousands(f->evaluations, a, sizeof a),
                table_duration(f->seconds, when, sizeof when));
    time_t changed = (time_t)f->modified_s;
    struct tm utc;
    if (f->modified_s > 0 && gmtime_r(&changed, &utc) &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0)
        text_append(out, "last change  %s\n", when);
    if (f->n_bad_line)
        text_append(out,
                    "damaged      %" PRIu64 " line%s, the first is line %" PRIu64 "; see dse run --repair\n",
                    f->n_bad_line, text_plural(f->n_bad_line), f->first_bad_line);
}

/* ---------------------------------------- many outputs */

/* "running on node17 (4711) since 2026-01-31 12:00:00 UTC". */
static void print_state(const struct follow *f, char *text, size_t size)
{
    const struct lock_owner *owner = &f->owner;
    int n = snprintf(text, size, "%s", follow_state_text(f->state));
    if (n > 0 && (size_t)n < size && (f->state == FOLLOW_RUNNING || f->state == FOLLOW_KILLED) &&
        owner->pid != 0)
        n += snprintf(text + n, size - (size_t)n, " on %s (%ld) since %s", owner->host, owner->pid,
                      owner->since);
    if (n > 0 && (size_t)n < size && f->n_bad_line)
        snprintf(text + n, size - (size_t)n, ", %" PRIu64 " damaged line%s", f->n_bad_line,
                 text_plural(f->n_bad_line));
}

static void cell_points(struct table *table, uint64_t n_point, uint64_t n_expected, bool exact)
{
    char a[32], b[32];
    text_thousands(n_point, a, sizeof a);
    if (n_expected)
        table_cell(table, "%s/%s%s", a, exact ? "" : "~", text_thousands(n_expected, b, sizeof b));
    else
        table_cell(table, "%s", a);
}

static void cell_rest(struct table *table, const uint64_t *n_status, double rate, double eta_s)
{
    char text[64];
    for (int s = 0; s < RESULT_STATUS_COUNT; s++)
        table_cell(table, "%s", text_thousands(n_status[s], text, sizeof text));
    table_cell(table, "%s", status_rate(rate, text, sizeof text));
    table_cell(table, "%s", isfinite(eta_s) ? table_duration(eta_s, text, sizeof text) : "-");
}

/* The end of a long path says most. */
static void cell_path(struct table *table, const char *path)
{
    size_t n = strlen(path), most = TABLE_CELL_MAX - 4;
    table_cell(table, "%s%s", n > most ? "..." : "", path + (n > most ? n - most : 0));
}

static void print_many(const struct follow_set *set, struct text_buffer *out)
{
    static const char *const header[] = {"output", "points", "ok",  "infeasible", "timeout",
                                         "failed", "rate",   "ETA", "state"};
    enum { N_COLUMN = sizeof header / sizeof *header };
    struct table table;
    struct status_total total;
    char text[TABLE_CELL_MAX];
    table_init(&table, header, N_COLUMN, 1u | 1u << (N_COLUMN - 1));
    for (size_t i = 0; i < set->n; i++) {
        const struct follow *f = &set->each[i];
        cell_path(&table, f->out);
        cell_points(&table, f->n_point, f->n_expected, !f->about);
        cell_rest(&table, f->n_status, f->rate, f->eta_s);
        print_state(f, text, sizeof text);
        table_cell(&table, "%s", text);
    }
    status_total(set, &total);
    table_cell(&table, "total");
    cell_points(&table, total.n_point, total.n_expected, total.exact);
    cell_rest(&table, total.n_status, total.rate, total.eta_s);
    table_cell(&table, "%s", total.complete ? "complete" : "");
    table_print(&table, out);
    table_free(&table);
}

/* ---------------------------------------- best */

static const char *value_text(const struct best_slices *best, double value, char *buffer, size_t size)
{
    if (isnan(value))
        (void)text_copy(buffer, size, "-");
    else if (best->unit[0])
        text_si(value, best->unit, buffer, size);
    else
        snprintf(buffer, size, "%.4g", value);
    return buffer;
}

static void pad_left(struct text_buffer *out, const char *text, size_t width)
{
    size_t n = text_letters(text);
    text_append(out, "%*s%s  ", (int)(n < width ? width - n : 0), "", text);
}

/* Widths of the columns: of each axis, then of the metric. */
static void measure(const struct best_slices *best, size_t *width)
{
    char text[64];
    for (size_t i = 0; i < best->n_by; i++)
        width[i] = text_letters(best->by[i]);
    width[best->n_by] = text_letters(best->metric);
    for (size_t s = 0; s < best->n; s++) {
        const char *at = best->slice[s].text;
        for (size_t i = 0; i < best->n_by; i++, at += strlen(at) + 1)
            width[i] = text_letters(at) > width[i] ? text_letters(at) : width[i];
        size_t n = text_letters(value_text(best, best->slice[s].value, text, sizeof text));
        width[best->n_by] = n > width[best->n_by] ? n : width[best->n_by];
    }
}

static void print_slices(const struct best_slices *best, struct text_buffer *out)
{
    size_t width[BEST_BY_MAX + 1];
    char text[64];
    measure(best, width);
    text_append(out, "\nBest so far:\n");
    for (size_t i = 0; i < best->n_by; i++)
        pad_left(out, best->by[i], width[i]);
    pad_left(out, best->metric, width[best->n_by]);
    text_append(out, "at\n");
    for (size_t s = 0; s < best->n; s++) {
        const struct best_slice *slice = &best->slice[s];
        const char *at = slice->text;
        for (size_t i = 0; i < best->n_by; i++, at += strlen(at) + 1)
            pad_left(out, at, width[i]);
        pad_left(out, value_text(best, slice->value, text, sizeof text), width[best->n_by]);
        text_append(out, "%s\n", slice->place ? slice->place : "no point is ok");
    }
    if (best->n_left_out)
        text_append(out, "and %" PRIu64 " points of more combinations\n", best->n_left_out);
}

static void print_best(struct best_slices *best, struct text_buffer *out)
{
    char text[64];
    best_slices_sort(best);
    if (best->n_by > 0 && best->n > 0)
        print_slices(best, out);
    else if (best->n == 1 && best->slice[0].place)
        text_append(out, "\nBest %s so far: %s%s%s\n", best->metric,
                    value_text(best, best->slice[0].value, text, sizeof text),
                    best->slice[0].place[0] ? " at " : "", best->slice[0].place);
}

void status_report_text(struct follow_set *set, struct text_buffer *out)
{
    if (set->n == 1)
        print_one(&set->each[0], out);
    else
        print_many(set, out);
    reason_groups_sort(set->reasons);
    if (set->reasons->n > 0) {
        bool notes = set->reasons->n_status[RESULT_OK] > 0, only = set->reasons->group[0].status == RESULT_OK;
        text_append(out, "\n%s:\n", only ? "Notes" : notes ? "Not ok, and notes" : "Not ok");
        reason_groups_print(set->reasons, REASON_SHOWN_MAX, "  ", out);
    }
    if (set->best)
        print_best(set->best, out);
}
