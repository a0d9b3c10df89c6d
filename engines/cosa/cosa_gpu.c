/* Adds to a model the rows of threads, shape, registers and sums of a thread block, and says which loop
 * order a GPU wants. */
#include "engines/cosa/cosa_gpu.h"

#include <math.h>
#include <string.h>

/* Slack of rows in bits: log2 of a product is not exact. */
#define BITS_SLACK 1e-9

/* Of the registers that a thread's tiles share, by role. An outer product of a weights and b inputs has a * b
 * outputs: sums get half, which is 8 + 4 + 4 words for each of 1024 threads on the K80. */
static const double register_share[TENSOR_ROLE_COUNT] = {
    [TENSOR_WEIGHT] = 0.25, [TENSOR_INPUT] = 0.25, [TENSOR_OUTPUT] = 0.5};

static const struct gpu_limits *limits_of(const struct cosa_model *model)
{
    return &model->shape->arch->gpu;
}

/* Put the bits of the number of threads. */
static void put_threads(struct cosa_model *model)
{
    for (uint32_t k = 0; k < model->n_kind; k++)
        for (int axis = COSA_X; axis <= COSA_Y; axis++)
            cosa_put(model, model->count[k][limits_of(model)->level][axis], model->kind[k].bits);
}

/* Every factor of the block lies on its x, y or z, each with its own limit: three more counts for each prime.
 * Needed only where a block can have more threads than x, since else all may lie on x. */
static void add_shape_rows(struct cosa_model *model)
{
    const struct gpu_limits *gpu = limits_of(model);
    uint32_t on[COSA_KIND_MAX][3];
    for (uint32_t k = 0; k < model->n_kind; k++) {
        const uint32_t *count = model->count[k][gpu->level], *highest = model->highest[k][gpu->level];
        double most = (count[COSA_X] == COSA_NONE ? 0 : highest[COSA_X]) +
                      (count[COSA_Y] == COSA_NONE ? 0 : highest[COSA_Y]);
        for (int axis = 0; axis < 3; axis++) {
            on[k][axis] =
                most > 0 ? milp_add_variable(model->milp, MILP_INTEGER, 0, most, 0, "on an axis") : COSA_NONE;
            cosa_put(model, on[k][axis], 1);
        }
        cosa_put(model, count[COSA_X], -1);
        cosa_put(model, count[COSA_Y], -1);
        if (model->n_term > 0)
            (void)cosa_add_row(model, 0, 0, "an axis for each thread loop");
    }
    for (int axis = 0; axis < 3; axis++) {
        for (uint32_t k = 0; k < model->n_kind; k++)
            cosa_put(model, on[k][axis], model->kind[k].bits);
        if (model->n_term > 0)
            (void)cosa_add_row(model, -INFINITY, log2(gpu->thread_dim[axis]) + BITS_SLACK, "x, y, z");
    }
}

/* The sum of the shares of everything that is kept inside a thread; a tensor that two storages keep counts
 * twice. */
static double shares_inside(const struct cosa_shape *shape)
{
    double sum = 0;
    for (uint32_t l = 0; l < shape->arch->gpu.level; l++)
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
            if (shape->keep[l] >> t & 1u)
                sum += register_share[shape->problem->tensor[t].role];
    return sum;
}

/* What one factor adds to a tile, never too small: strides with every prime, windows in full. */
static double full_bits(const struct cosa_shape *shape, uint32_t t, const struct cosa_kind *kind)
{
    return cosa_tile_bits(shape, t, kind->dim, kind->bits, true) +
           cosa_window_bits(shape, t, kind->dim, kind->bits);
}

/* Threads times the tile of one thread, at most the tensor's part of the block's registers. The parts add up
 * to the pool and a tile is charged in full, so what keeps these rows fits. */
static void add_register_rows(struct cosa_model *model)
{
    const struct cosa_shape *shape = model->shape;
    const struct gpu_limits *gpu = limits_of(model);
    double sum = shares_inside(shape);
    for (uint32_t i = 0; i < gpu->level; i++)
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
            if (!(shape->keep[i] >> t & 1u))
                continue;
            double share = register_share[shape->problem->tensor[t].role] / sum;
            double words = floor(share * (double)gpu->register_bit / shape->arch->level[i].word_bit);
            words = fmax(words, 1); /* too small a pool is told by the check of the mapping */
            put_threads(model);
            for (uint32_t k = 0; k < model->n_kind; k++)
                for (uint32_t l = 0; l <= i; l++)
                    for (int axis = 0; axis < COSA_AXIS_COUNT; axis++)
                        cosa_put(model, model->count[k][l][axis], full_bits(shape, t, &model->kind[k]));
            if (model->n_term > 0)
                (void)cosa_add_row(model, -INFINITY, log2(words) + BITS_SLACK, "registers of a block");
        }
}

static uint32_t output_of(const struct problem *problem)
{
    uint32_t t = 0;
    while (t + 1 < problem->n_tensor && !problem->tensor[t].read_write)
        t++;
    return t;
}

/* The dimensions that index the outputs. */
static uint32_t output_dims(const struct cosa_shape *shape)
{
    uint32_t t = output_of(shape->problem);
    return shape->related[t] | shape->halo[t];
}

/* Sums over spatial loops of level l at dimensions outside `dims` are not offered, except where the user asks
 * for one. */
static void forbid_sums(struct cosa_model *model, uint32_t l, uint32_t dims)
{
    const struct mapspace_constraints *constraints = model->shape->constraints;
    for (uint32_t k = 0; k < model->n_kind; k++) {
        uint32_t d = model->kind[k].dim;
        if ((dims >> d & 1u) || (constraints && constraints->level[l].spatial.fixed[d] > 1))
            continue;
        for (int axis = COSA_X; axis <= COSA_Y; axis++)
            if (model->count[k][l][axis] != COSA_NONE)
                milp_set_variable_bounds(model->milp, model->count[k][l][axis], 0, 0);
    }
}

/* Put the bits of the temporal loops of level l over outputs, or over what is summed up. */
static void put_loops(struct cosa_model *model, uint32_t l, uint32_t outputs, bool sums, double scale)
{
    cosa_put_temporal(model, l, sums ? ~outputs : outputs, scale);
}

/* Loops over outputs inside a block but outside the storage that holds its sums. */
static void put_loops_in_block(struct cosa_model *model, uint32_t outputs)
{
    uint32_t output = output_of(model->shape->problem), threads = limits_of(model)->level,
             holder = threads + 1;
    while (holder > 0 && !(model->shape->keep[holder - 1] >> output & 1u))
        holder--;
    for (uint32_t l = holder; holder > 0 && l <= threads; l++) /* 0: no storage of a block holds sums */
        put_loops(model, l, outputs, false, -1);
}

/* Around the block: the loops of sums lie at one level and inside it, the loops over outputs at that level
 * (where sums come innermost) and outside it. A binary for each level says whether it is that one. */
static void add_grid_rows(struct cosa_model *model, uint32_t outputs, uint32_t unfinished)
{
    uint32_t from = limits_of(model)->level + 1, n_level = model->shape->n_level, split[ARCH_LEVEL_MAX];
    if (from == n_level) /* the block is everything */
        return;
    for (uint32_t l = from; l < n_level; l++) {
        split[l] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "sums end here");
        cosa_put(model, split[l], 1);
    }
    (void)cosa_add_row(model, 1, 1, "one end of sums");
    for (uint32_t l = from; l < n_level; l++)
        for (int sums = 0; sums < 2; sums++) {
            double most = cosa_dims_bits(model, sums ? ~outputs : outputs);
            put_loops(model, l, outputs, sums == 1, 1);
            if (model->n_term == 0)
                continue;
            cosa_put(model, unfinished, -1);
            for (uint32_t m = sums ? l : from; m < (sums ? n_level : l + 1); m++)
                cosa_put(model, split[m], -most);
            (void)cosa_add_row(model, -INFINITY, 0, "sums inside outputs");
        }
}

/* Let a block finish its sums. Whatever does not costs far more than a factor can save elsewhere; it is a
 * price and no limit, so that there is a mapping even where sums must be handed on. */
static void price_unfinished_sums(struct cosa_model *model, uint32_t outputs)
{
    const struct cosa_settings *s = model->settings;
    double traffic = model->shape->problem->n_tensor * s->weight_traf;
    double price = 4 * (s->weight_util + s->weight_comp + traffic) + 1;
    uint32_t unfinished = milp_add_variable(model->milp, MILP_CONTINUOUS, 0, INFINITY, price, "unfinished");
    cosa_put(model, unfinished, 1);
    put_loops_in_block(model, outputs);
    (void)cosa_add_row(model, 0, INFINITY, "outputs of a block");
    unfinished = milp_add_variable(model->milp, MILP_CONTINUOUS, 0, INFINITY, price, "unfinished");
    add_grid_rows(model, outputs, unfinished);
}

void cosa_add_gpu_rows(struct cosa_model *model)
{
    const struct cosa_shape *shape = model->shape;
    const struct gpu_limits *gpu = limits_of(model);
    uint64_t x, y;
    if (!gpu->present)
        return;
    architecture_fanout(shape->arch, gpu->level, &x, &y);
    uint64_t most = x * y < gpu->threads_per_block ? x * y : gpu->threads_per_block;
    if (most < x * y)
        put_threads(model);
    if (model->n_term > 0)
        (void)cosa_add_row(model, -INFINITY, log2((double)most) + BITS_SLACK, "threads of a block");
    if (most > gpu->thread_dim[0])
        add_shape_rows(model);
    add_register_rows(model);
    uint32_t outputs = output_dims(shape);
    for (uint32_t l = gpu->level + 1; l < shape->n_level; l++)
        forbid_sums(model, l, outputs);
    if (cosa_dims_bits(model, outputs) >= log2((double)most))
        forbid_sums(model, gpu->level, outputs);
    price_unfinished_sums(model, outputs);
}

void cosa_gpu_order(const struct cosa_shape *shape, uint8_t *order)
{
    uint8_t wanted[PROBLEM_DIM_MAX];
    uint32_t n = 0, outputs = output_dims(shape);
    if (!shape->arch->gpu.present)
        return;
    for (int last = 0; last < 2; last++)
        for (uint32_t i = 0; i < shape->problem->n_dim; i++)
            if ((int)(outputs >> order[i] & 1u) == last)
                wanted[n++] = order[i];
    memcpy(order, wanted, n);
}

int cosa_gpu_stationary(const struct problem *problem, const struct architecture *arch, int wanted)
{
    return wanted >= 0 || !arch->gpu.present ? wanted : (int)output_of(problem);
}
