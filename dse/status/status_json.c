/* The report of `dse status --format json`. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "dse/console/json_text.h"
#include "dse/status/status_report.h"

static void key(struct text_buffer *out, const char *name)
{
    size_t n = out->length;
    const char last = n > 0 ? out->data[n - 1] : '{';
    text_append_string(out, last == '{' || last == '[' ? "\"" : ",\"");
    text_append_string(out, name);
    text_append_string(out, "\":");
}

static void put_text(struct text_buffer *out, const char *name, const char *text)
{
    key(out, name);
    json_text_quote(out, text);
}

static void put_count(struct text_buffer *out, const char *name, uint64_t value)
{
    key(out, name);
    text_append_u64(out, value);
}

/* null when it is not known. */
static void put_number(struct text_buffer *out, const char *name, double value)
{
    key(out, name);
    json_text_number(out, value);
}

static void put_expected(struct text_buffer *out, uint64_t n)
{
    if (n > 0)
        put_count(out, "expected", n);
    else
        put_number(out, "expected", NAN);
}

static void put_statuses(struct text_buffer *out, const uint64_t *n)
{
    for (int s = 0; s < RESULT_STATUS_COUNT; s++)
        put_count(out, result_status_text((enum result_status)s), n[s]);
}

static void put_output(struct text_buffer *out, const struct follow *f)
{
    text_append_string(out, "{");
    put_text(out, "output", f->out);
    put_text(out, "state", follow_state_text(f->state));
    if (f->state == FOLLOW_RUNNING || f->state == FOLLOW_KILLED) {
        put_text(out, "host", f->owner.host);
        put_count(out, "pid", (uint64_t)f->owner.pid);
        put_text(out, "since", f->owner.since);
        put_text(out, "command", f->owner.command);
    }
    put_count(out, "points", f->n_point);
    put_expected(out, f->n_expected);
    put_statuses(out, f->n_status);
    put_number(out, "points_per_s", f->rate);
    put_number(out, "eta_s", f->eta_s);
    put_count(out, "evaluations", f->evaluations);
    put_number(out, "seconds", f->seconds);
    put_count(out, "earlier_rows", f->n_foreign);
    put_count(out, "damaged_lines", f->n_bad_line);
    text_append_string(out, "}");
}

static void put_reasons(struct text_buffer *out, struct reason_groups *groups)
{
    struct text_buffer reason;
    reason_groups_sort(groups);
    key(out, "reasons");
    text_append_string(out, "[");
    for (size_t i = 0; i < groups->n; i++) {
        text_init(&reason);
        reason_group_text(&groups->group[i], &reason);
        text_append_string(out, i ? ",{" : "{");
        put_count(out, "points", groups->group[i].n);
        put_text(out, "status", result_status_text(groups->group[i].status));
        put_text(out, "reason", reason.data);
        put_text(out, "example", groups->group[i].place);
        text_append_string(out, "}");
        text_free(&reason);
    }
    text_append_string(out, "]");
}

static void put_best(struct text_buffer *out, struct best_slices *best)
{
    best_slices_sort(best);
    put_text(out, "metric", best->metric);
    key(out, "best");
    text_append_string(out, "[");
    for (size_t s = 0; s < best->n; s++) {
        const struct best_slice *slice = &best->slice[s];
        const char *at = slice->text;
        text_append_string(out, s ? ",{" : "{");
        key(out, "by");
        text_append_string(out, "{");
        for (size_t i = 0; i < best->n_by; i++, at += strlen(at) + 1)
            put_text(out, best->by[i], at);
        text_append_string(out, "}");
        put_count(out, "points", slice->n);
        put_count(out, "ok", slice->n_ok);
        put_number(out, "value", slice->value);
        put_text(out, "at", slice->place);
        text_append_string(out, "}");
    }
    text_append_string(out, "]");
}

void status_report_json(struct follow_set *set, struct text_buffer *out)
{
    char when[32] = "";
    struct status_total total;
    struct tm utc;
    time_t now = time(NULL);
    if (gmtime_r(&now, &utc))
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    status_total(set, &total);
    text_append_string(out, "{");
    put_text(out, "time", when);
    key(out, "outputs");
    text_append_string(out, "[");
    for (size_t i = 0; i < set->n; i++) {
        if (i)
            text_append_string(out, ",");
        put_output(out, &set->each[i]);
    }
    text_append_string(out, "]");
    key(out, "total");
    text_append_string(out, "{");
    put_count(out, "points", total.n_point);
    put_expected(out, total.exact ? total.n_expected : 0);
    put_statuses(out, total.n_status);
    put_number(out, "points_per_s", total.rate);
    put_number(out, "eta_s", total.eta_s);
    text_append_string(out, "}");
    put_reasons(out, set->reasons);
    if (set->best)
        put_best(out, set->best);
    text_append_string(out, "}\n");
}
