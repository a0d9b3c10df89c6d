/* Rows of files of vectors: each read, told whether it is a member of its problem's map space, and priced. */
#include "engines/mindmappings/mm_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/mindmappings/mm_price.h"

enum { FIXED_COLUMNS = 3, COLUMN_MAX = FIXED_COLUMNS + MM_COST_MAX + MM_MINIMUM_COUNT, NAME_MAX = 128 };

/* What a vector is evaluated with: the space and the pricer of the last one's problem, as files have many of
 * the same. */
struct evaluation_state {
    struct mm_machine machine;
    struct cell_column column[COLUMN_MAX];
    char name[MM_COST_MAX][NAME_MAX];
    size_t n_column;
    struct arena arena;
    const struct mm_space *space[MM_MODE_COUNT]; /* NULL: none yet */
    struct mm_pricer *pricer;
    struct mm_cost minimum[MM_MINIMUM_COUNT];
};

static enum dse_status accepts(const struct architecture *arch, struct dse_error *err)
{
    struct mm_machine machine;
    return mm_machine_of(arch, &machine, err);
}

/* ---------------------------------------- evaluation */

static void set_columns(struct evaluation_state *state)
{
    static const struct cell_column before[FIXED_COLUMNS] = {CELL_COLUMN("line", "line", LOOK_COUNT),
                                                             CELL_COLUMN("member", "member", LOOK_TEXT),
                                                             CELL_COLUMN("reason", "reason", LOOK_TEXT)};
    static const char *const norm[MM_MINIMUM_COUNT] = {"edp_norm", "edp_norm_no_mac", "edp_norm_halo"};
    const uint32_t n_cost = state->machine.algorithm->n_cost;
    memcpy(state->column, before, sizeof before);
    state->n_column = FIXED_COLUMNS;
    for (uint32_t i = 0; i < n_cost; i++) {
        const char *name = mm_cost_name(&state->machine, i, state->name[i], sizeof state->name[i]);
        state->column[state->n_column++] = (struct cell_column){
            .name = name, .title = i + 3 < n_cost ? NULL : name, .look = LOOK_DIGITS, .digit = 6};
    }
    for (int i = 0; i < MM_MINIMUM_COUNT; i++)
        state->column[state->n_column++] =
            (struct cell_column){.name = norm[i], .title = norm[i], .look = LOOK_DIGITS, .digit = 6};
}

static enum dse_status open(const struct architecture *arch, void **evaluation, struct dse_error *err)
{
    struct evaluation_state *state = calloc(1, sizeof *state);
    *evaluation = state;
    if (!state)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for the evaluation of vectors");
    arena_init(&state->arena);
    enum dse_status status = mm_machine_of(arch, &state->machine, err);
    if (status == DSE_OK)
        set_columns(state);
    else
        free(state);
    return status;
}

static void close(void *evaluation)
{
    struct evaluation_state *state = evaluation;
    mm_pricer_delete(state->pricer);
    arena_free(&state->arena);
    free(state);
}

static size_t columns(const void *evaluation, const struct cell_column **column)
{
    const struct evaluation_state *state = evaluation;
    *column = state->column;
    return state->n_column;
}

/* Spaces and pricer of the problem of these sizes, if they are those of another. */
static enum dse_status prepare(struct evaluation_state *state, const uint32_t *size, struct dse_error *err)
{
    const uint32_t n_dim = state->machine.algorithm->n_dim;
    if (state->pricer && memcmp(mm_space_size(state->space[0]), size, n_dim * sizeof *size) == 0)
        return DSE_OK;
    mm_pricer_delete(state->pricer);
    state->pricer = NULL;
    arena_reset(&state->arena);
    for (int m = 0; m < MM_MODE_COUNT; m++)
        DSE_TRY(mm_space_new(&state->machine, size, (enum mm_mode)m, &state->arena, &state->space[m], err));
    DSE_TRY(mm_pricer_new(state->space[0], &state->pricer, err));
    for (int m = 0; m < MM_MINIMUM_COUNT; m++)
        mm_minimum(state->space[0], (enum mm_minimum)m, &state->minimum[m]);
    return DSE_OK;
}

/* Places of dimensions from the dimensions in each place. What is no permutation stays what it is, and will
 * be seen not to be one. */
static void invert_orders(const struct mm_algorithm *algorithm, double *vector)
{
    const uint32_t n_dim = algorithm->n_dim;
    for (uint32_t n = 0; n < MM_NEST_COUNT; n++) {
        double *order = vector + (1 + MM_BLOCK_COUNT + n) * n_dim, place[MM_DIM_MAX];
        uint32_t seen = 0;
        for (uint32_t i = 0; i < n_dim; i++) {
            const bool is_dim = order[i] >= 0 && order[i] < n_dim && floor(order[i]) >= order[i];
            if (is_dim) {
                seen |= 1u << (uint32_t)order[i];
                place[(uint32_t)order[i]] = i;
            }
        }
        if (seen == (1u << n_dim) - 1)
            memcpy(order, place, n_dim * sizeof *order);
    }
}

static enum dse_status check_length(const struct evaluation_state *state, size_t n, struct dse_error *err)
{
    const struct mm_algorithm *algorithm = state->machine.algorithm;
    if (n == algorithm->n_value)
        return DSE_OK;
    for (int i = 0; i < MM_ALGORITHM_COUNT; i++)
        if (n == mm_algorithm((enum mm_algorithm_id)i)->n_value)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%zu values are a vector of %s, and %s is a machine for %s, with %" PRIu32
                            " values",
                            n, mm_algorithm((enum mm_algorithm_id)i)->name, state->machine.arch->name,
                            algorithm->name, algorithm->n_value);
    return dse_fail(err, DSE_BAD_INPUT, "%zu values, a vector of %s (%s) has %" PRIu32, n,
                    state->machine.arch->name, algorithm->name, algorithm->n_value);
}

static enum dse_status row(void *evaluation, const struct vector_line *line, struct cells *rows,
                           struct dse_error *err)
{
    struct evaluation_state *state = evaluation;
    const struct mm_algorithm *algorithm = state->machine.algorithm;
    double vector[MM_VALUE_MAX];
    uint32_t size[MM_DIM_MAX];
    struct mm_mapping mapping;
    struct mm_cost cost;
    char reason[256] = "";
    DSE_TRY(check_length(state, line->n, err));
    memcpy(vector, line->value, line->n * sizeof *vector);
    if (line->orders == VECTOR_ORDERS_DIMS)
        invert_orders(algorithm, vector);
    const bool is_real = line->projection != VECTOR_AS_IT_IS;
    if (is_real ? !mm_vector_sizes(algorithm, vector, size, reason, sizeof reason)
                : !mm_vector_read(algorithm, vector, size, &mapping, reason, sizeof reason))
        return dse_fail(err, DSE_BAD_INPUT, "%s", reason);
    DSE_TRY(prepare(state, size, err));
    if (is_real)
        mm_space_project(state->space[line->mode], vector,
                         line->projection == VECTOR_NEAREST_LOG2 ? MM_DISTANCE_LOG2 : MM_DISTANCE_RAW,
                         &mapping);
    const bool is_member = mm_space_contains(state->space[line->mode], &mapping, reason, sizeof reason) &&
                           mm_price(state->pricer, &mapping, &cost);
    cells_whole(rows, line->line);
    cells_switch(rows, is_member);
    cells_text(rows, reason);
    for (uint32_t i = 0; i + 1 < algorithm->n_cost; i++)
        cells_real(rows, is_member ? cost.value[i] : NAN);
    if (is_member) /* the last value of the vector, as the count that it is */
        cells_count(rows, (uint64_t)cost.cycle);
    else
        cells_none(rows);
    for (int i = 0; i < MM_MINIMUM_COUNT; i++)
        cells_real(rows, is_member ? cost.edp / state->minimum[i].edp : NAN);
    return DSE_OK;
}

/* ---------------------------------------- draws */

/* A space keeps its machine. */
struct own_space {
    struct mm_machine machine;
    const struct mm_space *space;
};

static enum dse_status space(const struct architecture *arch, const struct problem *problem, size_t mode,
                             struct arena *arena, const void **out, double *log10_size, struct dse_error *err)
{
    struct own_space *own = arena_alloc(arena, 1, sizeof *own);
    uint32_t size[MM_DIM_MAX];
    DSE_TRY(arena_check(arena, "a map space", err));
    DSE_TRY(mm_machine_of(arch, &own->machine, err));
    DSE_TRY(mm_problem_sizes(own->machine.algorithm, problem, size, err));
    DSE_TRY(mm_space_new(&own->machine, size, (enum mm_mode)mode, arena, &own->space, err));
    *log10_size = mm_space_log10(own->space);
    *out = own;
    return DSE_OK;
}

static void draw(const void *from, struct random_stream *stream, struct mapping *mapping)
{
    const struct own_space *own = from;
    struct mm_mapping drawn;
    mm_space_draw(own->space, stream, &drawn);
    mm_space_decode(own->space, &drawn, mapping);
}

/* ---------------------------------------- mappings as vectors */

static enum dse_status takes(const struct architecture *arch, const struct problem *problem,
                             struct dse_error *err)
{
    struct mm_machine machine;
    uint32_t size[MM_DIM_MAX];
    DSE_TRY(mm_machine_of(arch, &machine, err));
    return mm_problem_sizes(machine.algorithm, problem, size, err);
}

static enum dse_status write(const struct architecture *arch, const struct problem *problem,
                             const struct mapping *mapping, struct text_buffer *out, struct dse_error *err)
{
    struct mm_machine machine;
    struct mm_mapping found;
    struct arena arena;
    const struct mm_space *of;
    uint32_t size[MM_DIM_MAX];
    double vector[MM_VALUE_MAX];
    char reason[256] = "";
    DSE_TRY(mm_machine_of(arch, &machine, err));
    DSE_TRY(mm_problem_sizes(machine.algorithm, problem, size, err));
    arena_init(&arena);
    enum dse_status status = mm_space_new(&machine, size, MM_AUTOBYPASS, &arena, &of, err);
    if (status == DSE_OK && !mm_space_encode(of, mapping, &found, reason, sizeof reason))
        status = dse_fail(err, DSE_BAD_INPUT, "no vector stands for this mapping: %s", reason);
    if (status == DSE_OK)
        mm_space_vector(of, &found, vector);
    for (uint32_t i = 0; status == DSE_OK && i < machine.algorithm->n_value; i++)
        text_append(out, "%s%.0f", i ? "," : "", vector[i]);
    arena_free(&arena);
    return status;
}

const struct vector_format vector_format_mm = {
    .name = "vector of Mind Mappings",
    .mode = mm_mode_name,
    .n_mode = MM_MODE_COUNT,
    .value_max = MM_VALUE_MAX,
    .accepts = accepts,
    .open = open,
    .close = close,
    .columns = columns,
    .row = row,
    .space = space,
    .draw = draw,
    .takes = takes,
    .write = write,
};
