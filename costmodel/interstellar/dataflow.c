/* Names and keys of dataflows. */
#include "costmodel/interstellar/dataflow.h"

#include <string.h>

#include "costmodel/interstellar/loops.h"

/* What stands around the loops of a side, and what each dimension is called. */
struct words {
    const char *open, *between, *close, *next_array;
    const char *name[PROBLEM_DIM_MAX];
    const char *join; /* between loops of one side */
};

/* The sides of the array below level v. */
static void write_array(const struct mapping_level *level, uint32_t n_dim, const struct words *words,
                        struct text_buffer *out)
{
    bool any = false, inside = false;
    for (uint32_t i = 0; i < n_dim; i++) {
        const uint32_t d = level->spatial_order[i];
        if (inside && (i == level->split || level->further >> i & 1)) {
            text_append(out, "%s", words->close);
            inside = false;
        }
        if (level->spatial[d] == 1)
            continue;
        if (!inside)
            text_append(out, "%s%s", any ? words->between : "", words->open);
        text_append(out, "%s%s", inside ? words->join : "", words->name[d]);
        any = inside = true;
    }
    if (inside)
        text_append(out, "%s", words->close);
}

static void write_arrays(const struct mapping *mapping, const struct words *words, struct text_buffer *out)
{
    bool any = false;
    for (uint32_t v = 0; v < mapping->n_level; v++) {
        bool used = false;
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            used = used || mapping->level[v].spatial[d] > 1;
        if (!used)
            continue;
        text_append(out, "%s", any ? words->next_array : "");
        write_array(&mapping->level[v], mapping->n_dim, words, out);
        any = true;
    }
}

void dataflow_name(const struct mapping *mapping, const struct problem *problem,
                   const struct architecture *arch, struct text_buffer *out)
{
    struct words words = {.open = "", .between = "|", .close = "", .next_array = " ; ", .join = ""};
    struct interstellar_loops loops;
    (void)arch;
    interstellar_loops_of(problem, &loops);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        words.name[d] = problem->dim_name[d];
        if (loops.other >> d & 1 && strlen(problem->dim_name[d]) > 1)
            words.join = ".";
    }
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0)
            words.name[loops.dim[l]] = interstellar_loop_letter((enum interstellar_loop)l);
    write_arrays(mapping, &words, out);
}

void dataflow_key(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch, struct text_buffer *out)
{
    static const char *const digit[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",
                                        "8",  "9",  "10", "11", "12", "13", "14", "15",
                                        "16", "17", "18", "19", "20", "21", "22"};
    struct words words = {.open = "(", .between = "", .close = ")", .next_array = ";", .join = ""};
    struct interstellar_loops loops;
    uint32_t next = LOOP_COUNT;
    (void)arch;
    interstellar_loops_of(problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0)
            words.name[loops.dim[l]] = digit[l];
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (loops.other >> d & 1)
            words.name[d] = digit[next++];
    if (problem->n_dim > 3 && next > 10)
        words.join = ".";
    write_arrays(mapping, &words, out);
}
