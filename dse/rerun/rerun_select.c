/* Which points of a result file are computed again. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "dse/rerun/rerun.h"

enum { PART_MAX = 512 };

/* The variable that people call `name`: as the specification does, or as the column does. */
static enum dse_status find_variable(const struct sweep *sweep, const char *name, size_t *v,
                                     struct dse_error *err)
{
    const char *known[SPEC_VARIABLE_MAX];
    char shown[96];
    for (size_t i = 0; i < sweep->spec->n_variable; i++) {
        known[i] = sweep->spec->variable[i].name;
        if (strcmp(known[i], name) == 0 || strcmp(sweep->variable[i].column, name) == 0) {
            *v = i;
            return DSE_OK;
        }
    }
    const char *nearest = text_nearest(name, known, sweep->spec->n_variable);
    text_excerpt(name, shown, sizeof shown);
    return dse_fail(err, DSE_BAD_USAGE, "--point: %s is no axis of this sweep%s%s%s", shown,
                    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* A value as the specification writes it, in any unit, or the number that the tables have. */
static long find_value(const struct sweep *sweep, size_t v, const char *text)
{
    const struct sweep_variable *variable = &sweep->variable[v];
    long found = sweep_find_value(sweep, v, text);
    double number;
    if (found >= 0 || !variable->numeric || !text_parse_double(text, &number))
        return found;
    for (size_t i = 0; i < sweep->spec->variable[v].n_value; i++)
        if (!(variable->number[i] < number) && !(variable->number[i] > number))
            return (long)i;
    return -1;
}

/* "AXIS=VALUE" narrows `chosen`. Linked axes may have a value at several positions. */
static enum dse_status narrow(const struct sweep *sweep, const char *part, bool *chosen,
                              struct dse_error *err)
{
    char name[PART_MAX], shown[96];
    size_t v = 0;
    const char *equals = strchr(part, '=');
    size_t length = equals ? (size_t)(equals - part) : 0;
    while (length > 0 && part[length - 1] == ' ')
        length--;
    if (length == 0 || length >= sizeof name)
        return dse_fail(err, DSE_BAD_USAGE, "--point %s: write K or AXIS=VALUE,AXIS=VALUE",
                        text_excerpt(part, shown, sizeof shown));
    memcpy(name, part, length);
    name[length] = '\0';
    DSE_TRY(find_variable(sweep, name, &v, err));
    const char *value = equals + 1 + strspn(equals + 1, " ");
    long first = find_value(sweep, v, value);
    if (first < 0)
        return dse_fail(err, DSE_BAD_USAGE, "--point: axis %s has no value %s", name,
                        text_excerpt(value, shown, sizeof shown));
    for (size_t p = 0; p < sweep->n_point; p++) {
        uint32_t index[SPEC_VARIABLE_MAX];
        sweep_index(sweep, p, index);
        chosen[p] = chosen[p] && sweep_same_value(&sweep->variable[v],
                                                  index[sweep->spec->variable[v].dimension], (size_t)first);
    }
    return DSE_OK;
}

/* A value may have a comma in it: only one before another AXIS= ends a part. */
static size_t part_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] == ',') {
        size_t next = strcspn(text + length + 1, ",=");
        if (text[length + 1 + next] == '=')
            break;
        length += 1 + strcspn(text + length + 1, ",");
    }
    return length;
}

static enum dse_status add_by_axes(const struct sweep *sweep, const char *text, bool *chosen, bool *some,
                                   struct dse_error *err)
{
    char part[PART_MAX], shown[96];
    size_t n = 0;
    memset(some, 1, sweep->n_point * sizeof *some);
    for (const char *at = text; *at;) {
        size_t length = part_length(at);
        if (length >= sizeof part)
            return dse_fail(err, DSE_BAD_USAGE, "--point: too long");
        memcpy(part, at, length);
        part[length] = '\0';
        DSE_TRY(narrow(sweep, part, some, err));
        at += length + (at[length] == ',');
    }
    for (size_t p = 0; p < sweep->n_point; p++) {
        chosen[p] = chosen[p] || some[p];
        n += some[p];
    }
    return n ? DSE_OK
             : dse_fail(err, DSE_BAD_USAGE, "--point %s: the sweep has no point there",
                        text_excerpt(text, shown, sizeof shown));
}

static enum dse_status add_point(const struct sweep *sweep, const struct rerun_options *options,
                                 const bool *there, const char *text, bool *chosen, bool *some,
                                 struct dse_error *err)
{
    uint64_t k;
    char place[512];
    if (strchr(text, '='))
        return add_by_axes(sweep, text, chosen, some, err);
    if (!text_parse_u64(text, &k) || k < 1 || k > sweep->n_point)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--point %.40s: a number from 1 to %zu or AXIS=VALUE,... is expected", text,
                        (size_t)sweep->n_point);
    if (!there[k - 1])
        return dse_fail(err, DSE_BAD_USAGE, "point %zu (%s) is not in %s: it was not computed", (size_t)k,
                        sweep_point_print(sweep, (size_t)k - 1, place, sizeof place), options->h5);
    chosen[k - 1] = true;
    return DSE_OK;
}

/* n of the points that are there, evenly over them: the middle of each of n stretches. */
static void spread(const bool *there, size_t n_point, size_t n_there, size_t n, bool *chosen)
{
    size_t i = 0, taken = 0;
    for (size_t p = 0; p < n_point && taken < n; p++) {
        if (!there[p])
            continue;
        size_t wanted = (size_t)(((double)taken + 0.5) * (double)n_there / (double)n);
        if (i++ >= wanted) {
            chosen[p] = true;
            taken++;
        }
    }
}

/* n of them at random, each subset equally likely (Knuth, TAOCP 2, 3.4.2, algorithm S). */
static void draw(const bool *there, size_t n_point, size_t n_there, size_t n, uint64_t seed, bool *chosen)
{
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_INIT);
    size_t left = n_there;
    for (size_t p = 0; p < n_point && n > 0; p++) {
        if (!there[p])
            continue;
        if (random_unit(&stream) * (double)left < (double)n) {
            chosen[p] = true;
            n--;
        }
        left--;
    }
}

static enum dse_status choose(const struct sweep *sweep, const struct rerun_options *options,
                              const bool *there, bool *chosen, bool *some, struct dse_error *err)
{
    size_t n_there = 0;
    for (size_t p = 0; p < sweep->n_point; p++)
        n_there += there[p];
    if (n_there == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, options->h5, 0, "holds no points yet");
    for (size_t i = 0; i < options->n_point; i++)
        DSE_TRY(add_point(sweep, options, there, options->point[i], chosen, some, err));
    if (options->n_point)
        return DSE_OK;
    size_t n = options->all ? n_there : options->n_random ? (size_t)options->n_random : RERUN_SAMPLE;
    if (n >= n_there)
        memcpy(chosen, there, sweep->n_point * sizeof *chosen);
    else if (options->n_random)
        draw(there, sweep->n_point, n_there, n, options->seed, chosen);
    else
        spread(there, sweep->n_point, n_there, n, chosen);
    return DSE_OK;
}

enum dse_status rerun_select(const struct sweep *sweep, const struct rerun_options *options,
                             const bool *there, size_t **list, size_t *n, struct dse_error *err)
{
    bool *chosen = calloc(sweep->n_point + 1, sizeof *chosen);
    bool *some = calloc(sweep->n_point + 1, sizeof *some);
    *n = 0;
    *list = malloc((sweep->n_point + 1) * sizeof **list);
    enum dse_status status = chosen && some && *list
                                 ? choose(sweep, options, there, chosen, some, err)
                                 : dse_fail(err, DSE_NO_MEMORY, "out of memory for the choice of points");
    for (size_t p = 0; status == DSE_OK && p < sweep->n_point; p++)
        if (chosen[p] && there[p])
            (*list)[(*n)++] = p;
    if (status == DSE_OK && *n == 0)
        status = dse_fail(err, DSE_BAD_USAGE, "none of the chosen points is in %s", options->h5);
    free(chosen);
    free(some);
    if (status != DSE_OK) {
        free(*list);
        *list = NULL;
    }
    return status;
}
