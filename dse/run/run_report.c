/* Collects what the end of a run prints: counts, reason groups and the slowest points. */
#include "dse/run/run_report.h"

#include <stdlib.h>
#include <string.h>

#include "dse/console/not_ok.h"
#include "dse/console/reason_groups.h"
#include "dse/console/table.h"

enum { SLOWEST_MAX = 3, GROUP_SHOWN_MAX = 8 };

/* The slowest points are of interest when a run took so long, */
static const double long_run_s = 10;
/* and when the slowest took so long, and so many times the mean. */
static const double slow_s = 1, slow_factor = 1.5;

struct slow_point {
    double seconds;
    size_t number; /* of equals the first */
    char place[REASON_PLACE_MAX];
};

struct run_report {
    const struct result_schema *schema;
    struct reason_groups groups;
    uint64_t n_status[RESULT_STATUS_COUNT];
    size_t n_computed, n_slow;
    double seconds;                      /* of the points computed */
    struct slow_point slow[SLOWEST_MAX]; /* (n_slow) slowest first, of the points computed */
};

enum dse_status run_report_new(const struct result_schema *schema, struct run_report **report,
                               struct dse_error *err)
{
    *report = calloc(1, sizeof **report);
    if (!*report)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the report");
    (*report)->schema = schema;
    return DSE_OK;
}

void run_report_free(struct run_report *report)
{
    free(report);
}

/* Where a point is, into place (REASON_PLACE_MAX). */
static void print_place(const struct run_report *report, const uint32_t *index, char *place)
{
    struct text_buffer text;
    text_init(&text);
    not_ok_place_of(report->schema, index, &text);
    (void)text_copy(place, REASON_PLACE_MAX, text.data ? text.data : "");
    text_free(&text);
}

static bool is_slower(const struct slow_point *slow, double seconds, size_t number)
{
    return seconds > slow->seconds || (seconds >= slow->seconds && number < slow->number);
}

static void note_slow(struct run_report *report, size_t number, const struct point_record *record)
{
    size_t at = report->n_slow;
    while (at > 0 && is_slower(&report->slow[at - 1], record->seconds, number))
        at--;
    if (at == SLOWEST_MAX)
        return;
    if (report->n_slow < SLOWEST_MAX)
        report->n_slow++;
    memmove(&report->slow[at + 1], &report->slow[at], (report->n_slow - 1 - at) * sizeof report->slow[0]);
    report->slow[at].seconds = record->seconds;
    report->slow[at].number = number;
    print_place(report, record->index, report->slow[at].place);
}

static void add_point(void *user, size_t number, const struct point_record *record, bool reused)
{
    struct run_report *report = user;
    report->n_status[record->outcome]++;
    if (!reused) {
        report->n_computed++;
        report->seconds += record->seconds >= 0 ? record->seconds : 0;
        if (record->seconds > 0)
            note_slow(report, number, record);
    }
    if (record->outcome == RESULT_OK && !(record->reason && record->reason[0]))
        return;
    char place[REASON_PLACE_MAX];
    struct reason_group *group = reason_groups_add(&report->groups, record->outcome, record->reason, number);
    if (!group)
        return;
    print_place(report, record->index, place);
    reason_group_place(group, place);
}

struct run_observer run_report_observer(struct run_report *report)
{
    return (struct run_observer){.user = report, .point = add_point};
}

uint64_t run_report_count(const struct run_report *report, enum result_status status)
{
    return report->n_status[status];
}

void run_report_print(struct run_report *report, const struct run_summary *summary, struct text_buffer *out)
{
    char time[48];
    reason_groups_print(&report->groups, GROUP_SHOWN_MAX, "  ", out);
    double mean_s = report->n_computed ? report->seconds / (double)report->n_computed : 0;
    if (summary->seconds < long_run_s || report->n_computed <= SLOWEST_MAX ||
        report->slow[0].seconds < slow_s || report->slow[0].seconds < slow_factor * mean_s)
        return;
    text_append_string(out, "dse: the slowest points:\n");
    for (size_t i = 0; i < report->n_slow; i++)
        text_append(out, "  %10s  %s\n", table_duration(report->slow[i].seconds, time, sizeof time),
                    report->slow[i].place);
}

/* How well the threads were used: what is lost at the end shows whether long points came last. */
static void print_efficiency(const struct run_summary *s, FILE *err)
{
    char tail[48], all[48];
    if (s->n_task == 0 || s->work_s < 1)
        return;
    fprintf(err, "dse: %d thread%s busy %.1f %% of %s", s->n_thread,
            text_plural((unsigned long long)s->n_thread), 100 * s->busy_s / (s->work_s * s->n_thread),
            table_duration(s->work_s, all, sizeof all));
    if (s->n_thread > 1 && !s->interrupted)
        fprintf(err, ", not all of them in the last %s", table_duration(s->tail_s, tail, sizeof tail));
    if (s->n_shared > 0)
        fprintf(err, "; %.0f %% of the searches were shared",
                100 * (double)s->n_shared / (double)(s->n_task + s->n_shared));
    fputs("\n", err);
}

void run_exchange_print(const struct exchange_summary *exchange, uint64_t n_point, FILE *err)
{
    char n[48], of[48];
    if (exchange->n_exchanged > 0)
        fprintf(
            err,
            "dse: %zu of %s points took the schedule of another one (exchanged_from), which is better there "
            "than what their own searches found; %s were priced\n",
            exchange->n_exchanged, text_thousands(n_point, of, sizeof of),
            text_thousands(exchange->n_offered, n, sizeof n));
}

size_t run_summary_print(const struct run_summary *s, const char *out, FILE *err)
{
    char time[48];
    size_t n = 0;
    for (int i = 0; i < RESULT_STATUS_COUNT; i++)
        n += s->n_status[i];
    fprintf(err, "dse: %zu point%s in %s", n, text_plural(n), table_duration(s->seconds, time, sizeof time));
    for (int i = 0; i < RESULT_STATUS_COUNT; i++)
        if (s->n_status[i])
            fprintf(err, ", %zu %s", s->n_status[i], result_status_text((enum result_status)i));
    if (s->n_reused)
        fprintf(err, "; %zu %s there already", s->n_reused, s->n_reused == 1 ? "was" : "were");
    fprintf(err, "; results in %s\n", out);
    run_exchange_print(&s->exchange, s->n_point, err);
    if (s->n_dropped)
        fprintf(err, "dse: %zu row%s moved to %s\n", s->n_dropped, s->n_dropped == 1 ? " was" : "s were",
                s->dropped_path);
    print_efficiency(s, err);
    return n;
}
