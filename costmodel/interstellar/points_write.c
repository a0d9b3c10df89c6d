/* Writes a mapping in the one-line notation. */
#include "costmodel/interstellar/loops.h"
#include "costmodel/interstellar/points.h"

struct writer {
    const struct mapping *mapping;
    const struct problem *problem;
    const char *name[PROBLEM_DIM_MAX]; /* (n_dim) */
    struct text_buffer *out;
};

/* Loops of the level, those that are only spatial as one iteration, and what the machine keeps there but the
 * mapping does not. */
static void write_level(const struct writer *w, const struct architecture *arch, uint32_t l)
{
    const struct mapping_level *level = &w->mapping->level[l];
    const char *between = "";
    text_append(w->out, "%s[", l ? " / " : "");
    for (uint32_t i = 0; i < w->mapping->n_dim; i++) {
        uint32_t d = level->temporal_order[i];
        if (level->temporal[d] == 1 && (l + 1 == w->mapping->n_level || level[1].spatial[d] == 1))
            continue;
        text_append(w->out, "%s%s:%u", between, w->name[d], (unsigned)level->temporal[d]);
        between = " ";
    }
    for (uint32_t t = 0; t < w->problem->n_tensor; t++)
        if (!(level->keep >> t & 1u) && architecture_keeps(arch, l, &w->problem->tensor[t])) {
            text_append(w->out, "%s-%s", between, w->problem->tensor[t].name);
            between = " ";
        }
    text_append(w->out, "]");
}

/* The array around the copies of level l - 1, or around the MACs. Dimensions without loops are left out, but
 * for X before others. */
static void write_array(const struct writer *w, uint32_t l)
{
    const struct mapping_level *level = &w->mapping->level[l];
    bool any = false, begins = false;
    for (uint32_t i = 0; i < w->mapping->n_dim; i++) {
        const uint32_t d = level->spatial_order[i];
        begins |= i == level->split || ((uint32_t)level->further >> i & 1u);
        if (level->spatial[d] == 1)
            continue;
        if (!any && l > 0)
            text_append(w->out, " ; L%u", (unsigned)l - 1);
        else if (!any)
            text_append(w->out, " ; MAC");
        text_append(w->out, "%s%s:%u", begins ? " | " : " ", w->name[d], (unsigned)level->spatial[d]);
        any = true;
        begins = false;
    }
}

void points_write(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch, struct text_buffer *out)
{
    struct writer w = {.mapping = mapping, .problem = problem, .out = out};
    interstellar_name_dims(problem, w.name);
    for (uint32_t l = 0; l < mapping->n_level; l++)
        write_level(&w, arch, l);
    for (uint32_t l = 0; l < mapping->n_level; l++)
        write_array(&w, l);
}
