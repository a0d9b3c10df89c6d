/* Random fused schedules: tiles of layers that interleave, tensors with living durations, and as much
 * disorder as wanted. */
#include <string.h>

#include "tests/support/fused_oracle.h"
#include "tests/support/fused_plain.h"

enum { N_LAYER_MAX = 6 };

/* What is drawn for a layer. */
struct layer {
    int32_t first, last; /* positions of its tiles; -1: none */
    bool stored, weighted;
};

static int32_t below(struct random_stream *stream, int32_t n)
{
    return n <= 1 ? 0 : (int32_t)random_below(stream, (uint32_t)n);
}

static int32_t at_least(int32_t value, int32_t least)
{
    return value < least ? least : value;
}

static int32_t at_most(int32_t value, int32_t most)
{
    return value > most ? most : value;
}

/* Layers follow each other roughly, as fused ones interleave. */
static void draw_tiles(struct random_stream *stream, struct fused_schedule *schedule,
                       struct layer layer[N_LAYER_MAX])
{
    int32_t n_tile = (int32_t)schedule->n_tile;
    for (int32_t l = 0; l < N_LAYER_MAX; l++)
        layer[l] = (struct layer){-1, -1, below(stream, 2) == 0, below(stream, 3) > 0};
    for (int32_t p = 0; p < n_tile; p++) {
        struct fused_tile *tile = &schedule->tile[p];
        int32_t l = at_most(p * (N_LAYER_MAX - 1) / n_tile + below(stream, 2), N_LAYER_MAX - 1);
        *tile = (struct fused_tile){.layer = (uint32_t)l, .b = 1, .k = 1, .h = 1, .w = 1};
        tile->cycle = (uint64_t)below(stream, below(stream, 4) == 0 ? 1 : 60);
        tile->energy_j = (double)below(stream, 100);
        if (layer[l].first < 0)
            layer[l].first = p;
        layer[l].last = p;
    }
}

static struct fused_tensor *add(struct random_stream *stream, struct fused_schedule *schedule,
                                enum fused_tensor_kind kind, uint32_t layer)
{
    struct fused_tensor *tensor = &schedule->tensor[schedule->n_tensor++];
    *tensor = (struct fused_tensor){.kind = kind,
                                    .layer = layer,
                                    .source = INT32_MIN,
                                    .producer_tile = -1,
                                    .first_use = -1,
                                    .last_use = -1,
                                    .last_read = -1};
    tensor->byte = (uint64_t)below(stream, below(stream, 8) == 0 ? 1 : 300);
    tensor->dram_byte = kind == FUSED_LOCAL                            ? 0
                        : kind == FUSED_OFMAP && tensor->byte % 3 == 0 ? tensor->byte / 2
                                                                       : tensor->byte;
    return tensor;
}

static void add_load(struct random_stream *stream, struct fused_schedule *schedule, struct fused_tensor *load,
                     int32_t first, int32_t last, int32_t earliest)
{
    load->first_use = first;
    load->last_use = last;
    load->start = at_least(first - 1 - below(stream, 4), at_most(earliest, first - 1));
    load->end = at_most(last + 1 + (below(stream, 8) == 0), (int32_t)schedule->n_tile);
}

static void add_ifmap(struct random_stream *stream, struct fused_schedule *schedule,
                      const struct layer *layer, int32_t p)
{
    int32_t source = below(stream, N_LAYER_MAX);
    struct fused_tensor *load = add(stream, schedule, FUSED_IFMAP, schedule->tile[p].layer);
    bool stored = layer[source].stored && layer[source].first >= 0 && layer[source].last + 1 < p;
    load->source = stored ? source : -1;
    add_load(stream, schedule, load, p, p, stored ? layer[source].last + 1 : -1);
}

static void add_output(struct random_stream *stream, struct fused_schedule *schedule,
                       const struct layer *layer, int32_t p)
{
    uint32_t l = schedule->tile[p].layer;
    int32_t n_tile = (int32_t)schedule->n_tile;
    struct fused_tensor *made = add(stream, schedule, layer[l].stored ? FUSED_OFMAP : FUSED_LOCAL, l);
    made->producer_tile = made->start = p;
    if (p + 1 < n_tile && below(stream, 3) == 0) {
        made->first_use = at_most(p + 1 + below(stream, 4), n_tile - 1);
        made->last_use = at_most(made->first_use + below(stream, 4), n_tile - 1);
        made->last_read = made->byte % 4 == 0 ? at_most(made->last_use + 2, n_tile - 1) : made->last_use;
    }
    made->end = at_most(at_least(p, made->last_read) + 1 + below(stream, 4), n_tile);
}

/* Some go past the buffer, with little more time than they have. */
static void stream_past(struct random_stream *stream, struct fused_tensor *tensor)
{
    if (tensor->kind == FUSED_LOCAL || below(stream, 2) == 0)
        return;
    tensor->streamed = tensor->kind == FUSED_OFMAP ? 1 : 1 + (uint32_t)below(stream, 4);
    tensor->byte = 0;
    tensor->limit =
        tensor->kind == FUSED_OFMAP ? tensor->end + below(stream, 2) : tensor->start - below(stream, 2);
}

static bool before(const struct fused_tensor *a, const struct fused_tensor *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    if ((a->kind == FUSED_WEIGHT) != (b->kind == FUSED_WEIGHT))
        return a->kind == FUSED_WEIGHT;
    return a->end < b->end;
}

static void order_by_start(struct fused_schedule *schedule)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        if (schedule->tensor[i].kind == FUSED_LOCAL)
            continue;
        uint32_t k = n++;
        for (; k > 0 && before(&schedule->tensor[i], &schedule->tensor[schedule->dram_order[k - 1]]); k--)
            schedule->dram_order[k] = schedule->dram_order[k - 1];
        schedule->dram_order[k] = i;
    }
    schedule->n_dram = n;
}

static void disturb(struct random_stream *stream, uint32_t disorder, struct fused_schedule *schedule)
{
    uint32_t of_time = below(stream, 2) == 0 ? disorder : 0; /* else only the order */
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        struct fused_tensor *tensor = &schedule->tensor[i];
        if (random_below(stream, 100) >= of_time)
            continue;
        int32_t by = below(stream, 7) - 3;
        if (tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT)
            tensor->start = at_least(tensor->start + by, below(stream, 20) == 0 ? -4 : -1);
        else
            tensor->end = at_most(tensor->end + by, (int32_t)schedule->n_tile + (below(stream, 20) == 0));
    }
    for (uint32_t m = 0; m < schedule->n_dram; m++) {
        if (random_below(stream, 100) >= disorder)
            continue;
        uint32_t k = random_below(stream, schedule->n_dram), other = k + random_below(stream, 6);
        if (other >= schedule->n_dram)
            continue;
        uint32_t i = schedule->dram_order[k];
        schedule->dram_order[k] = schedule->dram_order[other];
        schedule->dram_order[other] = i;
    }
}

bool fused_random(struct random_stream *stream, uint32_t n_tile_max, uint32_t disorder, struct arena *arena,
                  struct fused_schedule *schedule, struct fused_machine *machine)
{
    struct layer layer[N_LAYER_MAX];
    memset(schedule, 0, sizeof *schedule);
    schedule->n_tile = 1 + random_below(stream, n_tile_max);
    size_t n_tensor_max = 2 * (size_t)schedule->n_tile + N_LAYER_MAX;
    schedule->tile = arena_alloc(arena, schedule->n_tile, sizeof *schedule->tile);
    schedule->tensor = arena_alloc(arena, n_tensor_max, sizeof *schedule->tensor);
    schedule->dram_order = arena_alloc(arena, n_tensor_max, sizeof *schedule->dram_order);
    if (!schedule->tile || !schedule->tensor || !schedule->dram_order)
        return false;
    draw_tiles(stream, schedule, layer);
    for (uint32_t l = 0; l < N_LAYER_MAX; l++)
        if (layer[l].weighted && layer[l].first >= 0)
            add_load(stream, schedule, add(stream, schedule, FUSED_WEIGHT, l), layer[l].first, layer[l].last,
                     -1);
    for (int32_t p = 0; p < (int32_t)schedule->n_tile; p++) {
        if (below(stream, 2) == 0)
            add_ifmap(stream, schedule, layer, p);
        add_output(stream, schedule, layer, p);
    }
    bool streams = below(stream, 4) == 0;
    for (uint32_t i = 0; streams && i < schedule->n_tensor; i++)
        stream_past(stream, &schedule->tensor[i]);
    order_by_start(schedule);
    disturb(stream, disorder, schedule);
    static const struct byte_rate rate[] = {{1, 1}, {2, 1}, {5, 1}, {8, 1}, {1, 3}, {7, 3}, {3, 5}, {18, 7}};
    *machine = (struct fused_machine){.buffer_byte = 200 + random_below(stream, 4000), .dram_energy_j = 1};
    machine->dram_rate = rate[random_below(stream, sizeof rate / sizeof *rate)];
    machine->differs = streams;
    machine->store_rate = below(stream, 4) == 0 ? (struct byte_rate){1, 0}
                                                : rate[random_below(stream, sizeof rate / sizeof *rate)];
    for (int way = 0; way < FUSED_N_WAY; way++)
        machine->way_energy_j[way] = way + 1;
    return fused_schedule_list_reads(schedule, arena);
}
