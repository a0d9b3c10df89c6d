/* Writes the schedules by which a dataflow is asked for, as the authors' are made by hand. */
#include "dse/optimise/dataflow_schedule.h"

#include <stdint.h>
#include <string.h>

#include "costmodel/interstellar/loops.h"

/* "C|K": the two loops. */
static bool parse(const char *dataflow, enum interstellar_loop *loop)
{
    const char *bar = strchr(dataflow, '|');
    int found = 0;
    if (!bar)
        return false;
    for (int side = 0; side < 2; side++) {
        const char *word = side ? bar + 1 : dataflow;
        const size_t length = side ? strlen(word) : (size_t)(bar - dataflow);
        for (int l = 0; l < LOOP_COUNT; l++) {
            const char *name[] = {interstellar_loop_letter(l), interstellar_loop_name(l)};
            for (int i = 0; i < 2; i++)
                if (strlen(name[i]) == length && memcmp(name[i], word, length) == 0) {
                    loop[side] = (enum interstellar_loop)l;
                    found |= 1 << side;
                }
        }
    }
    return found == 3 && loop[0] != loop[1];
}

enum dse_status dataflow_check(const char *dataflow, struct dse_error *err)
{
    enum interstellar_loop loop[2];
    char shown[60];
    if (parse(dataflow, loop))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE,
                    "--dataflow %s: write two of the loops FX FY X Y K C B, such as \"C|K\", or \"any\"",
                    text_excerpt(dataflow, shown, sizeof shown));
}

/* The one level that an array lies below; 0: none, or several. */
static uint32_t array_level(const struct architecture *arch, uint64_t *x, uint64_t *y)
{
    uint32_t found = 0;
    for (uint32_t v = 0; v < arch->n_level; v++) {
        uint64_t columns, rows;
        architecture_fanout(arch, v, &columns, &rows);
        if (columns * rows == 1)
            continue;
        if (found > 0 || v == 0)
            return 0;
        found = v;
        *x = columns;
        *y = rows;
    }
    return found;
}

static uint64_t divisor(uint64_t bound, uint64_t most)
{
    uint64_t d = bound < most ? bound : most;
    while (bound % d != 0)
        d--;
    return d;
}

bool dataflow_schedule(const char *dataflow, const struct problem *problem, const struct architecture *arch,
                       struct text_buffer *out)
{
    enum interstellar_loop loop[2];
    struct interstellar_loops loops;
    uint64_t x = 1, y = 1, side[2];
    const uint32_t v = array_level(arch, &x, &y);
    interstellar_loops_of(problem, &loops);
    if (!parse(dataflow, loop) || v == 0 || loops.dim[loop[0]] < 0 || loops.dim[loop[1]] < 0)
        return false;
    side[0] = divisor(problem->bound[loops.dim[loop[0]]], x);
    side[1] = divisor(problem->bound[loops.dim[loop[1]]], y);
    if (side[0] == 1 || side[1] == 1)
        return false;
    text_append(out, "{schedule_hint: {");
    for (int i = 0; i < 2; i++)
        text_append(out, "%s%s: {level%u: {partitioning_size: %llu}}", i ? ", " : "",
                    interstellar_loop_name(loop[i]), v - 1, (unsigned long long)side[i]);
    text_append(out, "}");
    if (2 * side[0] * side[1] <= x * y) {
        const char *between = "";
        text_append(out, ", partition_loops: [");
        for (int l = 0; l < LOOP_COUNT; l++)
            if (l != (int)loop[0] && l != (int)loop[1] && loops.dim[l] >= 0 &&
                problem->bound[loops.dim[l]] > 1) {
                text_append(out, "%s%s", between, interstellar_loop_name((enum interstellar_loop)l));
                between = ", ";
            }
        text_append(out, "]");
    }
    text_append(out, "}\n");
    return true;
}
