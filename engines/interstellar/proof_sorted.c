/* Tiles of a level sorted by an order's key, and which of them a node in front of the level leads to: bits
 * for each state of each loop, 64 tiles a word. Both as far as a search goes down the list: most look at the
 * first few tiles only, and to sort them all takes longer than it may between two looks at the clock. */
#include <stdlib.h>

#include "engines/interstellar/proof.h"

enum { WORDS_AT_FIRST = 16, ROW_BYTE_MAX = 1 << 26, SORTED_AT_ONCE = 1 << 10 };

static int compare_tiles(const void *a, const void *b)
{
    const struct sorted_tile *one = a, *two = b;
    return one->key < two->key ? -1 : one->key > two->key ? 1 : one->tile < two->tile ? -1 : 1;
}

/* Of n tiles, those that come before the middle one of three of them go to the front; how many, at least one
 * and not all. */
static uint32_t partition(struct sorted_tile *tile, uint32_t n)
{
    const struct sorted_tile *a = &tile[0], *b = &tile[n / 2], *c = &tile[n - 1];
    const struct sorted_tile *low = compare_tiles(a, b) < 0 ? a : b, *high = low == a ? b : a;
    const struct sorted_tile *middle = compare_tiles(c, low) < 0    ? low
                                       : compare_tiles(c, high) < 0 ? c
                                                                    : high;
    const struct sorted_tile pivot = *middle;
    uint32_t front = 0, back = n - 1;
    for (;; front++, back--) {
        while (compare_tiles(&tile[front], &pivot) < 0)
            front++;
        while (compare_tiles(&pivot, &tile[back]) < 0)
            back--;
        if (front >= back)
            return front;
        const struct sorted_tile moved = tile[front];
        tile[front] = tile[back];
        tile[back] = moved;
    }
}

void proof_sort_to(struct sorted_list *list, uint32_t n)
{
    while (list->n_sorted < n && list->n_border > 0) {
        const uint32_t at = list->n_sorted, past = list->border[list->n_border - 1];
        if (past - at > SORTED_AT_ONCE && list->n_border < SORTED_BORDER_MAX) {
            list->border[list->n_border++] = at + partition(list->tile + at, past - at);
            continue;
        }
        qsort(list->tile + at, past - at, sizeof *list->tile, compare_tiles);
        list->n_sorted = past;
        list->n_border--;
    }
}

struct sorted_list *proof_sorted(struct blocking_search *search, uint32_t v, uint32_t k)
{
    struct blocking_proof *proof = search->proof;
    const struct proof_level *level = &proof->level[v];
    const double *key = level->key + (size_t)k * level->list.n;
    const double cutoff = search->best_j - proof->slack_j[v];
    struct sorted_list *list = arena_alloc(&proof->arena, 1, sizeof *list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < level->list.n; i++)
        n += key[i] < cutoff;
    struct sorted_tile *tile = arena_alloc_unset(&proof->arena, (size_t)n + 1, sizeof *tile);
    if (!list || !tile)
        return NULL;
    list->tile = tile;
    for (uint32_t i = 0; i < level->list.n; i++)
        if (key[i] < cutoff)
            list->tile[list->n++] = (struct sorted_tile){key[i], i, level->list.node[i]};
    list->border[list->n_border++] = list->n;
    for (uint32_t d = 0; d < search->space->model.n_dim; d++) {
        const uint32_t front = layer_tile(&search->space->model, v) - 1;
        list->row[d] =
            arena_alloc(&proof->arena, search->space->path[d].layer[front].n + 1, sizeof *list->row[d]);
        if (!list->row[d])
            return NULL;
    }
    return list;
}

/* Word `word` of the row for a state from which the step leads to the states `leads` (bits). */
static uint64_t find_word(struct sorted_list *list, uint32_t d, const uint64_t *leads, uint32_t word)
{
    const uint32_t from = 64 * word, n = list->n - from < 64 ? list->n - from : 64;
    uint64_t bits = 0;
    proof_sort_to(list, from + n);
    for (uint32_t i = 0; i < n; i++)
        bits |= (uint64_t)row_leads(leads, list->tile[from + i].node.state[d]) << i;
    return bits;
}

/* Begin a row; it stays without bits where those of all rows would take too much memory. */
static void begin_row(struct blocking_proof *proof, struct sorted_list *list, struct reach_row *row,
                      const uint64_t *leads, uint32_t n_behind)
{
    const size_t n_word = list->n / 64 + 1;
    row->all = true;
    for (uint32_t j = 0; j < n_behind; j++)
        row->all = row->all && row_leads(leads, j);
    if (row->all || list->row_byte + n_word * sizeof *row->bit > ROW_BYTE_MAX)
        return;
    row->bit = arena_alloc_unset(&proof->arena, n_word, sizeof *row->bit);
    list->row_byte += row->bit ? n_word * sizeof *row->bit : 0;
}

uint64_t proof_reached(struct blocking_search *search, uint32_t v, struct sorted_list *list,
                       const struct blocking_node *from, uint32_t word)
{
    const uint32_t y = layer_tile(&search->space->model, v), n_word = (list->n + 63) / 64;
    uint64_t reached = list->n - 64 * word < 64 ? (1ull << (list->n - 64 * word)) - 1 : UINT64_MAX;
    for (uint32_t d = 0; d < search->space->model.n_dim && reached; d++) {
        const struct loop_layer *layer = &search->space->path[d].layer[y];
        const uint64_t *leads = layer->leads + (size_t)from->state[d] * layer->n_word;
        struct reach_row *row = &list->row[d][from->state[d]];
        if (!row->all && !row->bit)
            begin_row(search->proof, list, row, leads, layer->n);
        if (row->all)
            continue;
        if (row->bit && row->n_word <= word) {
            uint32_t most = 2 * word > WORDS_AT_FIRST ? 2 * word : WORDS_AT_FIRST;
            for (most = most < n_word ? most : n_word; row->n_word < most; row->n_word++)
                row->bit[row->n_word] = find_word(list, d, leads, row->n_word);
        }
        reached &= row->bit ? row->bit[word] : find_word(list, d, leads, word);
    }
    return reached;
}
