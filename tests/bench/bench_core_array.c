/* Speed of the core-array model: all distinct tiles of the reference tables (tests/known/soma/tilecost), by
 * the search itself, with and without compat, and through a cache that knows them. Prints
 * "name,value,unit". */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"

enum { TILE_MAX = 4096, LINE_MAX_BYTE = 256, N_ROUND = 20 };

struct tiles {
    struct core_tile tile[TILE_MAX];
    uint32_t n;
};

/* The matrix tiles of one file; format: the README beside it. */
static bool read_tiles(const char *name, struct tiles *tiles)
{
    char path[LINE_MAX_BYTE], line[LINE_MAX_BYTE];
    struct core_tile layer = {.b = 0};
    bool matrix = false;
    snprintf(path, sizeof path, "tests/known/soma/tilecost/%s.txt", name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        unsigned second = 0;
        if (line[0] == 'M') {
            matrix = sscanf(line, "M %u %u %u %u %u %u %u %u %u", &layer.k, &layer.c, &layer.r, &layer.s,
                            &layer.stride_h, &layer.stride_w, &layer.groups, &second, &layer.operands) == 9;
            layer.weights_from_layer = second != 0;
        } else if (line[0] < '0' || line[0] > '9') {
            matrix = false;
        } else if (matrix && tiles->n < TILE_MAX) {
            struct core_tile *tile = &tiles->tile[tiles->n];
            *tile = layer;
            tiles->n += sscanf(line, "%u %u %u", &tile->b, &tile->h, &tile->w) == 3;
        }
    }
    (void)fclose(file);
    return true;
}

/* Tiles per second of a scheduler; adds to `sum` so that nothing is optimised away. */
static bool measure(const char *what, struct core_scheduler scheduler, const struct tiles *tiles, double *sum)
{
    struct core_cost cost;
    struct dse_error err;
    double start_s = clock_thread_s();
    for (int round = 0; round < N_ROUND; round++) {
        for (uint32_t i = 0; i < tiles->n; i++) {
            if (scheduler.cost(scheduler.self, &tiles->tile[i], &cost, &err) != DSE_OK)
                return false;
            *sum += cost.energy_j;
        }
    }
    printf("core_array/%s,%.0f,tiles/s\n", what, N_ROUND * (double)tiles->n / (clock_thread_s() - start_s));
    return true;
}

static bool run(const struct tiles *tiles)
{
    const struct core_array_size size = {512, 4, 4, 8 << 20, {256, 1}};
    struct core_array_search sound = {.compat = false}, compat = {.compat = true};
    struct core_cache *cache = NULL;
    struct core_cached cached;
    struct dse_error err;
    double sum = 0;
    bool fine = core_array_init(&size, &sound.core, &err) == DSE_OK &&
                core_array_init(&size, &compat.core, &err) == DSE_OK &&
                core_cache_new(1 << 16, &cache, &err) == DSE_OK &&
                core_cache_join_array(cache, &sound, &cached, &err) == DSE_OK &&
                measure("search", core_array_scheduler(&sound), tiles, &sum) &&
                measure("search_compat", core_array_scheduler(&compat), tiles, &sum) &&
                measure("cache", core_cached_scheduler(&cached), tiles, &sum) && sum > 0;
    core_cache_free(cache);
    return fine;
}

int main(void)
{
    static const char *const names[] = {"gpt2_small_prefill512", "resnet50", "inception_resnet_v1",
                                        "randwire_large"};
    struct tiles *tiles = calloc(1, sizeof *tiles);
    bool fine = tiles != NULL;
    for (size_t i = 0; fine && i < sizeof names / sizeof *names; i++)
        fine = read_tiles(names[i], tiles);
    fine = fine && run(tiles);
    free(tiles);
    if (!fine)
        fprintf(stderr, "bench_core_array: failed\n");
    return !fine;
}
