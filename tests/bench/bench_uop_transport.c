/* How far the cycles of schedules over links, and by the guess that searches use, are from those of the
 * cycle-exact mesh, on 60 schedules: random partitions of five networks on three meshes, ordered by list
 * scheduling, with three widths of links; and the CPU seconds of one schedule of about 6,000 uops on 32 x 32
 * cores: to order it, and to run it by each transport. Prints "name,value,unit". With an
 * argument a line for each schedule besides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/readers/readers.h"
#include "engines/klotski/klotski_task.h"
#include "engines/klotski/order/list_schedule.h"
#include "engines/klotski/partition.h"

enum { N_WIDTH = 3, N_CASE = 20 };

static const uint32_t flit_bit[N_WIDTH] = {4096, 192, 64};

/* One schedule and how long it takes by each transport. */
struct bench {
    struct network network;
    struct architecture arch;
    struct kc_machine machine;
    struct uop_network uops;
    struct uop_graph graph;
    struct uop_schedule schedule;
    struct uop_times times;
    struct uop_link *link;
    double list_s; /* CPU seconds of its list schedule, priorities included */
    struct arena arena;
};

static enum dse_status open_bench(struct bench *b, const char *network, const char *mesh,
                                  struct dse_error *err)
{
    char path[128];
    struct yaml_doc doc;
    const struct arch_override set[] = {{"Core.mesh", mesh}};
    arena_init(&b->arena);
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
    DSE_TRY(yaml_read(&doc, "experiments/architectures/klotski.yaml", err));
    const enum dse_status status = architecture_build(&doc, set, 1, &b->arch, err);
    yaml_doc_free(&doc);
    DSE_TRY(status);
    DSE_TRY(kc_machine_of(&b->arch, &b->machine, err));
    DSE_TRY(network_read(path, &b->network, err));
    return uop_network_of(&b->network, UOP_FUSED, &b->arena, &b->uops, err);
}

static void close_bench(struct bench *b)
{
    arena_free(&b->arena);
    network_free(&b->network);
}

/* The list schedule of a partition of at most `max_uops`: one of the grid at random, or, without `stream`,
 * the one with the most uops. */
static enum dse_status schedule(struct bench *b, uint32_t max_uops, struct random_stream *stream,
                                struct dse_error *err)
{
    const uint32_t n_core = b->machine.columns * b->machine.rows;
    const struct tile_rules rules = {
        .sums = UOP_SUMS_ALL, .sram = UOP_SRAM_ALL, .batch = 1, .max_uops = max_uops};
    struct partition_grid grid;
    struct uop_cut *cut = arena_alloc(&b->arena, b->uops.n_layer, sizeof *cut);
    DSE_TRY(partition_grid_of(&b->uops, &b->machine, &rules, &b->arena, &grid, err));
    uint32_t chosen = stream ? random_below(stream, grid.n) : 0;
    uint64_t most = 0;
    for (uint32_t i = 0; !stream && i < grid.n; i++) {
        uint64_t n = 0;
        for (uint32_t l = 0; l < b->uops.n_layer; l++)
            n += uop_cut_count(&b->uops.layer[l].whole, grid.cut[i]);
        chosen = n > most ? i : chosen;
        most = n > most ? n : most;
    }
    for (uint32_t l = 0; l < b->uops.n_layer; l++)
        cut[l] = uop_cut_clip(&b->uops.layer[l].whole, grid.cut[chosen]);
    DSE_TRY(uop_graph_of(&b->uops, &b->machine, cut, rules.sums, 1, &b->arena, &b->graph, err));
    const uint32_t n_uop = b->graph.n_uop;
    uint64_t *priority = arena_alloc(&b->arena, n_uop, sizeof *priority);
    uint32_t *core = arena_alloc(&b->arena, n_uop, sizeof *core);
    b->times.start = arena_alloc(&b->arena, n_uop, sizeof *b->times.start);
    b->times.finish = arena_alloc(&b->arena, n_uop, sizeof *b->times.finish);
    b->link = arena_alloc(&b->arena, (size_t)n_core * UOP_SIDES, sizeof *b->link);
    struct list_scheduler *list = list_scheduler_new(&b->graph, n_core, &b->arena);
    DSE_TRY(arena_check(&b->arena, "a schedule", err));
    const double start_s = clock_thread_s();
    list_b_level(&b->graph, 0, n_uop, priority);
    (void)list_schedule(list, 0, n_uop, priority, UINT64_MAX, b->times.start, core);
    b->list_s = clock_thread_s() - start_s;
    return klotski_lists(b->times.start, core, n_uop, n_core, &b->arena, &b->schedule, err);
}

static enum dse_status cycles(struct bench *b, enum uop_transport transport, bool guess, uint64_t *cycle,
                              double *cpu_s, struct dse_error *err)
{
    struct arena scratch;
    arena_init(&scratch);
    const double start_s = clock_thread_s();
    const struct uop_setting setting = {.transport = transport};
    const enum dse_status status = (guess ? uop_run_guess : uop_run)(
        &b->graph, &b->machine, &b->schedule, &setting, &scratch, &b->times, b->link, err);
    *cpu_s = clock_thread_s() - start_s;
    *cycle = b->times.cycle;
    arena_free(&scratch);
    return status;
}

/* Relative errors of one width: of links, of the guess. */
struct errors {
    double sum, sum_absolute, worst;
    uint32_t n;
};

static void add_error(struct errors *errors, uint64_t said, uint64_t flits)
{
    const double error = (double)said / (double)flits - 1;
    errors->sum += error;
    errors->sum_absolute += fabs(error);
    errors->worst = fmax(errors->worst, fabs(error));
    errors->n++;
}

static enum dse_status compare(struct bench *b, const char *name, struct errors errors[2][N_WIDTH], bool each,
                               struct dse_error *err)
{
    for (int w = 0; w < N_WIDTH; w++) {
        uint64_t ideal, links, guess, flits;
        double cpu_s[4];
        b->machine.noc.flit_bit = flit_bit[w];
        DSE_TRY(cycles(b, UOP_IDEAL, false, &ideal, &cpu_s[0], err));
        DSE_TRY(cycles(b, UOP_LINKS, false, &links, &cpu_s[1], err));
        DSE_TRY(cycles(b, UOP_FLITS, true, &guess, &cpu_s[2], err));
        DSE_TRY(cycles(b, UOP_FLITS, false, &flits, &cpu_s[3], err));
        add_error(&errors[0][w], links, flits);
        add_error(&errors[1][w], guess, flits);
        if (each)
            printf(
                "# %s %u uops %u bit: ideal %.4g, links %.4g, guess %.4g, flits %.4g; %.3f, %.3f, %.2f s\n",
                name, b->graph.n_uop, flit_bit[w], (double)ideal, (double)links, (double)guess, (double)flits,
                cpu_s[1], cpu_s[2], cpu_s[3]);
    }
    return DSE_OK;
}

static enum dse_status sixty(bool each, struct dse_error *err)
{
    static const char *const network[] = {"vgg16", "vgg19", "resnet50", "googlenet", "inception_v3"};
    static const char *const mesh[] = {"3x3", "4x4", "5x5"};
    struct random_stream stream = random_stream_make(15, 0, RANDOM_TEST);
    struct errors errors[2][N_WIDTH] = {{{0}}};
    static const char *const what[2] = {"links", "guess"};
    for (uint32_t i = 0; i < N_CASE; i++) {
        struct bench b = {0};
        enum dse_status status = open_bench(&b, network[i % 5], mesh[i % 3], err);
        if (status == DSE_OK)
            status = schedule(&b, 1500, &stream, err);
        if (status == DSE_OK)
            status = compare(&b, network[i % 5], errors, each, err);
        close_bench(&b);
        DSE_TRY(status);
    }
    for (int i = 0; i < 2 * N_WIDTH; i++) {
        const struct errors *e = &errors[i / N_WIDTH][i % N_WIDTH];
        const uint32_t bit = flit_bit[i % N_WIDTH];
        printf("uop/%s-error-mean-%ubit,%.3g,1\n", what[i / N_WIDTH], bit, e->sum_absolute / e->n);
        printf("uop/%s-error-signed-%ubit,%.3g,1\n", what[i / N_WIDTH], bit, e->sum / e->n);
        printf("uop/%s-error-worst-%ubit,%.3g,1\n", what[i / N_WIDTH], bit, e->worst);
    }
    return DSE_OK;
}

static enum dse_status large(const char *network, struct dse_error *err)
{
    struct bench b = {0};
    uint64_t cycle;
    double cpu_s;
    enum dse_status status = open_bench(&b, network, "32x32", err);
    if (status == DSE_OK)
        status = schedule(&b, 6000, NULL, err);
    if (status == DSE_OK)
        printf("uop/%s-32x32-%u-uops-list,%.3g,s\n", network, b.graph.n_uop, b.list_s);
    for (int t = UOP_LINKS; status == DSE_OK && t <= UOP_FLITS; t++) {
        status = cycles(&b, (enum uop_transport)t, false, &cycle, &cpu_s, err);
        if (status == DSE_OK)
            printf("uop/%s-32x32-%u-uops-%s,%.3g,s\n", network, b.graph.n_uop, uop_transport_name[t], cpu_s);
    }
    close_bench(&b);
    return status;
}

int main(int argc, char **argv)
{
    struct dse_error err;
    (void)argv;
    enum dse_status status = sixty(argc > 1, &err);
    if (status == DSE_OK)
        status = large("vgg16", &err);
    if (status == DSE_OK)
        status = large("resnet50", &err);
    if (status == DSE_OK)
        return 0;
    fprintf(stderr, "bench_uop_transport: %s\n", err.text);
    return 1;
}
