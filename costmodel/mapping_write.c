#include <string.h>

#include "costmodel/mapping.h"

/* One-letter names are run together ("KCP"), longer ones separated by commas: Timeloop reads both. */
static bool short_names(const struct problem *problem)
{
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (problem->dim_name[d][1] != '\0')
            return false;
    return true;
}

static void write_loops(const uint32_t *factor, const uint8_t *order, const struct problem *problem,
                        struct text_buffer *out)
{
    bool is_short = short_names(problem);
    text_append(out, "factors: ");
    for (uint32_t d = 0; d < problem->n_dim; d++)
        text_append(out, "%s%s=%u", d ? " " : "", problem->dim_name[d], factor[d]);
    text_append(out, ", permutation: %s", is_short ? "" : "\"");
    for (uint32_t k = 0; k < problem->n_dim; k++)
        text_append(out, "%s%s", k && !is_short ? "," : "", problem->dim_name[order[k]]);
    text_append(out, is_short ? "" : "\"");
}

static void write_tensors(const char *key, uint32_t mask, const struct problem *problem,
                          struct text_buffer *out)
{
    bool first = true;
    text_append(out, "%s: [", key);
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (mask >> t & 1u) {
            text_append(out, "%s%s", first ? "" : ", ", problem->tensor[t].name);
            first = false;
        }
    text_append(out, "]");
}

static void write_switch(const char *key, uint32_t mask, const struct problem *problem,
                         struct text_buffer *out)
{
    if (!mask)
        return;
    text_append(out, ", ");
    write_tensors(key, mask, problem, out);
}

static bool has_spatial(const struct mapping_level *level, uint32_t n_dim)
{
    for (uint32_t d = 0; d < n_dim; d++)
        if (level->spatial[d] != 1)
            return true;
    return level->no_link_transfer || level->no_multicast;
}

void mapping_write_yaml(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out)
{
    uint32_t all = (1u << problem->n_tensor) - 1;
    text_append(out, "mapping:\n");
    for (uint32_t l = arch->n_level; l-- > 0;) {
        const struct mapping_level *level = &mapping->level[l];
        text_append(out, "- {target: %s, type: temporal, ", arch->level[l].name);
        write_loops(level->temporal, level->temporal_order, problem, out);
        write_switch("no_temporal_reuse", level->no_temporal_reuse, problem, out);
        text_append(out, "}\n");
        if (has_spatial(level, problem->n_dim)) {
            text_append(out, "- {target: %s, type: spatial, ", arch->level[l].name);
            write_loops(level->spatial, level->spatial_order, problem, out);
            text_append(out, ", split: %u", level->split);
            write_switch("no_link_transfer", level->no_link_transfer, problem, out);
            write_switch("no_multicast_no_reduction", level->no_multicast, problem, out);
            text_append(out, "}\n");
        }
        text_append(out, "- {target: %s, type: bypass, ", arch->level[l].name);
        write_tensors("keep", level->keep, problem, out);
        text_append(out, ", ");
        write_tensors("bypass", all & ~(uint32_t)level->keep, problem, out);
        text_append(out, "}\n");
    }
}

static void write_nest_loops(const uint32_t *factor, const uint8_t *order, uint32_t begin, uint32_t end,
                             const char *word, const struct problem *problem, uint32_t *depth,
                             struct text_buffer *out)
{
    for (uint32_t k = end; k-- > begin;) {
        uint32_t d = order[k];
        if (factor[d] == 1)
            continue;
        text_append(out, "  %*s%s %s in 0..%u\n", (int)(2 * *depth), "", word, problem->dim_name[d],
                    factor[d] - 1);
        ++*depth;
    }
}

void mapping_write_nest(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out)
{
    uint32_t depth = 0;
    for (uint32_t l = arch->n_level; l-- > 0;) {
        const struct mapping_level *level = &mapping->level[l];
        text_append(out, "%s  (", arch->level[l].name);
        write_tensors("keeps", level->keep, problem, out);
        text_append(out, ")\n");
        write_nest_loops(level->temporal, level->temporal_order, 0, problem->n_dim, "for", problem, &depth,
                         out);
        write_nest_loops(level->spatial, level->spatial_order, level->split, problem->n_dim,
                         "parallel (rows) for", problem, &depth, out);
        write_nest_loops(level->spatial, level->spatial_order, 0, level->split, "parallel (columns) for",
                         problem, &depth, out);
    }
    text_append(out, "%s\n", arch->mac.name);
}
