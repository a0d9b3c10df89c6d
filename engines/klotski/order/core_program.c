/* A window's program: which core each of its uops is on; a core runs one uop at a time; distances of uops of
 * the window that send to each other. A message goes to a core once, whoever waits for it there: with one end
 * outside the window that is priced so, but for uops of the window that are to share a message, and within it
 * each pair of uops counts, as in the paper. So an answer is kept only where all messages cost less. */
#include "engines/klotski/order/core_program.h"

#include <math.h>

#include "engines/search/milp.h"

/* Uops of a window: one for each core, but no more than make so many binaries. Larger windows see more and
 * are solved less often; of half to twice as many uops, and 150 to 1,000 binaries, these brought messages
 * down most for their time on the schedules of docs/klotski.md. */
enum { BINARY_MAX = 200, WINDOW_MIN = 2 };

enum { OUTSIDE = UINT32_MAX };

struct window {
    struct core_traffic *traffic;
    const struct core_settings *settings;
    const uint32_t *step, *end_step; /* (n_uop) */
    uint32_t *at;                    /* (n_step, n_core) the uop on a core, or CORE_NONE */
    uint32_t *number;                /* (n_uop) in the window, or OUTSIDE */
    const uint32_t *uop;             /* (n) of the window */
    uint32_t n;
    double *price;      /* (n, n_core) INFINITY: another uop is there */
    uint32_t *variable; /* (n, n_core) */
    uint32_t *place;    /* (n, 2) variables: row and column of the mesh; OUTSIDE: none yet */
    struct milp *model;
    struct milp_term *term; /* (n or n_core, and one) */
};

static double hops(const struct window *w, uint32_t a, uint32_t b)
{
    return w->traffic->hops[(size_t)a * w->traffic->n_core + b];
}

/* Add `by` to the readers that uop `u` is to its producers. */
static void count_reader(struct window *w, uint32_t u, int by)
{
    const struct uop_graph *graph = w->traffic->graph;
    for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
        w->traffic->n_reader[(size_t)graph->producer[k] * w->traffic->n_core + w->traffic->core[u]] +=
            (uint32_t)by;
}

/* What uop `u` costs on each core in messages from and to uops outside the window. */
static void price_uop(const struct window *w, uint32_t u, double *price)
{
    const struct core_traffic *traffic = w->traffic;
    const struct uop_graph *graph = traffic->graph;
    const uint32_t n_core = traffic->n_core, *reader = traffic->n_reader + (size_t)u * n_core;
    for (uint32_t c = 0; c < n_core; c++)
        price[c] = 0;
    for (uint32_t d = 0; d < n_core; d++)
        for (uint32_t c = 0; reader[d] && c < n_core; c++)
            price[c] += traffic->message[u] * hops(w, c, d);
    for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++) {
        const uint32_t p = graph->producer[k];
        for (uint32_t c = 0; w->number[p] == OUTSIDE && c < n_core; c++)
            price[c] += traffic->n_reader[(size_t)p * n_core + c]
                            ? 0
                            : traffic->message[p] * hops(w, traffic->core[p], c);
    }
    for (uint32_t s = w->step[u]; s < w->end_step[u]; s++)
        for (uint32_t c = 0; c < n_core; c++) {
            const uint32_t other = w->at[(size_t)s * n_core + c];
            if (other != CORE_NONE && w->number[other] == OUTSIDE)
                price[c] = INFINITY;
        }
}

/* The largest price, so that costs are of the order of 1. */
static double price_all(struct window *w)
{
    const uint32_t n_core = w->traffic->n_core;
    double most = 0;
    for (uint32_t i = 0; i < w->n; i++)
        count_reader(w, w->uop[i], -1);
    for (uint32_t i = 0; i < w->n; i++)
        price_uop(w, w->uop[i], w->price + (size_t)i * n_core);
    for (uint32_t i = 0; i < w->n; i++)
        count_reader(w, w->uop[i], 1);
    for (size_t k = 0; k < (size_t)w->n * n_core; k++)
        most = isfinite(w->price[k]) && w->price[k] > most ? w->price[k] : most;
    for (uint32_t i = 0; i < w->n; i++)
        most = fmax(most, w->traffic->message[w->uop[i]]);
    return most > 0 ? most : 1;
}

/* Each uop on one core. */
static void add_cores(struct window *w, double scale)
{
    const uint32_t n_core = w->traffic->n_core;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < n_core; c++) {
            const double price = w->price[(size_t)i * n_core + c];
            uint32_t *variable = &w->variable[(size_t)i * n_core + c];
            *variable = OUTSIDE;
            if (!isfinite(price))
                continue;
            *variable = milp_add_variable(w->model, MILP_INTEGER, 0, 1, price / scale, "on a core");
            w->term[n++] = (struct milp_term){*variable, 1};
        }
        (void)milp_add_row(w->model, 1, 1, w->term, n, "on one core");
        w->place[2 * i] = w->place[2 * i + 1] = OUTSIDE;
    }
}

/* Of uops that run at a time one on a core: where one of them starts, which has all that overlap. */
static void add_times(struct window *w)
{
    const uint32_t n_core = w->traffic->n_core;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t now = w->step[w->uop[i]];
        if (i + 1 < w->n && w->step[w->uop[i + 1]] == now)
            continue;
        for (uint32_t c = 0; c < n_core; c++) {
            uint32_t n = 0;
            for (uint32_t k = 0; k <= i; k++) {
                const uint32_t variable = w->variable[(size_t)k * n_core + c];
                if (w->end_step[w->uop[k]] > now && variable != OUTSIDE)
                    w->term[n++] = (struct milp_term){variable, 1};
            }
            if (n > 1)
                (void)milp_add_row(w->model, -INFINITY, 1, w->term, n, "one at a time");
        }
    }
}

/* Variables of the row (`axis` 0) or column (1) of the mesh that uop number `i` is on. */
static uint32_t place_of(struct window *w, uint32_t i, uint32_t axis)
{
    const uint32_t n_core = w->traffic->n_core, columns = w->settings->mesh.columns;
    uint32_t *place = &w->place[2 * i + axis], n = 0;
    if (*place != OUTSIDE)
        return *place;
    *place = milp_add_variable(w->model, MILP_CONTINUOUS, 0, axis ? columns - 1 : w->settings->mesh.rows - 1,
                               0, "place");
    for (uint32_t c = 0; c < n_core; c++)
        if (w->variable[(size_t)i * n_core + c] != OUTSIDE)
            w->term[n++] =
                (struct milp_term){w->variable[(size_t)i * n_core + c], axis ? c % columns : c / columns};
    w->term[n] = (struct milp_term){*place, -1};
    (void)milp_add_row(w->model, 0, 0, w->term, n + 1, "place");
    return *place;
}

/* The distance from uop number `i` to number `k`, at the price of a message from `i`. */
static void add_distance(struct window *w, uint32_t i, uint32_t k, double scale)
{
    for (uint32_t axis = 0; axis < 2; axis++) {
        const uint32_t from = place_of(w, i, axis), to = place_of(w, k, axis);
        const uint32_t apart = milp_add_variable(w->model, MILP_CONTINUOUS, 0, INFINITY,
                                                 w->traffic->message[w->uop[i]] / scale, "apart");
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct milp_term term[] = {{apart, 1}, {from, sign}, {to, -sign}};
            (void)milp_add_row(w->model, 0, INFINITY, term, 3, "apart");
        }
    }
}

static void add_distances(struct window *w, double scale)
{
    const struct uop_graph *graph = w->traffic->graph;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t e = graph->first_consumer[w->uop[i]]; e < graph->first_consumer[w->uop[i] + 1]; e++)
            if (w->number[graph->consumer[e]] != OUTSIDE)
                add_distance(w, i, w->number[graph->consumer[e]], scale);
}

static void put(struct window *w, uint32_t u, uint32_t what)
{
    for (uint32_t s = w->step[u]; s < w->end_step[u]; s++)
        w->at[(size_t)s * w->traffic->n_core + w->traffic->core[u]] = what;
}

/* Move the window's uops to `to` (n); returns the change of the cost. */
static double move(struct window *w, const uint32_t *to)
{
    double change = 0;
    for (uint32_t i = 0; i < w->n; i++)
        put(w, w->uop[i], CORE_NONE);
    for (uint32_t i = 0; i < w->n; i++)
        change += core_traffic_move(w->traffic, w->uop[i], to[i]);
    for (uint32_t i = 0; i < w->n; i++)
        put(w, w->uop[i], w->uop[i]);
    return change;
}

/* `to` and `was` (n) are scratch. */
static void apply(struct window *w, const double *value, uint32_t *to, uint32_t *was)
{
    const uint32_t n_core = w->traffic->n_core;
    for (uint32_t i = 0; i < w->n; i++) {
        was[i] = w->traffic->core[w->uop[i]];
        for (uint32_t c = 0; c < n_core; c++) {
            const uint32_t variable = w->variable[(size_t)i * n_core + c];
            if (variable != OUTSIDE && value[variable] > 0.5)
                to[i] = c;
        }
    }
    if (!(move(w, to) < 0))
        (void)move(w, was);
}

static enum dse_status solve_window(struct window *w, const struct milp_limits *limits, uint32_t *to,
                                    uint32_t *was, struct arena *arena, struct core_programs *out,
                                    struct dse_error *err)
{
    struct milp_result result;
    w->model = milp_new(arena);
    DSE_TRY(arena_check(arena, "a program of cores", err));
    for (uint32_t i = 0; i < w->n; i++)
        w->number[w->uop[i]] = i;
    const double scale = price_all(w);
    add_cores(w, scale);
    add_times(w);
    add_distances(w, scale);
    for (uint32_t i = 0; i < w->n; i++)
        w->number[w->uop[i]] = OUTSIDE;
    DSE_TRY(milp_solve(w->model, limits, arena, &result, err));
    out->n_window++;
    out->n_proved += result.status == MILP_OPTIMAL;
    if (result.status == MILP_OPTIMAL || result.status == MILP_FEASIBLE)
        apply(w, result.value, to, was);
    return DSE_OK;
}

enum dse_status core_program(struct core_traffic *traffic, const uint32_t *order, const uint32_t *step,
                             const uint32_t *end_step, uint32_t n_step, const struct core_settings *settings,
                             struct arena *scratch, struct core_programs *out, struct dse_error *err)
{
    const uint32_t n_uop = traffic->graph->n_uop, n_core = traffic->n_core;
    const uint32_t most = BINARY_MAX / n_core > WINDOW_MIN ? BINARY_MAX / n_core : WINDOW_MIN;
    const uint32_t size = n_core < most && n_core >= WINDOW_MIN ? n_core : most;
    const uint32_t room = size > n_core ? size : n_core;
    struct window w = {.traffic = traffic, .settings = settings, .step = step, .end_step = end_step};
    uint32_t *to = arena_alloc_unset(scratch, size, sizeof *to);
    uint32_t *was = arena_alloc_unset(scratch, size, sizeof *was);
    const struct milp_limits limits = {.max_nodes = settings->max_nodes,
                                       .stop_at_s = isfinite(settings->deadline_s) ? settings->deadline_s : 0,
                                       .cancel = settings->cancel};
    w.at = arena_alloc_unset(scratch, (size_t)n_step * n_core, sizeof *w.at);
    w.number = arena_alloc_unset(scratch, n_uop, sizeof *w.number);
    w.price = arena_alloc_unset(scratch, (size_t)size * n_core, sizeof *w.price);
    w.variable = arena_alloc_unset(scratch, (size_t)size * n_core, sizeof *w.variable);
    w.place = arena_alloc_unset(scratch, (size_t)size * 2, sizeof *w.place);
    w.term = arena_alloc_unset(scratch, room + (size_t)1, sizeof *w.term);
    DSE_TRY(arena_check(scratch, "programs of cores", err));
    for (size_t k = 0; k < (size_t)n_step * n_core; k++)
        w.at[k] = CORE_NONE;
    for (uint32_t u = 0; u < n_uop; u++) {
        w.number[u] = OUTSIDE;
        put(&w, u, u);
    }
    enum dse_status status = DSE_OK;
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < n_uop && status == DSE_OK && !milp_is_over(&limits); i += size / 2) {
        w.uop = order + i;
        w.n = n_uop - i < size ? n_uop - i : size;
        status = solve_window(&w, &limits, to, was, &arena, out, err);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return status;
}
