/* The hooks of the search space. A move that leaves the space is tried again: members are what is
 * searched. */
#include "engines/mindmappings/mm_search.h"

#include "engines/driver/engine_fit.h"

enum { MOVE_TRIES = 100, CROSSOVER_TRIES = 8 };

static bool draw(void *self, struct random_stream *stream, void *point)
{
    const struct mm_search *search = self;
    mm_space_draw(search->space, stream, point);
    return true;
}

enum search_outcome mm_search_price(struct mm_search *search, const struct mm_mapping *mapping, double *cost)
{
    struct engine_context *context = search->context;
    if (!search->trial && engine_context_left(context) == 0)
        return SEARCH_OVER;
    mm_space_decode(search->space, mapping, &search->decoded);
    bool priced = search->trial ? engine_context_try(context, &search->decoded, cost)
                                : engine_context_evaluate(context, &search->decoded, cost);
    return priced ? SEARCH_PRICED : SEARCH_INFEASIBLE;
}

static enum search_outcome evaluate(void *self, const void *point, double *cost)
{
    return mm_search_price(self, point, cost);
}

static bool is_member(const struct mm_search *search, const struct mm_mapping *mapping)
{
    return mm_space_contains(search->space, mapping, NULL, 0);
}

/* One attribute is drawn anew. */
static bool neighbour(void *self, struct random_stream *stream, const void *from, void *to)
{
    const struct mm_search *search = self;
    struct mm_mapping *next = to;
    for (int i = 0; i < MOVE_TRIES; i++) {
        *next = *(const struct mm_mapping *)from;
        mm_space_draw_attribute(search->space, random_below(stream, search->machine.algorithm->n_attribute),
                                stream, next);
        if (is_member(search, next))
            return true;
    }
    return false;
}

/* Each attribute is drawn anew with that chance. */
static bool mutate(void *self, struct random_stream *stream, double chance, const void *from, void *to)
{
    const struct mm_search *search = self;
    struct mm_mapping *next = to;
    uint32_t n_attribute = search->machine.algorithm->n_attribute, hit = 0;
    for (uint32_t a = 0; a < n_attribute; a++)
        hit |= (uint32_t)(random_unit(stream) < chance) << a;
    for (int i = 0; hit && i < MOVE_TRIES; i++) {
        *next = *(const struct mm_mapping *)from;
        for (uint32_t a = 0; a < n_attribute; a++)
            if (hit >> a & 1)
                mm_space_draw_attribute(search->space, a, stream, next);
        if (is_member(search, next))
            return true;
    }
    return false;
}

/* The attributes between two cuts come from the second one. */
static bool crossover(void *self, struct random_stream *stream, const void *a, const void *b, void *child)
{
    const struct mm_search *search = self;
    struct mm_mapping *made = child;
    uint32_t n_attribute = search->machine.algorithm->n_attribute;
    for (int i = 0; i < CROSSOVER_TRIES; i++) {
        uint32_t first = random_below(stream, n_attribute);
        uint32_t n = 1 + random_below(stream, n_attribute - 1);
        *made = *(const struct mm_mapping *)a;
        for (uint32_t k = 0; k < n; k++)
            mm_space_copy_attribute(search->space, (first + k) % n_attribute, b, made);
        if (is_member(search, made))
            return true;
    }
    return false;
}

enum dse_status mm_takes_machine(const struct engine_question *question, struct dse_error *err)
{
    struct mm_machine machine;
    return mm_machine_of(question->task->architecture, &machine, err);
}

enum dse_status mm_takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct engine_task *task = question->task;
    struct mm_machine machine;
    uint32_t size[MM_DIM_MAX];
    if (task->constraints)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "engines over Mind Mappings' vectors take no constraints: a vector has nothing to fix");
    DSE_TRY(mm_machine_of(task->architecture, &machine, err));
    return mm_problem_sizes(machine.algorithm, evaluator_problem(task->evaluator), size, err);
}

enum dse_status mm_search_init(struct mm_search *search, struct engine_context *context, enum mm_mode mode,
                               struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    uint32_t size[MM_DIM_MAX];
    search->context = context;
    search->hooks = (struct search_space){.self = search,
                                          .point_byte = sizeof(struct mm_mapping),
                                          .draw = draw,
                                          .evaluate = evaluate,
                                          .neighbour = neighbour,
                                          .mutate = mutate,
                                          .crossover = crossover};
    DSE_TRY(mm_machine_of(task->architecture, &search->machine, err));
    DSE_TRY(mm_problem_sizes(search->machine.algorithm, engine_context_problem(context), size, err));
    return mm_space_new(&search->machine, size, mode, engine_context_arena(context), &search->space, err);
}
