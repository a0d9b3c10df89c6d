/* A mapping as text: Timeloop's YAML, the same on one line for result files, and the loop nest as people
 * read it. */
#include <string.h>

#include "costmodel/model/mapping.h"

/* One-letter names are run together ("KCP"), longer ones separated by commas: Timeloop reads both. */
static bool short_names(const struct problem *problem)
{
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (problem->dim_name[d][1] != '\0')
            return false;
    return true;
}

/* The longest entry: every dimension twice with its factor, every tensor twice, the name of the level, and
 * words. */
enum {
    ENTRY_MAX = PROBLEM_DIM_MAX * (2 * PROBLEM_DIM_NAME_MAX + 16) +
                2 * PROBLEM_TENSOR_MAX * (PROBLEM_NAME_MAX + 2) + ARCH_NAME_MAX + 256
};

/* Writing to at, which has room; each returns the end. Sweeps write hundreds of these small texts for every
 * point. */
static char *put(char *at, const char *string)
{
    while (*string != '\0')
        *at++ = *string++;
    return at;
}

static char *write_loops(char *at, const uint32_t *factor, const uint8_t *order,
                         const struct problem *problem, bool is_short)
{
    at = put(at, "factors: ");
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        if (d)
            *at++ = ' ';
        at = put(at, problem->dim_name[d]);
        *at++ = '=';
        at += text_u64_bytes(factor[d], at);
    }
    at = put(at, is_short ? ", permutation: " : ", permutation: \"");
    for (uint32_t k = 0; k < problem->n_dim; k++) {
        if (k && !is_short)
            *at++ = ',';
        at = put(at, problem->dim_name[order[k]]);
    }
    return is_short ? at : put(at, "\"");
}

static char *write_tensors(char *at, const char *key, uint32_t mask, const struct problem *problem)
{
    bool first = true;
    at = put(put(at, key), ": [");
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (mask >> t & 1u) {
            at = put(put(at, first ? "" : ", "), problem->tensor[t].name);
            first = false;
        }
    return put(at, "]");
}

static char *write_switch(char *at, const char *key, uint32_t mask, const struct problem *problem)
{
    return mask ? write_tensors(put(at, ", "), key, mask, problem) : at;
}

static bool has_spatial(const struct mapping_level *level, uint32_t n_dim)
{
    for (uint32_t d = 0; d < n_dim; d++)
        if (level->spatial[d] != 1)
            return true;
    return level->no_link_transfer || level->no_multicast;
}

/* `2`; where the array has further dimensions `[2, 3]`. */
static char *write_split(char *at, const struct mapping_level *level)
{
    at = put(at, level->further ? "[" : "");
    at += text_u64_bytes(level->split, at);
    for (uint32_t i = 0; i < PROBLEM_DIM_MAX; i++)
        if (level->further >> i & 1) {
            at = put(at, ", ");
            at += text_u64_bytes(i, at);
        }
    return put(at, level->further ? "]" : "");
}

/* One level: its temporal, spatial and bypass entries, each between `begin` and `end`. False when out of
 * memory. */
static bool write_level(const struct mapping_level *level, const char *target, const struct problem *problem,
                        bool is_short, const char *begin, const char *end, struct text_buffer *out)
{
    uint32_t all = (1u << problem->n_tensor) - 1;
    char *at = text_room(out, 3 * ENTRY_MAX);
    if (!at)
        return false;
    at = put(put(put(at, begin), target), ", type: temporal, ");
    at = write_loops(at, level->temporal, level->temporal_order, problem, is_short);
    at = write_switch(at, "no_temporal_reuse", level->no_temporal_reuse, problem);
    at = put(at, end);
    if (has_spatial(level, problem->n_dim)) {
        at = put(put(put(at, begin), target), ", type: spatial, ");
        at = write_loops(at, level->spatial, level->spatial_order, problem, is_short);
        at = write_split(put(at, ", split: "), level);
        at = write_switch(at, "no_link_transfer", level->no_link_transfer, problem);
        at = write_switch(at, "no_multicast_no_reduction", level->no_multicast, problem);
        at = put(at, end);
    }
    at = put(put(put(at, begin), target), ", type: bypass, ");
    at = put(write_tensors(at, "keep", level->keep, problem), ", ");
    at = put(write_tensors(at, "bypass", all & ~(uint32_t)level->keep, problem), end);
    text_wrote(out, at);
    return true;
}

void mapping_write_yaml(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out)
{
    bool is_short = short_names(problem);
    text_append_string(out, "mapping:\n");
    for (uint32_t l = arch->n_level; l-- > 0;)
        if (!write_level(&mapping->level[l], arch->level[l].name, problem, is_short, "- {target: ", "}\n",
                         out))
            return;
}

void mapping_write_line(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out)
{
    bool is_short = short_names(problem);
    text_append_string(out, "mapping: [");
    for (uint32_t l = arch->n_level; l-- > 0;)
        if (!write_level(&mapping->level[l], arch->level[l].name, problem, is_short, "{target: ", "}, ", out))
            return;
    if (!out->failed && arch->n_level > 0)
        out->length -= 2; /* the last ", " */
    text_append_string(out, "]");
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
        char *at = text_room(out, ENTRY_MAX);
        if (!at)
            return;
        at = write_tensors(put(put(at, arch->level[l].name), "  ("), "keeps", level->keep, problem);
        text_wrote(out, put(at, ")\n"));
        write_nest_loops(level->temporal, level->temporal_order, 0, problem->n_dim, "for", problem, &depth,
                         out);
        write_nest_loops(level->spatial, level->spatial_order, level->split, problem->n_dim,
                         "parallel (rows) for", problem, &depth, out);
        write_nest_loops(level->spatial, level->spatial_order, 0, level->split, "parallel (columns) for",
                         problem, &depth, out);
    }
    text_append(out, "%s\n", arch->mac.name);
}
