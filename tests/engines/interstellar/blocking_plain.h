/* Random small spaces of blockings, and the plain search of one: every factorisation, every place in the
 * arrays and every order of loops, priced by the accounting. It shares no code with the engine; header only,
 * as each test program is one file. */
#ifndef TESTS_ENGINES_INTERSTELLAR_BLOCKING_PLAIN_H
#define TESTS_ENGINES_INTERSTELLAR_BLOCKING_PLAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/driver/objective.h"
#include "engines/interstellar/blocking_space.h"
#include "tests/engines/small_cases.h"

struct task {
    struct problem problem;
    struct architecture arch;
    struct blocking_settings settings;
};

/* ---------------------------------------- the plain search */

struct plain {
    const struct task *task;
    const struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct mapping mapping;
    uint32_t factor[2 * ARCH_LEVEL_MAX]
                   [PROBLEM_DIM_MAX]; /* of the temporal loops of each level, then its array */
    uint32_t fan[ARCH_LEVEL_MAX][2];
    const struct objective *objective; /* NULL: energy */
    double best;
};

static inline void price(struct plain *p)
{
    struct evaluation evaluation;
    if (evaluator_run(p->evaluator, p->workspace, &p->mapping, &evaluation) &&
        (p->task->settings.most_cycle <= 0 ||
         (double)evaluation.latency_cycle <= p->task->settings.most_cycle))
        p->best =
            fmin(p->best, p->objective ? objective_cost(p->objective, &evaluation) : evaluation.energy_j);
}

static inline void swap(uint8_t *a, uint8_t *b)
{
    const uint8_t held = *a;
    *a = *b;
    *b = held;
}

/* All orders of the first n_present loops of level l, of which n are settled, and of all levels further out.
 */
static inline void permute(struct plain *p, uint32_t l, uint32_t n, uint32_t n_present)
{
    if (n < n_present) {
        uint8_t *order = p->mapping.level[l].temporal_order;
        for (uint32_t i = n; i < n_present; i++) {
            swap(&order[n], &order[i]);
            permute(p, l, n + 1, n_present);
            swap(&order[n], &order[i]);
        }
        return;
    }
    if (++l == p->task->arch.n_level) {
        price(p);
        return;
    }
    uint32_t first = 0, last = p->task->problem.n_dim;
    for (uint32_t d = 0; d < p->task->problem.n_dim; d++) {
        const bool spatial = l + 1 < p->task->arch.n_level && p->mapping.level[l + 1].spatial[d] > 1;
        p->mapping.level[l]
            .temporal_order[p->mapping.level[l].temporal[d] > 1 || spatial ? first++ : --last] = (uint8_t)d;
    }
    permute(p, l, 0, first);
}

/* Loops of a side, near ones first. */
struct side {
    uint32_t n, loop[PROBLEM_DIM_MAX], product;
    bool early; /* it was used enough before the last loop came */
};

static inline bool is_allowed(const struct plain *p, const struct side *side, uint32_t width)
{
    const struct array_rule *rule = &p->task->settings.array;
    const bool single = !rule->replication || rule->loops == 1;
    if (side->product > width || side->n > (single ? 1 : rule->loops))
        return false;
    if (rule->any)
        return side->product >= rule->threshold * width;
    return side->n > 0 && !side->early && (single || side->product >= rule->threshold * width);
}

static inline void place_arrays(struct plain *p, uint32_t l);

/* Put the loops of array l that are still out, `left`, onto its sides in every way. */
static inline void place(struct plain *p, uint32_t l, uint32_t left, const struct side *x,
                         const struct side *y)
{
    const uint32_t *width = p->fan[l];
    struct mapping_level *level = &p->mapping.level[l];
    if (left == 0) {
        uint32_t n = 0;
        if (!is_allowed(p, x, width[0]) || (width[1] > 1 && !is_allowed(p, y, width[1])))
            return;
        for (uint32_t i = 0; i < x->n; i++)
            level->spatial_order[n++] = (uint8_t)x->loop[i];
        level->split = (uint8_t)n;
        for (uint32_t i = 0; i < y->n; i++)
            level->spatial_order[n++] = (uint8_t)y->loop[i];
        for (uint32_t d = 0; d < p->task->problem.n_dim; d++)
            if (level->spatial[d] == 1)
                level->spatial_order[n++] = (uint8_t)d;
        place_arrays(p, l + 1);
        return;
    }
    for (uint32_t d = 0; d < p->task->problem.n_dim; d++)
        for (uint32_t on_y = 0; left >> d & 1 && on_y < (width[1] > 1 ? 2u : 1u); on_y++) {
            struct side longer = on_y ? *y : *x;
            longer.early = longer.n > 0 && longer.product >= p->task->settings.array.threshold * width[on_y];
            longer.loop[longer.n++] = d;
            longer.product *= level->spatial[d];
            place(p, l, left & ~(1u << d), on_y ? x : &longer, on_y ? &longer : y);
        }
}

/* Every array from level l outwards; then every order of loops. */
static inline void place_arrays(struct plain *p, uint32_t l)
{
    uint32_t out = 0;
    if (l == p->task->arch.n_level) {
        p->mapping.level[0].temporal_order[0] = 0;
        uint32_t first = 0, last = p->task->problem.n_dim;
        for (uint32_t d = 0; d < p->task->problem.n_dim; d++) {
            const bool present = p->mapping.level[0].temporal[d] > 1 || p->mapping.level[1].spatial[d] > 1;
            p->mapping.level[0].temporal_order[present ? first++ : --last] = (uint8_t)d;
        }
        permute(p, 0, 0, first);
        return;
    }
    const struct side none = {.product = 1};
    for (uint32_t d = 0; d < p->task->problem.n_dim; d++)
        out |= (uint32_t)(p->mapping.level[l].spatial[d] > 1) << d;
    if (p->fan[l][0] > 1)
        place(p, l, out, &none, &none);
    else
        place_arrays(p, l + 1);
}

static inline void factorise(struct plain *p, uint32_t d);

/* Split `rest` iterations of dimension d over places `at` and on: temporal loops, then arrays. */
static inline void split_loop(struct plain *p, uint32_t d, uint32_t at, uint32_t rest)
{
    const uint32_t n = p->task->arch.n_level;
    if (at == 2 * n) {
        if (rest == 1)
            factorise(p, d + 1);
        return;
    }
    const uint32_t most = at < n ? rest : p->fan[at - n][0] * p->fan[at - n][1];
    for (uint32_t f = 1; f <= rest && f <= most; f++) {
        if (rest % f)
            continue;
        if (at < n)
            p->mapping.level[at].temporal[d] = f;
        else
            p->mapping.level[at - n].spatial[d] = f;
        split_loop(p, d, at + 1, rest / f);
    }
}

/* Every bound of dimension d that padding allows. */
static inline void factorise(struct plain *p, uint32_t d)
{
    if (d == p->task->problem.n_dim) {
        place_arrays(p, 0);
        return;
    }
    const uint32_t bound = p->task->problem.bound[d];
    for (uint32_t padded = bound; padded <= p->task->settings.pad * bound; padded++)
        split_loop(p, d, 0, padded);
}

/* The least cost; INFINITY: no mapping fits. */
static inline double search_plainly(const struct task *task, const struct evaluator *evaluator,
                                    const struct objective *objective)
{
    struct plain *p = calloc(1, sizeof *p);
    struct dse_error err;
    assert_non_null(p);
    p->task = task;
    p->evaluator = evaluator;
    p->objective = objective;
    p->best = INFINITY;
    assert_int_equal(eval_workspace_new(evaluator, &p->workspace, &err), DSE_OK);
    for (uint32_t l = 0; l < task->arch.n_level; l++) {
        uint64_t x, y;
        architecture_fanout(&task->arch, l, &x, &y);
        p->fan[l][0] = (uint32_t)(x > 1 ? x : y);
        p->fan[l][1] = (uint32_t)(x > 1 ? y : 1);
    }
    mapping_init(&p->mapping, &task->problem, &task->arch);
    factorise(p, 0);
    const double best = p->best;
    eval_workspace_delete(p->workspace);
    free(p);
    return best;
}

/* ---------------------------------------- random spaces */

/* A convolution of at most `most` steps, with a stride now and then. */
static inline void draw_problem(struct random_stream *stream, uint32_t most, struct problem *problem)
{
    static const char *const inputs[] = {"N C P+R Q+S", "N C P*2+R Q*2+S", "N C P*3+R Q*2+S"};
    uint32_t bound[7] = {1, 1, 1, 1, 1, 1, 1}, macs = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t *b = &bound[random_below(stream, 7)], size = 2 + random_below(stream, 5);
        if (macs / *b * size <= most) {
            macs = macs / *b * size;
            *b = size;
        }
    }
    random_case_conv(problem, "small", bound, inputs[random_below(stream, 3)]);
}

/* 2 to 4 levels; an array of up to 3 x 3 below some, also below the innermost; tensors left out of levels;
 * bandwidths, if time counts. */
static inline void draw_machine(struct random_stream *stream, bool timed, struct architecture *arch)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    const uint32_t n = 2 + random_below(stream, 3);
    uint64_t x = 1, y = 1;
    *arch = (struct architecture){.name = "small", .clock_hz = 1e9, .n_level = n, .strict_fanout = true};
    for (uint32_t l = n; l-- > 0;) {
        struct storage_level *level = &arch->level[l];
        small_level(level, names[l], (2 + random_below(stream, 12)) << (2 * l), x, y,
                    (1 + random_unit(stream)) * (double)(1u << 2 * l));
        if (random_below(stream, 5) < 2) {
            x *= 1 + random_below(stream, 3);
            y *= 1 + random_below(stream, 2);
            level->hop_energy_j = random_below(stream, 2) ? random_unit(stream) * 5 : 0;
            level->ingress_energy_j = random_below(stream, 3) ? 0 : random_unit(stream);
            level->link = random_below(stream, ARRAY_LINK_COUNT);
        }
        for (uint32_t r = 0; l + 1 < n && r < TENSOR_ROLE_COUNT; r++)
            if (random_below(stream, 4) == 0 && level->keep_role & ~(1u << r)) /* it keeps another */
                level->keep_role &= ~(1u << r);
        if (timed && random_below(stream, 3) == 0)
            level->shared_bandwidth_word_per_cycle = 1 + random_below(stream, 6);
        if (timed && random_below(stream, 4) == 0)
            level->read_bandwidth_word_per_cycle = 1 + random_below(stream, 6);
    }
    arch->level[n - 1].is_dram = true;
    arch->mac = (struct mac_array){.name = "MAC",
                                   .word_bit = 8,
                                   .instances = x * y,
                                   .mesh_x = x,
                                   .mesh_y = y,
                                   .energy_j = 0.5,
                                   .capacity = random_below(stream, 2)};
}

static inline void draw(struct random_stream *stream, struct task *task)
{
    const uint32_t kind = random_below(stream, 4); /* 1: padded, 2: timed, 3: by the authors' rules */
    draw_problem(stream, kind == 1 ? 12 : kind == 2 ? 16 : 24, &task->problem);
    draw_machine(stream, kind == 2, &task->arch);
    if (kind != 3 && random_below(stream, 3) == 0)
        small_banks(stream, &task->problem, &task->arch);
    task->settings =
        (struct blocking_settings){.rule = kind == 3 ? REUSE_COMPAT : REUSE_SANE,
                                   .half_full = kind == 3,
                                   .pad = kind == 1 ? 1.4 : 1,
                                   .array = {.any = kind != 3 || random_below(stream, 2),
                                             .replication = random_below(stream, 3) > 0,
                                             .loops = 2,
                                             .threshold = kind == 1 || random_below(stream, 2) ? 0 : 0.5}};
    for (uint32_t l = 0; kind == 3 && l + 1 < task->arch.n_level; l++)
        task->arch.level[l].min_utilization = random_below(stream, 2) ? 0.3 * random_unit(stream) : 0;
}

#endif
