/* Parses of SoMa schemes per second on one thread, tile costs cached: networks fused into one group (the
 * classifiers apart) in 1, 4 and 16 tiles, by the default rules and the published program's. With the
 * argument --rules instead the table of docs/soma.md: what the rules make of the same scheme. The core array
 * is the default one in both, on the edge machine with 8 MiB and 16 bytes per cycle; a buffer that is too
 * small does not stop it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"
#include "tests/support/soma_case.h"

enum { BUFFER_BYTE = 8 << 20, N_RUN = 5, N_PARSE = 300, COST_MAX = 1 << 17 };

/* A network with a cached core array. */
struct fixture {
    struct soma_case c;
    struct core_array_search search;
    struct core_cache *cache;
    struct core_cached cached;
};

static bool open_fixture(struct fixture *f, const char *network)
{
    soma_case_open(&f->c, network, BUFFER_BYTE);
    f->search = (struct core_array_search){f->c.core, false};
    if (core_cache_new(COST_MAX, &f->cache, &f->c.err) != DSE_OK ||
        core_cache_join_array(f->cache, &f->search, &f->cached, &f->c.err) != DSE_OK)
        return false;
    f->c.context.core = core_cached_scheduler(&f->cached);
    return true;
}

static void close_fixture(struct fixture *f)
{
    core_cache_free(f->cache);
    soma_case_close(&f->c);
}

/* Everything in one group of `tiles` tiles, but classifiers with the pools before them alone, as compat wants
 * it. */
static bool fuse_all(struct soma_case *c, uint32_t tiles, struct soma_lfa *lfa)
{
    uint32_t n = c->network.n_layer;
    *lfa = (struct soma_lfa){.n_layer = n};
    lfa->order = arena_alloc(&c->arena, n, sizeof *lfa->order);
    lfa->flc = arena_alloc(&c->arena, n, sizeof *lfa->flc);
    lfa->tiling = arena_alloc(&c->arena, n, sizeof *lfa->tiling);
    lfa->dram_cut = arena_alloc(&c->arena, n, sizeof *lfa->dram_cut);
    if (!lfa->order || !lfa->flc || !lfa->tiling || !lfa->dram_cut)
        return false;
    memcpy(lfa->order, c->network.order, n * sizeof *lfa->order);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = i;
        while (next + 1 < n && c->network.layer[lfa->order[next]].type == LAYER_POOL)
            next++;
        bool tail = c->graph.classifier[lfa->order[next]];
        bool start = i == 0 || (tail && (c->graph.classifier[lfa->order[i - 1]] ||
                                         c->network.layer[lfa->order[i - 1]].type != LAYER_POOL));
        if (!start)
            continue;
        lfa->flc[lfa->n_flc] = i;
        lfa->tiling[lfa->n_flc] = tail ? 1 : tiles;
        lfa->dram_cut[lfa->n_flc++] = true;
    }
    return true;
}

static bool print_speed(const char *network, uint32_t tiles)
{
    char path[128];
    struct fixture f;
    struct soma_lfa lfa;
    struct arena arena;
    bool fine = true;
    snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
    arena_init(&arena);
    if (!open_fixture(&f, path) || !fuse_all(&f.c, tiles, &lfa))
        return false;
    for (int compat = 0; fine && compat < 2; compat++) {
        double best_s = 1e9;
        f.c.context.compat = compat == 1;
        for (int run = 0; fine && run < N_RUN; run++) {
            double start_s = clock_thread_s();
            for (int i = 0; fine && i < N_PARSE; i++) {
                arena_reset(&arena);
                fine = soma_parse(&f.c.context, &lfa, &arena, &f.c.schedule, &f.c.fault, &f.c.err) == DSE_OK;
            }
            double s = (clock_thread_s() - start_s) / N_PARSE;
            best_s = s < best_s ? s : best_s;
        }
        printf("soma_parse/%s_%u%s,%.0f,1/s\n", network, tiles, compat ? "_compat" : "", 1 / best_s);
    }
    arena_free(&arena);
    close_fixture(&f);
    return fine;
}

/* One scheme by both rules. */
static void print_row(struct fixture *f, const struct soma_lfa *lfa, const char *name, uint64_t rate)
{
    const struct fused_machine machine = {
        .buffer_byte = BUFFER_BYTE, .dram_rate = {rate, 1}, .dram_energy_j = 84e-12};
    struct fused_result result[2];
    bool valid[2];
    for (int compat = 0; compat < 2; compat++) {
        f->c.context.compat = compat == 1;
        valid[compat] =
            soma_case_parse(&f->c, lfa) &&
            fused_evaluate(&f->c.schedule, &machine, &f->c.arena, NULL, &result[compat], &f->c.err) == DSE_OK;
    }
    const struct fused_result *a = &result[1], *b = &result[0];
    if (!valid[0])
        return;
    if (!valid[1])
        printf("| %s | - | %" PRIu64 " | - | %" PRIu64 " | - | %" PRIu64 " | - | %" PRIu64 " |\n", name,
               b->compute_cycle / 1000, b->dram_byte / 1000, b->buffer_max_byte / 1000, b->cycle / 1000);
    else
        printf("| %s | %" PRIu64 " | %.3f | %" PRIu64 " | %.3f | %" PRIu64 " | %.3f | %" PRIu64 " | %.3f |\n",
               name, a->compute_cycle / 1000, (double)b->compute_cycle / (double)a->compute_cycle,
               a->dram_byte / 1000, (double)b->dram_byte / (double)a->dram_byte, a->buffer_max_byte / 1000,
               (double)b->buffer_max_byte / (double)a->buffer_max_byte, a->cycle / 1000,
               (double)b->cycle / (double)a->cycle);
}

static bool print_oracle_row(const char *name, const char *network)
{
    struct fixture f;
    struct fused_oracle *oracle;
    if (!open_fixture(&f, network) || !(oracle = arena_alloc(&f.c.arena, 1, sizeof *oracle)) ||
        fused_oracle_read(name, &f.c.arena, oracle, &f.c.err) != DSE_OK)
        return false;
    struct soma_lfa lfa = soma_case_oracle_lfa(&f.c, oracle);
    print_row(&f, &lfa, name, oracle->machine.dram_rate.byte);
    close_fixture(&f);
    return true;
}

static bool print_fused_rows(const char *network)
{
    static const uint32_t tiles[] = {1, 4, 16}, batch[] = {1, 4};
    char path[128], name[128];
    struct fixture f;
    struct soma_lfa lfa;
    snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
    if (!open_fixture(&f, path))
        return false;
    for (size_t b = 0; b < sizeof batch / sizeof *batch; b++)
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
            f.c.context.batch = batch[b];
            if (!fuse_all(&f.c, tiles[t], &lfa))
                return false;
            snprintf(name, sizeof name, "%s, batch %u, %u tiles", network, batch[b], tiles[t]);
            print_row(&f, &lfa, name, 16);
        }
    close_fixture(&f);
    return true;
}

static bool print_rules(void)
{
    static const char *const oracle[][2] = {
        {"tiny_fused_s1", "tests/known/soma/tiny6.yaml"},
        {"tiny_flg_s1", "tests/known/soma/tiny6.yaml"},
        {"tiny_cocco_s1", "tests/known/soma/tiny6.yaml"},
        {"r50_8MB_16GBs_s1", "experiments/networks/resnet50_soma.yaml"},
        {"r50_8MB_16GBs_cocco", "experiments/networks/resnet50_soma.yaml"},
        {"ires_8MB_16GBs_s1", "experiments/networks/inception_resnet_v1.yaml"},
        {"gpt2_small_prefill_8MB_16GBs_s1", "experiments/networks/gpt2_small_prefill512.yaml"},
    };
    static const char *const network[] = {"resnet50_soma", "inception_resnet_v1", "gpt2_small_prefill512"};
    bool fine = true;
    printf("| scheme | compute | x | DRAM | x | buffer | x | latency | x "
           "|\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; fine && i < sizeof oracle / sizeof *oracle; i++)
        fine = print_oracle_row(oracle[i][0], oracle[i][1]);
    for (size_t i = 0; fine && i < sizeof network / sizeof *network; i++)
        fine = print_fused_rows(network[i]);
    return fine;
}

int main(int argc, char **argv)
{
    static const char *const network[] = {"resnet50_soma", "inception_resnet_v1", "gpt2_small_prefill512"};
    static const uint32_t tiles[] = {1, 4, 16};
    bool fine = true;
    if (argc > 1 && strcmp(argv[1], "--rules") == 0)
        return !print_rules();
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        for (size_t t = 0; fine && t < sizeof tiles / sizeof *tiles; t++)
            fine = print_speed(network[i], tiles[t]);
    if (!fine)
        fprintf(stderr, "bench_soma_parse: failed\n");
    return !fine;
}
