/* The words of `measure:` as a bit mask over the measures of the schema, and the one measurement there is
 * so far: the latency on the simulated mesh. */
#include "dse/solve/measure.h"

#include <math.h>
#include <string.h>

#include "costmodel/noc/noc.h"
#include "engines/cosa/cosa.h"

enum dse_status measure_add(struct measure_settings *settings, const char *word, struct dse_error *err)
{
    const char *known[8];
    char shown[96];
    size_t n = 0;
    unsigned bit = result_measure_find(word, strlen(word)) & ~(unsigned)RESULT_MEASURE_SCHEDULE;
    if (!word[0])
        return dse_fail(err, DSE_BAD_INPUT,
                        "measure: a name is missing; accepted, with commas between: noc, cosa");
    if (bit & settings->what)
        return dse_fail(err, DSE_BAD_INPUT, "measure: %s is there twice", word);
    if (bit) {
        settings->what |= bit;
        if (bit == RESULT_MEASURE_NOC)
            settings->noc_max_steps = NOC_LATENCY_STEPS;
        return DSE_OK;
    }
    struct text_buffer list;
    text_init(&list);
    const char *one;
    for (size_t i = 0; n < 8 && (one = result_measure_text(i)) != NULL; i++) {
        if (result_measure_find(one, strlen(one)) ==
            RESULT_MEASURE_SCHEDULE) /* not asked for: it comes with engines */
            continue;
        text_append(&list, "%s%s", n ? ", " : "", one);
        known[n++] = one;
    }
    const char *nearest = text_nearest(word, known, n);
    enum dse_status status =
        dse_fail(err, DSE_BAD_INPUT, "measure: unknown \"%s\"%s%s%s; accepted: %s",
                 text_excerpt(word, shown, sizeof shown), nearest ? "; did you mean " : "",
                 nearest ? nearest : "", nearest ? "?" : "", list.data ? list.data : "");
    text_free(&list);
    return status;
}

enum dse_status measure_add_list(struct measure_settings *settings, const char *words, struct dse_error *err)
{
    for (const char *at = words;; at++) {
        char word[64];
        size_t n = strcspn(at, ",");
        size_t kept = n < sizeof word ? n : sizeof word - 1;
        memcpy(word, at, kept);
        word[kept] = '\0';
        DSE_TRY(measure_add(settings, word, err));
        at += n;
        if (!*at)
            return DSE_OK;
    }
}

enum dse_status measure_check(const struct measure_settings *settings, const struct architecture *arch,
                              struct dse_error *err)
{
    struct noc_config config;
    struct dse_error inner = {0};
    uint32_t noc_level;
    if (!(settings->what & RESULT_MEASURE_NOC))
        return DSE_OK;
    enum dse_status status = noc_config_of(arch, &config, &noc_level, &inner);
    return status == DSE_OK ? DSE_OK : dse_fail(err, status, "measure: noc: %s", inner.text);
}

void measure_hash(const struct measure_settings *settings, struct hash_state *state)
{
    if (settings->what == 0)
        return;
    hash_text(state, "measure");
    hash_u64(state, settings->what);
    if (settings->what & RESULT_MEASURE_NOC)
        hash_u64(state, settings->noc_max_steps);
}

void measure_print(const struct measure_settings *settings, struct text_buffer *out)
{
    const char *between = "";
    for (size_t i = 0; result_measure_text(i); i++) {
        const char *word = result_measure_text(i);
        char steps[48];
        unsigned bit = result_measure_find(word, strlen(word));
        if (!(settings->what & bit))
            continue;
        text_append(out, "%s%s", between, word);
        if (bit == RESULT_MEASURE_NOC && settings->noc_max_steps)
            text_append(out, " (at most %s step%s)",
                        text_thousands(settings->noc_max_steps, steps, sizeof steps),
                        settings->noc_max_steps == 1 ? "" : "s");
        between = ", ";
    }
}

void measure_values_init(struct measure_values *values)
{
    *values = (struct measure_values){RESULT_U64_MISSING, NAN, NAN, NAN, NAN};
}

size_t measure_fields(const struct measure_settings *settings,
                      const struct result_field *field[MEASURE_FIELD_MAX])
{
    size_t n_all, n = 0;
    const struct result_field *all = layer_field_all(&n_all);
    for (size_t i = 0; i < n_all && n < MEASURE_FIELD_MAX; i++)
        if (all[i].measure & settings->what)
            field[n++] = &all[i];
    return n;
}

void measure_fill(const struct measure_values *values, struct layer_record *row)
{
    row->noc_latency_cycle = values->noc_latency_cycle;
    row->cosa_util = values->cosa_util;
    row->cosa_comp = values->cosa_comp;
    row->cosa_traf = values->cosa_traf;
    row->cosa_objective = values->cosa_objective;
}

double measure_number(const struct result_field *field, const struct layer_record *row)
{
    const void *place = (const char *)row + field->offset;
    if (field->type == FIELD_F64)
        return *(const double *)place;
    uint64_t count = *(const uint64_t *)place;
    return count == RESULT_U64_MISSING ? NAN : (double)count;
}

/* What the simulator refuses is no failure of the mapping: the value is missing. */
static enum dse_status simulate(const struct measure_settings *settings, const struct problem *problem,
                                const struct architecture *arch, const struct mapping *mapping,
                                const atomic_int *cancel, struct arena *arena, struct measure_values *values,
                                struct dse_error *err)
{
    struct noc_latency latency;
    struct dse_error inner = {0};
    enum dse_status status =
        noc_latency_of(problem, arch, mapping, settings->noc_max_steps, cancel, arena, &latency, &inner);
    if (status == DSE_OK)
        values->noc_latency_cycle = latency.cycle;
    if (status != DSE_NO_MEMORY && status != DSE_INTERNAL && status != DSE_INTERRUPTED)
        return DSE_OK;
    return dse_fail(err, status, "network-on-chip simulation: %s", inner.text);
}

enum dse_status measure_mapping(const struct measure_settings *settings, const struct problem *problem,
                                const struct architecture *arch, const struct mapping *mapping,
                                const atomic_int *cancel, struct arena *arena, struct measure_values *values,
                                struct dse_error *err)
{
    measure_values_init(values);
    if (settings->what & RESULT_MEASURE_COSA) {
        struct cosa_settings cosa;
        struct cosa_terms terms;
        cosa_settings_init(&cosa);
        cosa_terms_of(problem, arch, &cosa, mapping, &terms);
        values->cosa_util = terms.util;
        values->cosa_comp = terms.comp;
        values->cosa_traf = terms.traf;
        values->cosa_objective = terms.objective;
    }
    if (settings->what & RESULT_MEASURE_NOC)
        return simulate(settings, problem, arch, mapping, cancel, arena, values, err);
    return DSE_OK;
}
