/* Reads the schedule files of Interstellar's authors. */
#include "costmodel/interstellar/hint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/interstellar/loops.h"

enum { WHAT_MAX = 96, SHOWN_MAX = 60 };

/* What a schedule is read with. */
struct hint_reader {
    const struct yaml_doc *doc;
    const struct problem *problem;   /* NULL: any convolution */
    const struct architecture *arch; /* NULL: any */
    struct interstellar_hint *hint;
    struct dse_error *err;
};

bool interstellar_is_schedule(const struct ynode *node)
{
    return yaml_find(node, "schedule_hint") || yaml_find(node, "partition_loops");
}

/* A dimension of the problem by the authors' name of the loop. */
static enum dse_status find_loop(const struct hint_reader *r, const char *word, int line, uint32_t *dim)
{
    struct interstellar_loops loops;
    const char *known[LOOP_COUNT];
    char shown[SHOWN_MAX];
    size_t n = 0;
    for (int l = 0; l < LOOP_COUNT; l++)
        loops.dim[l] = l;
    if (r->problem)
        interstellar_loops_of(r->problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++) {
        known[n++] = interstellar_loop_name((enum interstellar_loop)l);
        if (strcmp(known[n - 1], word) != 0)
            continue;
        if (loops.dim[l] < 0)
            return dse_fail_at(r->err, DSE_BAD_INPUT, r->doc->path, line,
                               "problem %.60s has no loop %s; the schedule is for a convolution",
                               r->problem->name, word);
        *dim = (uint32_t)loops.dim[l];
        return DSE_OK;
    }
    const char *near = text_nearest(word, known, n);
    return dse_fail_at(r->err, DSE_BAD_INPUT, r->doc->path, line,
                       "unknown loop \"%s\"%s%s%s; the loops are FX, FY, OX, OY, OC, IC, ON",
                       text_excerpt(word, shown, sizeof shown), near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "");
}

/* "level0": the innermost. */
static enum dse_status find_level(const struct hint_reader *r, const char *word, int line, uint8_t *level)
{
    static const char stem[] = "level";
    const size_t length = sizeof stem - 1;
    uint64_t number;
    char shown[SHOWN_MAX];
    if (strncmp(word, stem, length) != 0 || !text_parse_u64(word + length, &number))
        return dse_fail_at(r->err, DSE_BAD_INPUT, r->doc->path, line,
                           "unknown level \"%s\"; write level0 for the innermost memory, level1 for the next",
                           text_excerpt(word, shown, sizeof shown));
    if (!r->arch && number >= ARCH_LEVEL_MAX)
        return dse_fail_at(r->err, DSE_BAD_INPUT, r->doc->path, line,
                           "%s is beyond any machine; one has at most %d levels",
                           text_excerpt(word, shown, sizeof shown), ARCH_LEVEL_MAX);
    if (r->arch && number >= r->arch->n_level)
        return dse_fail_at(r->err, DSE_BAD_INPUT, r->doc->path, line,
                           "%s is beyond machine %s, whose outermost is level%u (%s)",
                           text_excerpt(word, shown, sizeof shown), r->arch->name, r->arch->n_level - 1,
                           r->arch->level[r->arch->n_level - 1].name);
    *level = (uint8_t)number;
    return DSE_OK;
}

/* How many instances of `level` lie below one of the level outside. */
static uint64_t array_of(const struct architecture *arch, uint32_t level)
{
    uint64_t x, y;
    if (level + 1 >= arch->n_level)
        return 1;
    architecture_fanout(arch, level + 1, &x, &y);
    return x * y;
}

static enum dse_status fail_array(const struct hint_reader *r, const struct ynode *node, uint32_t level)
{
    char list[DSE_ERROR_TEXT_MAX / 4] = "none";
    size_t used = 0;
    for (uint32_t l = 0; l < r->arch->n_level && used < sizeof list; l++)
        if (array_of(r->arch, l) > 1)
            used += (size_t)snprintf(list + used, sizeof list - used, "%slevel%u (%s)", used ? ", " : "", l,
                                     r->arch->level[l].name);
    return yaml_fail(
        r->doc, node, r->err,
        "level%u (%s) of machine %s is no array, so that nothing lies side by side there; arrays "
        "are: %s",
        level, r->arch->level[level].name, r->arch->name, list);
}

/* {partitioning_size: 16, blocking_size: 3} of one loop. */
static enum dse_status read_sizes(const struct hint_reader *r, const struct ynode *node, const char *what,
                                  struct loop_hint *loop)
{
    static const char *const allowed[] = {"order", "blocking_size", "partitioning_size"};
    const struct ynode *size;
    char name[2 * WHAT_MAX];
    uint64_t number;
    DSE_TRY(yaml_is_mapping(r->doc, node, what, r->err));
    DSE_TRY(yaml_check_keys(r->doc, node, what, allowed, 3, r->err));
    if (yaml_is_misspelt(r->doc, node, "partitioning_size"))
        return DSE_OK;
    DSE_TRY(yaml_require(r->doc, node, what, "partitioning_size", &size, r->err));
    snprintf(name, sizeof name, "%s.partitioning_size", what);
    DSE_TRY(yaml_u64(r->doc, size, name, 1, UINT32_MAX, &number, r->err));
    loop->partition = (uint32_t)number;
    if (number > 1 && r->arch && array_of(r->arch, loop->level) == 1)
        return fail_array(r, size, loop->level);
    size = yaml_find(node, "blocking_size");
    if (!size)
        return DSE_OK;
    snprintf(name, sizeof name, "%s.blocking_size", what);
    DSE_TRY(yaml_u64(r->doc, size, name, 1, UINT32_MAX, &number, r->err));
    loop->blocking = (uint32_t)number;
    return DSE_OK;
}

static enum dse_status read_loop(const struct hint_reader *r, const char *word, int line,
                                 const struct ynode *node)
{
    char what[WHAT_MAX];
    uint32_t dim;
    DSE_TRY(find_loop(r, word, line, &dim));
    struct loop_hint *loop = &r->hint->loop[dim];
    snprintf(what, sizeof what, "schedule_hint.%s", word);
    DSE_TRY(yaml_is_mapping(r->doc, node, what, r->err));
    if (node->n_item != 1)
        return yaml_fail(r->doc, node, r->err,
                         "%s names %zu levels; write one, such as {level0: {partitioning_size: 16}}", what,
                         node->n_item);
    DSE_TRY(find_level(r, node->key[0], node->key_line[0], &loop->level));
    loop->present = true;
    snprintf(what, sizeof what, "schedule_hint.%s.%.20s", word, node->key[0]);
    return read_sizes(r, node->item[0], what, loop);
}

static enum dse_status read_partition_loop(const struct hint_reader *r, const struct ynode *node)
{
    struct interstellar_hint *hint = r->hint;
    const char *word = NULL;
    uint32_t dim = 0;
    DSE_TRY(yaml_text(r->doc, node, "partition_loops", &word, r->err));
    DSE_TRY(find_loop(r, word, node->line, &dim));
    for (uint32_t k = 0; k < hint->n_partition_loop; k++)
        if (hint->partition_loop[k] == dim)
            return yaml_fail(r->doc, node, r->err, "partition_loops names %s twice", word);
    hint->partition_loop[hint->n_partition_loop++] = (uint8_t)dim;
    return DSE_OK;
}

static enum dse_status read_partition_loops(const struct hint_reader *r, const struct ynode *list)
{
    DSE_TRY(yaml_is_sequence(r->doc, list, "partition_loops", r->err));
    r->hint->has_partition_loops = true;
    for (size_t i = 0; i < list->n_item; i++)
        DSE_TRY(dse_note(r->doc->faults, read_partition_loop(r, list->item[i]), r->err));
    return DSE_OK;
}

enum dse_status interstellar_hint_read(const struct yaml_doc *doc, const struct ynode *node,
                                       const struct problem *problem, const struct architecture *arch,
                                       struct interstellar_hint *hint, struct dse_error *err)
{
    static const char *const allowed[] = {"schedule_hint", "partition_loops"};
    const struct hint_reader r = {doc, problem, arch, hint, err};
    const struct ynode *loops, *further = yaml_find(node, "partition_loops");
    memset(hint, 0, sizeof *hint);
    DSE_TRY(yaml_check_keys(doc, node, "a schedule of Interstellar's authors", allowed, 2, err));
    if (further)
        DSE_NOTE(doc->faults, read_partition_loops(&r, further));
    if (yaml_is_misspelt(doc, node, "schedule_hint"))
        return DSE_OK;
    DSE_TRY(yaml_require(doc, node, "the schedule", "schedule_hint", &loops, err));
    DSE_TRY(yaml_is_mapping(doc, loops, "schedule_hint", err));
    if (loops->n_item == 0)
        return yaml_fail(
            doc, loops, err,
            "schedule_hint is empty; write a loop, such as IC: {level0: {partitioning_size: 16}}");
    for (size_t i = 0; i < loops->n_item; i++)
        DSE_NOTE(doc->faults, read_loop(&r, loops->key[i], loops->key_line[i], loops->item[i]));
    hint->present = true;
    hint->line = node->line;
    return DSE_OK;
}

bool interstellar_hint_is_impossible(const struct interstellar_hint *hint, const struct problem *problem,
                                     const struct architecture *arch, char *why, size_t size)
{
    const char *name[PROBLEM_DIM_MAX];
    double product[ARCH_LEVEL_MAX] = {0};
    interstellar_name_dims(problem, name);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        const struct loop_hint *loop = &hint->loop[d];
        if (!loop->present)
            continue;
        if (loop->blocking == 0 && loop->partition > problem->bound[d]) {
            snprintf(why, size,
                     "the schedule spreads %" PRIu32
                     " iterations of %s over level%u (%s), of which there are %" PRIu32
                     "; with a blocking_size of 1 the rest would idle",
                     loop->partition, name[d], loop->level, arch->level[loop->level].name, problem->bound[d]);
            return true;
        }
        product[loop->level] = fmax(product[loop->level], 1) * loop->partition;
    }
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (product[l] > (double)array_of(arch, l)) {
            snprintf(why, size,
                     "the schedule spreads %.0f iterations over level%u (%s), which has %" PRIu64
                     " instances",
                     product[l], l, arch->level[l].name, array_of(arch, l));
            return true;
        }
    return false;
}
