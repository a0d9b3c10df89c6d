/* One step at a time: gradient, projection, injection. The sizes of the problem stay what they are. */
#include "engines/mindmappings/mm_walk.h"

#include <math.h>
#include <string.h>

enum { DOUBLING_MAX = 64, INJECTIONS_PER_COOLING = 50 };

/* Of injections (appendix A of the paper). */
static const double first_temperature = 50, cooling = 0.75;

/* A real-valued point may be far from all factors: what lies beyond these is not nearer to any. */
static const double least_factor = 0x1p-30, most_factor = 0x1p30;

struct mm_walk {
    const struct mm_space *space;
    const struct mm_model *model;
    const struct mm_algorithm *algorithm;
    struct objective objective;
    struct mm_walk_options options;
    struct random_stream stream;
    struct mlp_pass pass;
    float point[MM_VALUE_MAX]; /* (n_value) inputs */
    float weight[MM_COST_MAX]; /* (n_cost) of the outputs in what falls */
    struct mm_mapping at;
    double cost; /* predicted of `at` */
    double rate, temperature;
    uint64_t n_injection;
    uint32_t n_left; /* steps before the next injection */
};

struct mm_walk_options mm_walk_standard(void)
{
    return (struct mm_walk_options){.rate = 2,
                                    .doubles = true,
                                    .gives_up = true,
                                    .injection = 10,
                                    .distance = MM_DISTANCE_LOG2,
                                    .from_projection = true};
}

enum dse_status mm_walk_new(const struct mm_space *space, const struct mm_model *model,
                            const struct mm_net *net, const struct objective *objective,
                            const struct mm_walk_options *options, struct random_stream stream,
                            struct arena *arena, struct mm_walk **out, struct dse_error *err)
{
    struct mm_walk *walk = arena_alloc(arena, 1, sizeof *walk);
    DSE_TRY(arena_check(arena, "a descent on a surrogate", err));
    walk->space = space;
    walk->model = model;
    walk->algorithm = model->encoding.algorithm;
    walk->objective = *objective;
    walk->options = *options;
    walk->stream = stream;
    walk->temperature = first_temperature;
    *out = walk;
    return mlp_pass_new(&net->frozen, arena, &walk->pass, err);
}

/* ---------------------------------------- what falls */

/* What the outputs say, and their weights in its gradient. */
static double cost_of(struct mm_walk *walk, const float *output)
{
    const struct mm_encoding *encoding = &walk->model->encoding;
    const uint32_t n = walk->algorithm->n_cost;
    const uint32_t place[] = {mm_energy_place(walk->algorithm), mm_cycle_place(walk->algorithm)};
    const double exponent[] = {walk->objective.energy_exponent, walk->objective.delay_exponent};
    double sum = 0;
    memset(walk->weight, 0, sizeof walk->weight);
    for (uint32_t i = 0; walk->options.outputs && i < n; i++) {
        walk->weight[i] = 1;
        sum += (double)output[i];
    }
    for (int k = 0; !walk->options.outputs && k < 2; k++) {
        /* d log(ratio) / d output: the deviation of a logarithm, that of a ratio over the ratio */
        const double deviation = encoding->output_deviation[place[k]], mean = encoding->output_mean[place[k]];
        double value = mean + deviation * (double)output[place[k]], slope = deviation;
        if (encoding->output == MM_OUTPUT_RATIO) {
            slope = deviation / fmax(value, 1); /* no ratio is below 1 */
            value = log(fmax(value, 1));
        }
        walk->weight[place[k]] = (float)(exponent[k] * slope);
        sum += exponent[k] * value;
    }
    return sum;
}

/* The inputs of a mapping. */
static void see(const struct mm_walk *walk, const struct mm_mapping *mapping, float *input)
{
    double vector[MM_VALUE_MAX];
    mm_space_vector(walk->space, mapping, vector);
    mm_encode_vector(&walk->model->encoding, vector, input);
}

static double predict(struct mm_walk *walk, const float *input)
{
    return cost_of(walk, mlp_predict(&walk->pass, input));
}

/* ---------------------------------------- steps */

/* The member nearest to inputs. */
static void project(const struct mm_walk *walk, const float *input, struct mm_mapping *mapping)
{
    const uint32_t n_dim = walk->algorithm->n_dim;
    double vector[MM_VALUE_MAX];
    mm_decode_vector(&walk->model->encoding, input, vector);
    for (uint32_t i = n_dim; i < n_dim * (1 + MM_BLOCK_COUNT); i++) {
        vector[i] = fmin(vector[i], most_factor);
        if (walk->options.distance == MM_DISTANCE_LOG2)
            vector[i] = log2(fmax(vector[i], least_factor));
    }
    mm_space_project(walk->space, vector, walk->options.distance, mapping);
}

static bool is_same(const struct mm_walk *walk, const struct mm_mapping *a, const struct mm_mapping *b)
{
    double x[MM_VALUE_MAX], y[MM_VALUE_MAX];
    mm_space_vector(walk->space, a, x);
    mm_space_vector(walk->space, b, y);
    return memcmp(x, y, walk->algorithm->n_value * sizeof *x) == 0;
}

/* Down the gradient at the point, farther and farther while the same mapping is the nearest. False when it is
 * as far down as it goes. */
static bool descend(struct mm_walk *walk)
{
    const uint32_t n_dim = walk->algorithm->n_dim, n = walk->algorithm->n_value;
    const struct mm_mapping before = walk->at;
    bool same = true;
    float slope[MM_VALUE_MAX], from[MM_VALUE_MAX];
    (void)predict(walk, walk->point);
    mlp_input_gradient(&walk->pass, walk->weight, slope);
    memcpy(from, walk->point, sizeof from);
    for (int i = 0; same && i < DOUBLING_MAX; i++) {
        for (uint32_t k = n_dim; k < n; k++)
            walk->point[k] = from[k] - (float)walk->rate * slope[k];
        project(walk, walk->point, &walk->at);
        same = walk->options.doubles && is_same(walk, &walk->at, &before);
        walk->rate *= same ? 2 : 1;
    }
    if (same) {
        memcpy(walk->point, from, sizeof from);
        walk->rate = walk->options.rate;
        return false;
    }
    float seen[MM_VALUE_MAX];
    const double last = walk->cost;
    see(walk, &walk->at, seen);
    walk->cost = predict(walk, seen);
    if (walk->options.from_projection)
        memcpy(walk->point, seen, sizeof seen);
    if (walk->options.halves && walk->cost > last)
        walk->rate /= 2;
    return true;
}

/* A random mapping in place of the present one, if it is taken. */
static void inject(struct mm_walk *walk, bool first)
{
    struct mm_mapping drawn;
    float seen[MM_VALUE_MAX];
    mm_space_draw(walk->space, &walk->stream, &drawn);
    see(walk, &drawn, seen);
    const double cost = predict(walk, seen);
    bool taken = first || !walk->options.annealed || cost <= walk->cost ||
                 random_unit(&walk->stream) < exp((walk->cost - cost) / walk->temperature);
    if (++walk->n_injection % INJECTIONS_PER_COOLING == 0)
        walk->temperature *= cooling;
    walk->rate = walk->options.rate;
    if (!taken)
        return;
    walk->at = drawn;
    walk->cost = cost;
    memcpy(walk->point, seen, sizeof seen);
}

bool mm_walk_next(struct mm_walk *walk, struct mm_mapping *mapping, double *predicted)
{
    const bool begins = walk->n_left == 0 || (!descend(walk) && walk->options.gives_up);
    if (begins) {
        inject(walk, walk->n_injection == 0);
        walk->n_left = walk->options.injection;
    }
    walk->n_left--;
    *mapping = walk->at;
    *predicted = walk->cost;
    return begins;
}
