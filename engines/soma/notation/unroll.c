/* Copies of layer groups, with the layers of their repetition. */
#include "engines/soma/notation/unroll.h"

/* Group g of `folded` behind what `whole` has. */
static void copy_group(const struct network_fold *fold, const struct soma_lfa *folded, uint32_t g,
                       uint32_t repetition, uint32_t *n_layer, struct soma_lfa *whole)
{
    const uint32_t to = whole->n_flc++;
    whole->flc[to] = *n_layer;
    whole->tiling[to] = folded->tiling[g];
    whole->dram_cut[to] = folded->dram_cut[g];
    for (uint32_t at = folded->flc[g]; at < soma_group_stop(folded, g); at++) {
        const uint32_t l = folded->order[at];
        whole->order[(*n_layer)++] = fold->layer[l] + repetition * fold->of[fold->segment[l]].stride;
    }
}

void soma_unroll_lfa(const struct network_fold *fold, const struct soma_lfa *folded, struct soma_lfa *whole)
{
    uint32_t n_layer = 0;
    whole->n_flc = 0;
    for (uint32_t s = 0; s < fold->n_segment; s++)
        for (uint32_t r = 0; r < fold->of[s].times; r++)
            for (uint32_t g = 0; g < folded->n_flc; g++)
                if (fold->segment[folded->order[folded->flc[g]]] == s)
                    copy_group(fold, folded, g, r, &n_layer, whole);
    whole->n_layer = n_layer;
}
