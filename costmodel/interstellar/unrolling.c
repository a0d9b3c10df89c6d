/* Dataflows as texts: the longest name that is a loop's is taken each time, so that FYK is FY and K. */
#include "costmodel/interstellar/unrolling.h"

#include <string.h>

#include "base/text.h"
#include "costmodel/interstellar/loops.h"

/* "FX FY X Y K C B" and what else the problem's loops are called. */
static void list_names(const struct problem *problem, struct text_buffer *out)
{
    struct interstellar_loops loops;
    bool any = false;
    interstellar_loops_of(problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0) {
            text_append(out, " %s", interstellar_loop_letter((enum interstellar_loop)l));
            any = true;
        }
    text_append(out, any ? " (or by dimension:" : "");
    for (uint32_t d = 0; d < problem->n_dim; d++)
        text_append(out, " %s", problem->dim_name[d]);
    text_append(out, any ? ")" : "");
}

/* The paper's letter of a loop, for others the dimension's name. */
static const char *loop_of(const struct problem *problem, int dim)
{
    struct interstellar_loops loops;
    interstellar_loops_of(problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] == dim)
            return interstellar_loop_letter((enum interstellar_loop)l);
    return problem->dim_name[dim];
}

static enum dse_status no_loop(const char *text, const char *at, const struct problem *problem,
                               struct dse_error *err)
{
    struct text_buffer names;
    char shown[64];
    text_init(&names);
    list_names(problem, &names);
    enum dse_status status =
        dse_fail(err, DSE_BAD_INPUT, "dataflow \"%s\": no loop begins at \"%.24s\"; write U|V of the loops%s",
                 text_excerpt(text, shown, sizeof shown), at, names.data ? names.data : "");
    text_free(&names);
    return status;
}

static enum dse_status add_loop(const char *text, const struct problem *problem, int dim, bool begins,
                                struct unrolling *out, struct dse_error *err)
{
    char shown[64];
    text_excerpt(text, shown, sizeof shown);
    for (uint32_t i = 0; i < out->n; i++)
        if (out->loop[i] == dim)
            return dse_fail(err, DSE_BAD_INPUT, "dataflow \"%s\": loop %s is there twice", shown,
                            loop_of(problem, dim));
    out->begins = (uint16_t)(out->begins | (unsigned)begins << out->n);
    out->loop[out->n++] = (uint8_t)dim;
    return DSE_OK;
}

/* The dimension that a digit of a key stands for; those that are none of the seven loops count from 7 on. */
static int dim_of_digit(const struct problem *problem, char digit)
{
    struct interstellar_loops loops;
    int n = digit - '0';
    interstellar_loops_of(problem, &loops);
    if (n >= 0 && n < LOOP_COUNT)
        return loops.dim[n];
    n -= LOOP_COUNT;
    for (uint32_t d = 0; n >= 0 && n < 3 && d < problem->n_dim; d++)
        if (loops.other >> d & 1 && n-- == 0)
            return (int)d;
    return -1;
}

/* The dimension whose name the text begins with, the longest, and its length. */
static int longest_name(const struct problem *problem, const char *text, size_t *length)
{
    int dim = -1;
    for (*length = strcspn(text, "|. "); *length > 0 && dim < 0; --*length)
        dim = interstellar_find_dim(problem, text, *length);
    *length += dim >= 0;
    return dim;
}

enum dse_status unrolling_parse(const char *text, const struct problem *problem, struct unrolling *out,
                                struct dse_error *err)
{
    const bool is_key = text[0] == '(';
    bool begins = true;
    size_t length = 1;
    char shown[64];
    *out = (struct unrolling){.n = 0};
    for (const char *at = text; *at; at += length) {
        const bool is_end = *at == (is_key ? ')' : '|');
        length = 1;
        if (is_end && begins)
            break; /* an empty side, below */
        begins = begins || is_end;
        if (is_end || strchr(". (", *at))
            continue;
        int dim = is_key ? dim_of_digit(problem, *at) : longest_name(problem, at, &length);
        if (dim < 0)
            return no_loop(text, at, problem, err);
        DSE_TRY(add_loop(text, problem, dim, begins, out, err));
        begins = false;
    }
    if (begins != is_key || out->n == 0)
        return dse_fail(err, DSE_BAD_INPUT,
                        "dataflow \"%s\" has an empty side; write U|V, or U alone for one side",
                        text_excerpt(text, shown, sizeof shown));
    return DSE_OK;
}

const char *unrolling_lacks(const struct unrolling *unrolling, const struct problem *problem)
{
    for (uint32_t i = 0; i < unrolling->n; i++)
        if (problem->bound[unrolling->loop[i]] == 1)
            return loop_of(problem, unrolling->loop[i]);
    return NULL;
}

bool unrolling_is(const struct unrolling *unrolling, const struct unrolling *other, bool *swapped)
{
    uint32_t second = 0; /* where the second side of `other` begins */
    *swapped = false;
    if (unrolling->n != other->n)
        return false;
    if (unrolling->begins == other->begins && memcmp(unrolling->loop, other->loop, other->n) == 0)
        return true;
    for (uint32_t i = 1; i < other->n && !second; i++)
        second = other->begins >> i & 1 ? i : 0;
    if (!second || unrolling->begins != (1u | 1u << (other->n - second)) || other->begins >> (second + 1))
        return false;
    *swapped = memcmp(unrolling->loop, other->loop + second, other->n - second) == 0 &&
               memcmp(unrolling->loop + (other->n - second), other->loop, second) == 0;
    return *swapped;
}
