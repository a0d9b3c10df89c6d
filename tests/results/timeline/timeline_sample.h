/* A timeline that is made up: two groups of two tiles each, 10 cycles per tile, the third waits 5 cycles. */
#ifndef TESTS_RESULTS_TIMELINE_TIMELINE_SAMPLE_H
#define TESTS_RESULTS_TIMELINE_TIMELINE_SAMPLE_H

#include "results/timeline/timeline.h"

struct sample_timeline {
    struct timeline_transfer transfer[3];
    struct timeline_tile tile[4];
    struct timeline_step step[4];
    struct timeline_group group[2];
    struct timeline timeline;
};

/* Two uops of one layer on core 0, one of another on core 1. */
struct sample_uops {
    struct timeline_uop uop[3];
    struct timeline timeline;
};

static inline void sample_uops_make(struct sample_uops *s)
{
    *s = (struct sample_uops){.uop = {{"a, b/0", "a, b", 0, 0, 0, 10},
                                      {"a, b/1", "a, b", 0, 0, 10, 20},
                                      {"c/0", "c", 1, 1, 10, 40}},
                              .timeline = {.kind = TIMELINE_UOPS,
                                           .title = "u's",
                                           .network = "net",
                                           .architecture = "mesh",
                                           .rules = "ideal, static",
                                           .n_core = 2,
                                           .columns = 2,
                                           .work_cycle = 50,
                                           .batch = 1,
                                           .cycle = 40,
                                           .clock_hz = 1e9,
                                           .energy_j = 2e-9,
                                           .n_uop = 3}};
    s->timeline.uop = s->uop;
}

static inline void sample_timeline_make(struct sample_timeline *s)
{
    *s = (struct sample_timeline){
        .transfer = {{"weights", "conv \"1\", first", "", 1, 0, 0, 0, 0, 4, 64, 64, -1, 2},
                     {"ifmap", "conv \"1\", first", "input", 0, 0, 0, 0, 4, 9, 80, 96, -1, 1},
                     {"ofmap", "fc", "", 2, 1, 1, 1, 45, 50, 80, 80, 3, 4}},
        .tile = {{"conv \"1\", first", 0, 0, 0, 9, 19, 9},
                 {"conv \"1\", first", 1, 0, 0, 19, 29, 0},
                 {"fc", 0, 1, 1, 34, 44, 5},
                 {"fc", 1, 1, 1, 44, 45, 0}},
        .step = {{0, 19, 64, 96, 0, 0}, {19, 29, 64, 0, 0, 32}, {29, 44, 0, 0, 0, 64}, {44, 50, 0, 0, 80, 0}},
        .group = {{0, 1, 2, 0, 2, 0, 29, "conv"}, {1, 1, 2, 2, 2, 29, 45, "fc"}},
        .timeline = {.title = "a's",
                     .network = "net",
                     .architecture = "edge",
                     .rules = "sound",
                     .batch = 4,
                     .cycle = 50,
                     .compute_cycle = 31,
                     .dram_cycle = 14,
                     .stall_cycle = 14,
                     .buffer_byte = 256,
                     .buffer_max_byte = 160,
                     .dram_byte_per_cycle = 16,
                     .clock_hz = 1e9,
                     .energy_j = 1.5e-9,
                     .buffer_average_byte = 108.8,
                     .n_transfer = 3,
                     .n_tile = 4,
                     .n_group = 2}};
    s->timeline.transfer = s->transfer;
    s->timeline.tile = s->tile;
    s->timeline.step = s->step;
    s->timeline.group = s->group;
}

#endif
