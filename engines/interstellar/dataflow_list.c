/* Dataflows from the choices of loops for an array: those that differ in factors only are one. */
#include "engines/interstellar/dataflow_list.h"

#include <stdlib.h>
#include <string.h>

/* Few loops first; then in the order of the sides. */
static int compare(const void *a, const void *b)
{
    const struct unrolling *one = a, *two = b;
    if (one->n != two->n)
        return one->n < two->n ? -1 : 1;
    if (one->begins != two->begins)
        return one->begins < two->begins ? -1 : 1;
    return memcmp(one->loop, two->loop, one->n);
}

static enum dse_status only_array(const struct blocking_model *model, const struct architecture *arch,
                                  uint32_t *level, struct dse_error *err)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < model->n_level; v++)
        if (blocking_has_array(model, v)) {
            *level = v;
            n++;
        }
    return n == 1 ? DSE_OK
                  : dse_fail(err, DSE_BAD_INPUT, "dataflows are listed for machines of one array; %s has %u",
                             arch->name, (unsigned)n);
}

static enum dse_status list_array(const struct array_choices *choices, struct arena *arena,
                                  struct engine_dataflows *out, struct dse_error *err)
{
    out->n = 0;
    out->list = arena_alloc(arena, choices->n + 1, sizeof *out->list);
    DSE_TRY(arena_check(arena, "the dataflows", err));
    for (uint32_t c = 0; c < choices->n; c++) {
        struct unrolling *next = &out->list[c];
        *next = (struct unrolling){.n = choices->choice[c].n, .begins = choices->choice[c].begins};
        memcpy(next->loop, choices->choice[c].loop, choices->choice[c].n);
    }
    qsort(out->list, choices->n, sizeof *out->list, compare);
    for (uint32_t c = 0; c < choices->n; c++)
        if (out->list[c].n > 0 && (out->n == 0 || compare(&out->list[c], &out->list[out->n - 1]) != 0))
            out->list[out->n++] = out->list[c];
    return DSE_OK;
}

enum dse_status dataflow_list(const struct problem *problem, const struct architecture *arch,
                              const struct interstellar_hint *hint, const struct blocking_settings *settings,
                              struct arena *arena, struct engine_dataflows *out, struct dse_error *err)
{
    struct blocking_space *space = arena_alloc(arena, 1, sizeof *space);
    DSE_TRY(arena_check(arena, "the space of blockings", err));
    memset(space, 0, sizeof *space);
    enum dse_status status = blocking_space_build(problem, arch, hint, settings, arena, space, err);
    if (status == DSE_OK)
        status = only_array(&space->model, arch, &out->level, err);
    if (status == DSE_OK)
        status = list_array(&space->array[out->level].list, arena, out, err);
    blocking_space_free(space);
    return status;
}
