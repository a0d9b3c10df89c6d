/* Small graphs of uops with a schedule on a mesh of cores. */
#include "tests/support/uop_placed.h"

#include <string.h>

void uop_placed_init(struct uop_placed *p, uint32_t columns, uint32_t rows, uint32_t flit_bit)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->arena);
    p->machine = (struct kc_machine){.columns = columns, .rows = rows, .word_byte = 4};
    noc_config_cores(&p->machine.noc, columns, rows, flit_bit);
    p->schedule = (struct uop_schedule){UOP_STATIC, columns * rows, p->first, p->order};
    p->times = (struct uop_times){.start = p->start, .finish = p->finish};
}

void uop_placed_put(struct uop_placed *p, uint32_t n, const uint32_t *core)
{
    uint32_t at = 0;
    uop_small_link(&p->small, n);
    for (uint32_t c = 0; c < p->schedule.n_core; c++) {
        p->first[c] = at;
        for (uint32_t u = 0; u < n; u++)
            if (core[u] == c)
                p->order[at++] = u;
    }
    p->first[p->schedule.n_core] = at;
}

void uop_placed_random(struct random_stream *rng, struct uop_placed *p, uint32_t *core)
{
    static const uint32_t flit_bit[] = {64, 192, 4096};
    uint32_t mine[UOP_SMALL_MAX];
    core = core ? core : mine;
    uop_placed_init(p, 1 + random_below(rng, 4), 1 + random_below(rng, 3), flit_bit[random_below(rng, 3)]);
    uop_small_random(rng, &p->small);
    for (uint32_t u = 0; u < p->small.graph.n_uop; u++) {
        core[u] = random_below(rng, p->schedule.n_core);
        p->small.uop[u].output_word = 1 + random_below(rng, 200);
    }
    uop_placed_put(p, p->small.graph.n_uop, core);
}
