/* dse status and dse watch: how far sweeps are. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/console/not_ok.h"
#include "dse/console/printable.h"
#include "dse/console/report_print.h"
#include "dse/status/status_report.h"
#include "results/plot/plot.h"

enum { OUTPUT_MAX = 1024 };

/* A run that is started again after a crash gives its lock away for a moment: it has ended when it does not
 * run so often in a row. */
enum { LOOK_MIN = 2 };

/* A run that has just been started makes its table when it has read its specification. */
static const double begin_s = 3;

static const char standard_metric[] = "edp_js";

/* ---------------------------------------- both */

enum view_format { VIEW_TABLE, VIEW_JSON, VIEW_CSV };

struct view {
    struct best_slices best;
    struct front_points front;
    struct follow_set set;
    enum view_format format;
};

static enum dse_status view_open(struct view *view, const struct cli_args *args, struct dse_error *err)
{
    static const char *const formats[] = {"table", "json", "csv"};
    const bool front = cli_has(args, "front");
    const char *by[CLI_VALUE_MAX], *metric = cli_value(args, "metric");
    size_t n_by = cli_values(args, "by", by), format;
    memset(view, 0, sizeof *view);
    DSE_TRY(cli_choice(args, "format", formats, front ? 3 : 2, VIEW_TABLE, &format, err));
    DSE_TRY(best_slices_init(&view->best, by, n_by, metric ? metric : standard_metric, err));
    if (front)
        DSE_TRY(front_points_init(&view->front, cli_value(args, "front"), err));
    view->format = (enum view_format)format;
    return follow_set_open(&view->set, args->operand, args->n_operand, front ? NULL : &view->best,
                           front ? &view->front : NULL, err);
}

static void view_close(struct view *view)
{
    follow_set_close(&view->set);
    best_slices_free(&view->best);
    front_points_free(&view->front);
}

/* None of the outputs is there: most likely a wrong name. */
static enum dse_status check_there(const struct follow_set *set, struct dse_error *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->each[i].state != FOLLOW_ABSENT)
            return DSE_OK;
    return dse_fail_at(err, DSE_IO, set->each[0].csv_path, 0, "cannot be read: there is no such file%s",
                       set->n > 1 ? ", nor any other of those named" : "");
}

/* A front of some outputs would look like that of all. */
static enum dse_status check_all_there(const struct follow_set *set, struct dse_error *err)
{
    const struct metric *metric;
    struct dse_error ignored;
    char word[64];
    for (size_t i = 0; i < set->n; i++) {
        const char *out = set->each[i].out;
        if (set->each[i].state != FOLLOW_ABSENT)
            continue;
        plot_metric_word(out, 0, word, sizeof word);
        const bool is_metric = followed_metric("front", word, &metric, &ignored) == DSE_OK;
        return dse_fail_at(err, DSE_IO, set->each[i].csv_path, 0, "cannot be read: there is no such file%s%s",
                           is_metric ? "; metrics follow an equals sign: --front=" : "",
                           is_metric ? out : "");
    }
    return DSE_OK;
}

static enum dse_status print_front(struct view *view, struct text_buffer *text, struct dse_error *err)
{
    static const enum report_format how[] = {
        [VIEW_TABLE] = REPORT_TABLE, [VIEW_JSON] = REPORT_JSON, [VIEW_CSV] = REPORT_CSV};
    struct report report;
    DSE_TRY(check_all_there(&view->set, err));
    if (view->front.n_ok == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, view->set.each[0].csv_path, 0, "no point is ok yet%s",
                           view->set.n > 1 ? ", nor any of the other outputs" : "");
    front_points_report(&view->front, &report);
    enum dse_status status = report_print(&report, how[view->format], text, err);
    report_free(&report);
    return status;
}

/* Read what is new and make the text. */
static enum dse_status look(struct view *view, struct text_buffer *text, struct dse_error *err)
{
    DSE_TRY(follow_set_poll(&view->set, err));
    DSE_TRY(check_there(&view->set, err));
    text_clear(text);
    if (view->set.front)
        return print_front(view, text, err);
    if (view->format == VIEW_JSON)
        status_report_json(&view->set, text);
    else
        status_report_text(&view->set, text);
    return text_check(text, "the report", err);
}

/* ---------------------------------------- status */

/* The points that are not ok one by one. */
static enum dse_status print_list(const struct follow_set *set, uint64_t most, FILE *out,
                                  struct dse_error *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct follow *f = &set->each[i];
        if (f->state == FOLLOW_ABSENT || f->n_point == f->n_status[RESULT_OK])
            continue;
        fputs("\n", out);
        if (set->n > 1)
            fprintf(out, "%s\n", f->out);
        DSE_TRY(not_ok_list(f->out, f->known ? &f->schema : NULL, (size_t)most, out, err));
    }
    return DSE_OK;
}

static enum dse_status print_status(const struct cli_args *args, const struct console *console,
                                    struct dse_error *err)
{
    static const char *const of_report[] = {"by", "metric", "list"};
    struct view view;
    struct text_buffer text;
    unsigned long long most = 0;
    text_init(&text);
    DSE_TRY(cli_number(args, "list", 1, SIZE_MAX, &most, err));
    for (size_t i = 0; i < sizeof of_report / sizeof of_report[0]; i++)
        if (cli_has(args, "front") && cli_has(args, of_report[i]))
            return dse_fail(err, DSE_BAD_USAGE,
                            "--%s is of the report, and --front is printed in its place%s", of_report[i],
                            strcmp(of_report[i], "metric") == 0 ? "; its metrics: --front=energy_j,latency_s"
                                                                : "");
    enum dse_status status = view_open(&view, args, err);
    if (status == DSE_OK)
        status = look(&view, &text, err);
    if (status == DSE_OK)
        fputs(text.data, console->out);
    if (status == DSE_OK && most > 0 && view.format == VIEW_TABLE)
        status = print_list(&view.set, most, console->out, err);
    view_close(&view);
    text_free(&text);
    return status;
}

static int status_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, print_status(args, console, &err), &err);
}

/* ---------------------------------------- watch */

/* The first lines of the report that the window has room for, each cut to its width, over what was there
 * before: nothing flickers. */
static void draw(struct text_buffer *text, FILE *out)
{
    struct winsize window = {0};
    char title[64] = "";
    struct tm now;
    time_t clock = time(NULL);
    int fd = fileno(out);
    if (fd < 0 || ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_row < 4 || window.ws_col < 20)
        window = (struct winsize){.ws_row = 24, .ws_col = 80};
    if (localtime_r(&clock, &now))
        (void)strftime(title, sizeof title, "%H:%M:%S; Ctrl-C ends watching, not the run", &now);
    fprintf(out, "\033[H%.*s\033[K\n\033[K\n", (int)window.ws_col, title);
    unsigned row = 2, column = 0;
    (void)printable_clean(text->data, strlen(text->data));
    for (const char *at = text->data; *at && row + 1 < window.ws_row; at++) {
        if (*at == '\n') {
            fputs("\033[K\n", out);
            row++;
            column = 0;
            continue;
        }
        column += ((unsigned char)*at & 0xc0) != 0x80;
        if (column <= window.ws_col)
            putc(*at, out);
    }
    fputs("\033[J", out);
}

/* Wait; true when a signal says to end. */
static bool wait_for_end(const sigset_t *signals, double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    return sigtimedwait(signals, NULL, &time) > 0;
}

/* Nothing runs any more, and nothing that is named is still to begin. */
static bool is_over(const struct follow_set *set)
{
    return !follow_set_any(set, FOLLOW_RUNNING) && !follow_set_any(set, FOLLOW_ABSENT);
}

/* Give the first run a moment to begin. True when a signal says to end. */
static bool wait_for_begin(struct follow_set *set, const sigset_t *signals)
{
    const double step_s = 0.1;
    struct dse_error err; /* whatever is wrong comes up again */
    for (double waited_s = 0; waited_s < begin_s; waited_s += step_s) {
        if (follow_set_poll(set, &err) != DSE_OK || check_there(set, &err) == DSE_OK)
            return false;
        if (wait_for_end(signals, step_s))
            return true;
    }
    return false;
}

static enum dse_status watch_loop(struct view *view, double interval_s, const sigset_t *signals,
                                  const struct console *console, struct dse_error *err)
{
    FILE *terminal = view->format == VIEW_JSON ? NULL : console->out_terminal,
         *out = terminal ? terminal : console->out;
    struct text_buffer text;
    enum dse_status status = DSE_OK;
    bool first = true;
    if (wait_for_begin(&view->set, signals))
        return DSE_OK;
    text_init(&text);
    if (terminal)
        fputs("\033[H\033[2J", out);
    for (int n_over = 0; n_over < LOOK_MIN;) {
        status = look(view, &text, err);
        if (status != DSE_OK)
            break;
        n_over = is_over(&view->set) ? n_over + 1 : 0;
        bool complete = n_over > 0 && !follow_set_any(&view->set, FOLLOW_KILLED) &&
                        !follow_set_any(&view->set, FOLLOW_STOPPED);
        bool last = complete || n_over == LOOK_MIN;
        if (terminal)
            draw(&text, out);
        else if (n_over == 0 || last)
            fprintf(out, "%s%s", first || view->format == VIEW_JSON ? "" : "\n", text.data);
        first = first && n_over > 0 && !last;
        if (fflush(out) != 0 || last || wait_for_end(signals, interval_s))
            break;
    }
    text_free(&text);
    return status;
}

static enum dse_status read_interval(const struct cli_args *args, double *seconds, struct dse_error *err)
{
    const char *word = cli_value(args, "interval");
    char shown[64];
    *seconds = 2;
    if (word && (!text_parse_double(word, seconds) || !(*seconds >= 0.1 && *seconds <= 86400)))
        return dse_fail(err, DSE_BAD_USAGE, "--interval %s: seconds from 0.1 to 86400 are expected",
                        text_excerpt(word, shown, sizeof shown));
    return DSE_OK;
}

static enum dse_status watch(const struct cli_args *args, const struct console *console,
                             struct dse_error *err)
{
    struct view view;
    sigset_t signals, before;
    double interval_s;
    DSE_TRY(read_interval(args, &interval_s, err));
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    enum dse_status status = view_open(&view, args, err);
    if (status == DSE_OK)
        status = watch_loop(&view, interval_s, &signals, console, err);
    view_close(&view);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static int watch_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, watch(args, console, &err), &err);
}

/* ---------------------------------------- tables */

static const struct cli_option status_options[] = {
    {"by", 0, "AXIS", "show the best point so far for each value of this axis; repeatable"},
    {"metric", 'm', "COLUMN", "what the best point is best in: edp_js (default), latency_s, energy_j, ..."},
    {"list", 0, "N", "also list the first N points that are not ok, one by one"},
    {"front", 0, "[=METRIC,...]",
     "instead the points that no other beats in these metrics (default: energy_j, latency_s, and area_mm2 "
     "where points have it)"},
    {"format", 'f', "FORMAT",
     "table (default), json (of the report one object in one line), or, of --front, csv"},
};

const struct cli_command command_status = {
    .name = "status",
    .operands = "OUT.h5...",
    .summary = "Show how far sweeps are, also while they run, and which points are not ok.",
    .help =
        "Takes OUT.h5 or OUT.csv; several, as the shards of one sweep, become one table. Reading needs no "
        "lock "
        "and disturbs\n"
        "no run. Points that are not ok are grouped by reason; * stands for what differs within a group.\n"
        "\n"
        "  dse status out.h5\n"
        "  dse status out.*-of-8.csv\n"
        "  dse status out.h5 --by GlobalBuffer.capacity --metric latency_s\n"
        "  dse status out.h5 --front\n"
        "  dse status out.h5 --front=utilization,dram_byte -f csv\n",
    .option = status_options,
    .n_option = sizeof status_options / sizeof status_options[0],
    .min_operand = 1,
    .max_operand = OUTPUT_MAX,
    .run = status_main,
};

static const struct cli_option watch_options[] = {
    {"interval", 'n', "SECONDS", "from one look to the next (default 2)"},
    {"by", 0, "AXIS", "as for `dse status`; repeatable"},
    {"metric", 'm', "COLUMN", "as for `dse status`"},
    {"format", 'f', "FORMAT", "table (default) or json, one object in one line per look"},
};

const struct cli_command command_watch = {
    .name = "watch",
    .operands = "OUT.h5...",
    .summary = "Show how far sweeps are, again and again until they end.",
    .help =
        "What `dse status` shows, on a terminal always in the same place, else one block per look. Only new "
        "lines are read. Ends with\n"
        "exit code 0 when no run writes any of the outputs any more, or with Ctrl-C, which does not end the "
        "run. An output that\n"
        "is not there yet is waited for; when none is there after 3 s, that is an error.\n"
        "\n"
        "  dse watch out.h5\n"
        "  dse watch out.1-of-2.h5 out.2-of-2.h5 --interval 10\n",
    .option = watch_options,
    .n_option = sizeof watch_options / sizeof watch_options[0],
    .min_operand = 1,
    .max_operand = OUTPUT_MAX,
    .run = watch_main,
};
