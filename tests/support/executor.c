/* Runs the loops cycle by cycle over all points of the array; a watcher per tensor and level sees each
 * address, a port per tensor what the MACs share. */
#include "tests/support/executor.h"

#include <string.h>

#include "base/random.h"

enum { EXECUTOR_LOOP_MAX = ARCH_LEVEL_MAX * PROBLEM_DIM_MAX };

/* One loop of the nest, unit loops included. */
struct loop {
    uint32_t dim, bound, level;
    uint32_t stride; /* iterations of the dimension that one step moves */
};

/* Watches one tensor at one level. */
struct watcher {
    uint32_t tensor, level;
    int parent;           /* the next outer level that keeps the tensor, or -1 */
    bool retains;         /* words of the visit before are still there */
    uint64_t visit_cycle; /* cycles of one visit */
    uint64_t n_instance;
    uint32_t *last_visit;   /* (n_instance, words) 1 + the visit that last touched the word; 0 = never */
    uint64_t *arrived;      /* (n_instance) words that arrived in this visit */
    uint64_t *arrived_hash; /* (n_instance) of the set of them */
    uint64_t *lane;         /* (n_instance) children of different lanes never share an access */
};

/* The MACs below the innermost level that keeps a tensor. */
struct mac_port {
    uint32_t level;
    uint64_t *lane;       /* (n_spatial) as above */
    uint32_t *last_cycle; /* (n_lane, words) 1 + the cycle that last used the word */
};

struct execution {
    const struct problem *problem;
    const struct mapping *mapping;
    struct arena *arena;
    struct executor_result *out;
    uint32_t n_temporal, n_spatial_loop;
    struct loop temporal[EXECUTOR_LOOP_MAX];  /* (n_temporal) innermost first */
    struct loop spatial[EXECUTOR_LOOP_MAX];   /* (n_spatial_loop) innermost first */
    uint64_t inner_cycle[ARCH_LEVEL_MAX];     /* (n_level) cycles of the temporal loops of levels <= l */
    uint64_t inner_point[ARCH_LEVEL_MAX + 1]; /* (n_level + 1) points of the spatial loops of levels < l */
    uint64_t n_cycle, n_point;
    uint32_t *offset;                   /* (n_point, n_dim) iteration offset of each point of the array */
    uint64_t word[PROBLEM_TENSOR_MAX];  /* (n_tensor) words of the bounding box */
    int64_t *value[PROBLEM_TENSOR_MAX]; /* (n_tensor, word) */
    int64_t *expected;                  /* (word of the output) by the direct computation */
    uint32_t output;
    uint8_t *runs; /* (iterations) how often each ran, at most 2 */
    uint32_t n_watcher;
    struct watcher watcher[ARCH_LEVEL_MAX * PROBLEM_TENSOR_MAX];
    struct mac_port port[PROBLEM_TENSOR_MAX]; /* (n_tensor) */
};

/* Zeroed memory into the pointer at `pointer`. */
static enum dse_status get(struct execution *x, uint64_t count, size_t size, void *pointer,
                           struct dse_error *err)
{
    void *memory = arena_alloc(x->arena, count ? count : 1, size);
    DSE_TRY(arena_check(x->arena, "the executor", err));
    memcpy(pointer, &memory, sizeof memory);
    return DSE_OK;
}

/* The next level outside `l` that keeps tensor t (-1 stands for the MACs), or -1. */
static int next_keeper(const struct mapping *mapping, int l, uint32_t t)
{
    for (int k = l + 1; k < mapping->n_level; k++)
        if ((mapping->level[k].keep >> t) & 1u)
            return k;
    return -1;
}

/* ---------------------------------------- the nest */

static enum dse_status check_mapping(const struct problem *problem, const struct mapping *mapping,
                                     struct dse_error *err)
{
    uint64_t macs = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint64_t rest = problem->bound[d];
        for (uint32_t l = 0; l < mapping->n_level; l++) {
            const struct mapping_level *level = &mapping->level[l];
            uint64_t factor = (uint64_t)level->temporal[d] * level->spatial[d];
            if (factor == 0 || rest % factor != 0)
                return dse_fail(err, DSE_BAD_INPUT, "the factors of %s do not multiply to its bound %u",
                                problem->dim_name[d], problem->bound[d]);
            rest /= factor;
        }
        if (rest != 1)
            return dse_fail(err, DSE_BAD_INPUT, "the factors of %s do not multiply to its bound %u",
                            problem->dim_name[d], problem->bound[d]);
        if (macs > EXECUTOR_MAC_MAX / problem->bound[d])
            return dse_fail(err, DSE_LIMIT, "the executor runs at most %llu iterations",
                            (unsigned long long)EXECUTOR_MAC_MAX);
        macs *= problem->bound[d];
    }
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (next_keeper(mapping, -1, t) < 0)
            return dse_fail(err, DSE_BAD_INPUT, "%s is kept on no level", problem->tensor[t].name);
    return DSE_OK;
}

static void lay_out_loops(struct execution *x)
{
    const struct mapping *mapping = x->mapping;
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < x->problem->n_dim; d++)
        extent[d] = 1;
    x->n_cycle = x->n_point = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        x->inner_point[l] = x->n_point;
        for (uint32_t i = 0; i < x->problem->n_dim; i++) {
            uint32_t d = level->spatial_order[i];
            x->spatial[x->n_spatial_loop++] = (struct loop){d, level->spatial[d], l, extent[d]};
            extent[d] *= level->spatial[d];
            x->n_point *= level->spatial[d];
        }
        for (uint32_t i = 0; i < x->problem->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            x->temporal[x->n_temporal++] = (struct loop){d, level->temporal[d], l, extent[d]};
            extent[d] *= level->temporal[d];
            x->n_cycle *= level->temporal[d];
        }
        x->inner_cycle[l] = x->n_cycle;
    }
    x->inner_point[mapping->n_level] = x->n_point;
}

/* Iterations of every dimension at step `index` of a list of loops. */
static void decode(const struct loop *loop, uint32_t n_loop, uint64_t index, uint32_t *iteration)
{
    for (uint32_t i = 0; i < n_loop; i++) {
        iteration[loop[i].dim] += (uint32_t)(index % loop[i].bound) * loop[i].stride;
        index /= loop[i].bound;
    }
}

/* The word of tensor t that an iteration touches: row-major in its bounding box. */
static uint64_t address_of(const struct problem *problem, uint32_t t, const uint32_t *iteration)
{
    const struct tensor *tensor = &problem->tensor[t];
    uint64_t address = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint64_t width = 1, coordinate = 0;
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++) {
            const struct projection_term *term = &tensor->rank[r].term[i];
            width += (uint64_t)term->coefficient * (problem->bound[term->dim] - 1);
            coordinate += (uint64_t)term->coefficient * iteration[term->dim];
        }
        address = address * width + coordinate;
    }
    return address;
}

/* ---------------------------------------- preparation */

/* The lane of the child that contains array point `point`, between child level `l` (-1: the MACs) and level
 * `parent`: its parent instance and its place along every spatial level whose network does not share tensor
 * t. */
static uint64_t lane_of(const struct execution *x, uint32_t t, int l, uint32_t parent, uint64_t point)
{
    uint64_t lane = point / x->inner_point[parent + 1];
    for (uint32_t k = (uint32_t)(l + 1); k <= parent; k++) {
        uint64_t width = x->inner_point[k + 1] / x->inner_point[k];
        if ((x->mapping->level[k].no_multicast >> t) & 1u)
            lane = lane * width + point / x->inner_point[k] % width;
    }
    return lane;
}

static enum dse_status add_watcher(struct execution *x, uint32_t t, uint32_t l, struct dse_error *err)
{
    struct watcher *w = &x->watcher[x->n_watcher++];
    uint64_t points = x->inner_point[l + 1]; /* of one instance */
    w->tensor = t;
    w->level = l;
    w->parent = next_keeper(x->mapping, (int)l, t);
    w->retains = !((x->mapping->level[l].no_temporal_reuse >> t) & 1u);
    w->visit_cycle = x->inner_cycle[l];
    w->n_instance = x->n_point / points;
    DSE_TRY(get(x, w->n_instance * x->word[t], sizeof *w->last_visit, &w->last_visit, err));
    DSE_TRY(get(x, w->n_instance, sizeof *w->arrived, &w->arrived, err));
    DSE_TRY(get(x, w->n_instance, sizeof *w->arrived_hash, &w->arrived_hash, err));
    DSE_TRY(get(x, w->n_instance, sizeof *w->lane, &w->lane, err));
    if (w->parent >= 0)
        for (uint64_t i = 0; i < w->n_instance; i++)
            w->lane[i] = lane_of(x, t, (int)l, (uint32_t)w->parent, i * points);
    return DSE_OK;
}

static enum dse_status prepare_tensor(struct execution *x, uint32_t t, struct random_stream *stream,
                                      struct dse_error *err)
{
    struct mac_port *port = &x->port[t];
    x->word[t] = problem_tensor_words(x->problem, t);
    DSE_TRY(get(x, x->word[t], sizeof *x->value[t], &x->value[t], err));
    if (x->problem->tensor[t].read_write)
        x->output = t;
    else
        for (uint64_t i = 0; i < x->word[t]; i++)
            x->value[t][i] = (int64_t)random_below(stream, 15) - 7;
    for (uint32_t l = 0; l < x->mapping->n_level; l++)
        if ((x->mapping->level[l].keep >> t) & 1u)
            DSE_TRY(add_watcher(x, t, l, err));
    port->level = (uint32_t)next_keeper(x->mapping, -1, t);
    DSE_TRY(get(x, x->n_point, sizeof *port->lane, &port->lane, err));
    DSE_TRY(get(x, x->n_point * x->word[t], sizeof *port->last_cycle, &port->last_cycle, err));
    for (uint64_t i = 0; i < x->n_point; i++)
        port->lane[i] = lane_of(x, t, -1, port->level, i);
    return DSE_OK;
}

static enum dse_status prepare(struct execution *x, uint64_t seed, struct dse_error *err)
{
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    uint32_t n_dim = x->problem->n_dim;
    lay_out_loops(x);
    DSE_TRY(get(x, x->n_point * n_dim, sizeof *x->offset, &x->offset, err));
    for (uint64_t i = 0; i < x->n_point; i++)
        decode(x->spatial, x->n_spatial_loop, i, &x->offset[i * n_dim]);
    DSE_TRY(get(x, problem_macs(x->problem), sizeof *x->runs, &x->runs, err));
    for (uint32_t t = 0; t < x->problem->n_tensor; t++)
        DSE_TRY(prepare_tensor(x, t, &stream, err));
    return get(x, x->word[x->output], sizeof *x->expected, &x->expected, err);
}

/* ---------------------------------------- what happens */

/* Adding these up gives an order-free hash of a set (the finaliser of MurmurHash3, Appleby, public
 * domain). */
static uint64_t mix(uint64_t key)
{
    key = (key + 1) * 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdu;
    key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53u;
    return key ^ (key >> 33);
}

static void touch(struct execution *x, struct watcher *w, uint64_t cycle, uint64_t point, uint64_t address)
{
    uint64_t instance = point / x->inner_point[w->level + 1];
    uint32_t visit = (uint32_t)(cycle / w->visit_cycle);
    uint32_t *last = &w->last_visit[instance * x->word[w->tensor] + address];
    struct executor_counts *count = &x->out->count[w->level][w->tensor];
    bool is_new = *last == 0;
    bool is_here = *last == visit + 1 || (w->retains && !is_new && *last == visit);
    *last = visit + 1;
    count->first += is_new;
    if (is_here)
        return;
    w->arrived[instance]++;
    w->arrived_hash[instance] += mix(address);
    if (w->parent >= 0 && !(is_new && w->tensor == x->output))
        count->fills++;
}

/* The visit is over: what the parent level sent for it. */
static void end_visit(struct execution *x, struct watcher *w)
{
    struct executor_counts *count = w->parent >= 0 ? &x->out->count[w->parent][w->tensor] : NULL;
    for (uint64_t i = 0; i < w->n_instance && count; i++) {
        bool shared = false;
        for (uint64_t k = 0; k < i && !shared; k++)
            shared = w->lane[k] == w->lane[i] && w->arrived[k] == w->arrived[i] &&
                     w->arrived_hash[k] == w->arrived_hash[i];
        if (!shared && w->tensor == x->output)
            count->updates += w->arrived[i];
        else if (!shared)
            count->reads += w->arrived[i];
    }
    memset(w->arrived, 0, w->n_instance * sizeof *w->arrived);
    memset(w->arrived_hash, 0, w->n_instance * sizeof *w->arrived_hash);
}

/* One operand of one MAC. */
static void use(struct execution *x, uint32_t t, uint64_t cycle, uint64_t point, uint64_t address)
{
    struct mac_port *port = &x->port[t];
    struct executor_counts *count = &x->out->count[port->level][t];
    uint32_t *last = &port->last_cycle[port->lane[point] * x->word[t] + address];
    if (*last == cycle + 1)
        return;
    *last = (uint32_t)cycle + 1;
    if (t == x->output)
        count->updates++;
    else
        count->reads++;
}

static void multiply_accumulate(const struct execution *x, const uint64_t *address, int64_t *output)
{
    int64_t product = 1;
    for (uint32_t t = 0; t < x->problem->n_tensor; t++)
        if (t != x->output)
            product *= x->value[t][address[t]];
    output[address[x->output]] += product;
}

static void run_cycle(struct execution *x, uint64_t cycle)
{
    const struct problem *problem = x->problem;
    uint32_t base[PROBLEM_DIM_MAX] = {0}, iteration[PROBLEM_DIM_MAX];
    uint64_t address[PROBLEM_TENSOR_MAX];
    decode(x->temporal, x->n_temporal, cycle, base);
    for (uint64_t point = 0; point < x->n_point; point++) {
        uint64_t index = 0;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            iteration[d] = base[d] + x->offset[point * problem->n_dim + d];
            index = index * problem->bound[d] + iteration[d];
        }
        x->runs[index] = (uint8_t)(x->runs[index] < 2 ? x->runs[index] + 1 : 2);
        for (uint32_t t = 0; t < problem->n_tensor; t++) {
            address[t] = address_of(problem, t, iteration);
            use(x, t, cycle, point, address[t]);
        }
        for (uint32_t w = 0; w < x->n_watcher; w++)
            touch(x, &x->watcher[w], cycle, point, address[x->watcher[w].tensor]);
        multiply_accumulate(x, address, x->value[x->output]);
    }
    for (uint32_t w = 0; w < x->n_watcher; w++)
        if ((cycle + 1) % x->watcher[w].visit_cycle == 0)
            end_visit(x, &x->watcher[w]);
}

/* The same computation without a mapping: dimension 0 outermost, one iteration after the other. */
static void compute_directly(struct execution *x)
{
    const struct problem *problem = x->problem;
    uint64_t macs = problem_macs(problem);
    for (uint64_t index = 0; index < macs; index++) {
        uint32_t iteration[PROBLEM_DIM_MAX];
        uint64_t address[PROBLEM_TENSOR_MAX];
        uint64_t rest = index;
        for (uint32_t d = problem->n_dim; d-- > 0;) {
            iteration[d] = (uint32_t)(rest % problem->bound[d]);
            rest /= problem->bound[d];
        }
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            address[t] = address_of(problem, t, iteration);
        multiply_accumulate(x, address, x->expected);
    }
}

static void conclude(struct execution *x)
{
    uint64_t macs = problem_macs(x->problem);
    x->out->each_mac_once = true;
    for (uint64_t i = 0; i < macs; i++)
        x->out->each_mac_once = x->out->each_mac_once && x->runs[i] == 1;
    x->out->output_is_right =
        memcmp(x->expected, x->value[x->output], x->word[x->output] * sizeof *x->expected) == 0;
    for (uint32_t l = 0; l < x->mapping->n_level; l++) {
        struct executor_counts *count = &x->out->count[l][x->output];
        count->reads = count->updates - count->first;
    }
}

enum dse_status executor_run(const struct problem *problem, const struct mapping *mapping, uint64_t seed,
                             struct arena *arena, struct executor_result *out, struct dse_error *err)
{
    DSE_TRY(check_mapping(problem, mapping, err));
    struct execution *x = arena_alloc(arena, 1, sizeof *x);
    DSE_TRY(arena_check(arena, "the executor", err));
    memset(out, 0, sizeof *out);
    x->problem = problem;
    x->mapping = mapping;
    x->arena = arena;
    x->out = out;
    DSE_TRY(prepare(x, seed, err));
    for (uint64_t cycle = 0; cycle < x->n_cycle; cycle++)
        run_cycle(x, cycle);
    compute_directly(x);
    conclude(x);
    return DSE_OK;
}
