/* Each array is given back when what it becomes is made, so that both are there of one only. */
#include "costmodel/uop/step_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool numbers_put(struct step_numbers *numbers, uint32_t number)
{
    uint32_t *grown = array_grow(numbers->at, numbers->n + 1, &numbers->capacity, sizeof *numbers->at);
    if (!grown)
        return false;
    numbers->at = grown;
    numbers->at[numbers->n++] = number;
    return true;
}

bool step_pairs_put(struct step_pairs *pairs, uint32_t of, uint32_t is)
{
    struct step_pair *grown = array_grow(pairs->at, pairs->n + 1, &pairs->capacity, sizeof *pairs->at);
    if (!grown)
        return false;
    pairs->at = grown;
    pairs->at[pairs->n++] = (struct step_pair){of, is};
    return true;
}

void step_list_free(struct step_list *list)
{
    free(list->step);
    free(list->wait.at);
    free(list->first_wait.at);
    free(list->later_wait.at);
    free(list->later_to.at);
    *list = (struct step_list){0};
}

uint32_t step_list_put(struct step_list *list, enum uop_step_kind kind, uint32_t item, uint32_t core)
{
    struct uop_step *grown = array_grow(list->step, list->n + 1, &list->capacity, sizeof *list->step);
    list->step = grown ? grown : list->step;
    list->failed = list->failed || !grown || !numbers_put(&list->first_wait, (uint32_t)list->wait.n);
    if (list->failed)
        return 0;
    list->step[list->n] = (struct uop_step){.kind = kind, .item = item, .core = core};
    return (uint32_t)list->n++;
}

void step_list_wait(struct step_list *list, uint32_t step, uint32_t on)
{
    if (list->failed || on == UOP_NONE)
        return;
    list->failed = step + (size_t)1 == list->n ? !numbers_put(&list->wait, on)
                                               : !step_pairs_put(&list->later_wait, step, on);
}

void step_list_to(struct step_list *list, uint32_t step, uint32_t core)
{
    if (list->failed)
        return;
    if (list->step[step].n_to == 0) {
        list->step[step].first_to = core;
        list->step[step].n_to = 1;
    } else {
        list->failed = !step_pairs_put(&list->later_to, step, core);
    }
}

/* ---- the final form ---- */

static enum dse_status check(const struct arena *arena, struct dse_error *err)
{
    return arena_check(arena, "the plan of a memory", err);
}

/* Into a list in order, behind which there is room. */
static void insert(uint32_t *list, uint32_t n, uint32_t core)
{
    for (; n > 0 && list[n - 1] > core; n--)
        list[n] = list[n - 1];
    list[n] = core;
}

/* How many later ones each step has. */
static uint32_t *count(const struct step_pairs *pairs, size_t n_step)
{
    uint32_t *n = calloc(n_step + 1, sizeof *n);
    for (size_t i = 0; n && i < pairs->n; i++)
        n[pairs->at[i].of]++;
    return n;
}

static void fill_to(const struct step_list *list, const uint32_t *n_later, struct uop_steps *out)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < out->n_step; i++) {
        struct uop_step *step = &out->step[i];
        if (step->n_to)
            out->to[at] = step->first_to;
        step->first_to = at;
        at += step->n_to + n_later[i];
    }
    for (size_t i = 0; i < list->later_to.n; i++) {
        struct uop_step *step = &out->step[list->later_to.at[i].of];
        insert(out->to + step->first_to, step->n_to++, list->later_to.at[i].is);
    }
}

/* Those that came with the step, then the later ones. */
static void fill_wait(const struct step_list *list, uint32_t *n_later, struct uop_steps *out)
{
    const uint32_t n = out->n_step;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const size_t first = list->first_wait.at[i];
        const size_t own = (i + 1 < n ? list->first_wait.at[i + 1] : list->wait.n) - first;
        out->first_wait[i] = at;
        if (own)
            memcpy(out->wait + at, list->wait.at + first, own * sizeof *out->wait);
        at += (uint32_t)own + n_later[i];
        n_later[i] = at - n_later[i]; /* where its next goes */
    }
    out->first_wait[n] = at;
    for (size_t i = 0; i < list->later_wait.n; i++)
        out->wait[n_later[list->later_wait.at[i].of]++] = list->later_wait.at[i].is;
}

enum dse_status step_list_finish(struct step_list *list, struct arena *arena, struct uop_steps *out,
                                 struct dse_error *err)
{
    const size_t n = list->n, n_to = n + list->later_to.n, n_wait = list->wait.n + list->later_wait.n;
    if (n_to >= UOP_NONE || n_wait >= UOP_NONE)
        return dse_fail(err, DSE_LIMIT, "the plan of a memory with more than 2^32 waits");
    uint32_t *n_later_to = count(&list->later_to, n), *n_later_wait = count(&list->later_wait, n);
    out->n_step = (uint32_t)n;
    out->step = arena_alloc_unset(arena, n + 1, sizeof *out->step);
    out->to = arena_alloc_unset(arena, n_to + 1, sizeof *out->to);
    out->first_wait = arena_alloc_unset(arena, n + 1, sizeof *out->first_wait);
    out->wait = arena_alloc_unset(arena, n_wait + 1, sizeof *out->wait);
    enum dse_status status = check(arena, err);
    if (status == DSE_OK && (!n_later_to || !n_later_wait))
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the plan of a memory");
    if (status == DSE_OK) {
        if (n)
            memcpy(out->step, list->step, n * sizeof *out->step);
        free(list->step);
        list->step = NULL;
        fill_to(list, n_later_to, out);
        fill_wait(list, n_later_wait, out);
    }
    free(n_later_to);
    free(n_later_wait);
    step_list_free(list);
    return status;
}
