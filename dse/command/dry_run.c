/* The sweep in words, what a run of it would take, and which points are known to fail. */
#include "dse/command/dry_run.h"

#include <stdlib.h>

#include "base/text.h"
#include "dse/console/reason_groups.h"
#include "dse/console/table.h"

enum { FAILING_SHOWN_MAX = 10 };

static enum dse_status print_estimate(const struct sweep *sweep, const struct run_options *options,
                                      struct text_buffer *out, struct dse_error *err)
{
    struct run_estimate e;
    char a[48], b[48];
    DSE_TRY(runner_estimate(sweep, options, &e, err));
    if (options->n_shard > 1)
        text_append(out, "in this shard    %s\n", text_thousands(e.n_point, a, sizeof a));
    text_append(out, "to compute       %s\n", text_thousands(e.n_point - e.n_reused, a, sizeof a));
    text_append(out, "to reuse         %s\n", text_thousands(e.n_reused, a, sizeof a));
    if (e.n_foreign > 0)
        text_append(out, "%s %s point%s of another specification%s\n",
                    options->update ? "to move aside   " : "in the way      ",
                    text_thousands(e.n_foreign, a, sizeof a), text_plural(e.n_foreign),
                    options->update ? "" : ": dse run needs --update, --fresh or another -o");
    text_append(out, "searches         %s", text_thousands(e.n_task, a, sizeof a));
    if (e.n_shared > 0)
        text_append(out, ", and %s equal to one of them", text_thousands(e.n_shared, b, sizeof b));
    text_append_string(out, "\n");
    bool known = !e.at_least || e.seconds > 0;
    text_append(out, "estimated time   %s%s on %d thread%s\n",
                !known       ? "not known"
                : e.at_least ? "more than "
                             : "about ",
                known ? table_duration(e.seconds, a, sizeof a) : "", options->n_thread,
                text_plural((unsigned long long)options->n_thread));
    text_append(out, "estimated disk   %s\n", text_bytes(e.byte, a, sizeof a));
    text_append(out, "output           %s\n", options->out);
    return DSE_OK;
}

enum dse_status dry_run_refused(const struct sweep *sweep, struct text_buffer *out, uint64_t *n_failing,
                                struct dse_error *err)
{
    struct reason_groups *groups = calloc(1, sizeof *groups);
    char number[32];
    if (!groups)
        return sweep_no_memory(sweep, err);
    sweep_refused(sweep, groups);
    *n_failing = groups->n_status[RESULT_FAILED];
    if (*n_failing > 0)
        text_append(out, "%s%s of the points will fail:\n",
                    sweep->n_point > SWEEP_ASKED_MAX ? "at least " : "",
                    *n_failing == sweep->n_point ? "all" : text_thousands(*n_failing, number, sizeof number));
    reason_groups_print(groups, FAILING_SHOWN_MAX, "  ", out);
    free(groups);
    return DSE_OK;
}

enum dse_status dry_run_print(const struct sweep *sweep, const struct run_options *options, FILE *out,
                              uint64_t *n_failing, struct dse_error *err)
{
    struct text_buffer text, refused;
    text_init(&text);
    sweep_print(sweep, &text);
    enum dse_status status = options ? print_estimate(sweep, options, &text, err) : DSE_OK;
    text_init(&refused);
    if (status == DSE_OK)
        status = dry_run_refused(sweep, &refused, n_failing, err);
    if (refused.length > 0)
        text_append(&text, "\n%s", refused.data);
    text_free(&refused);
    if (status == DSE_OK)
        status = text_check(&text, "a text", err);
    if (status == DSE_OK)
        fputs(text.data, out);
    text_free(&text);
    return status;
}
