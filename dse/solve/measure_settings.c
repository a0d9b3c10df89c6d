/* The words of `measure:` as a bit mask over the measures of the schema, and the one measurement there is
 * so far: the latency on the simulated mesh. */
#include "dse/solve/measure_settings.h"

#include <math.h>
#include <string.h>

int measure_find(const char *word)
{
    size_t n;
    const struct measure *const *all = measure_all(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i]->group.name, word) == 0)
            return (int)i;
    return -1;
}

static enum dse_status unknown(const char *word, struct dse_error *err)
{
    const char *known[MEASURE_MAX];
    char shown[96];
    size_t n;
    struct text_buffer list;
    const struct measure *const *all = measure_all(&n);
    text_init(&list);
    for (size_t i = 0; i < n; i++) {
        known[i] = all[i]->group.name;
        text_append(&list, "%s%s", i ? ", " : "", known[i]);
    }
    const char *nearest = text_nearest(word, known, n), *names = list.data ? list.data : "";
    enum dse_status status =
        !word[0] ? dse_fail(err, DSE_BAD_INPUT,
                            "measure: a name is missing; accepted, with commas between: %s", names)
                 : dse_fail(err, DSE_BAD_INPUT, "measure: unknown \"%s\"%s%s%s; accepted: %s",
                            text_excerpt(word, shown, sizeof shown), nearest ? "; did you mean " : "",
                            nearest ? nearest : "", nearest ? "?" : "", names);
    text_free(&list);
    return status;
}

enum dse_status measure_add(struct measure_settings *settings, const char *word, struct dse_error *err)
{
    size_t n;
    int i = measure_find(word);
    if (i < 0)
        return unknown(word, err);
    if (settings->what >> i & 1u)
        return dse_fail(err, DSE_BAD_INPUT, "measure: %s is there twice", word);
    settings->what |= 1u << i;
    settings->limit[i] = measure_all(&n)[i]->limit_standard;
    return DSE_OK;
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

enum dse_status measure_choose(struct measure_settings *settings, int i, uint64_t n, struct dse_error *err)
{
    size_t n_measure;
    const struct measure *measure = measure_all(&n_measure)[i];
    if (!measure->choice || !(settings->what >> i & 1u))
        return dse_fail(err, DSE_BAD_INPUT, "measure: %s is not asked for, or chooses no mapping",
                        measure->group.name);
    if (n < 1 || n > measure->choice_highest)
        return dse_fail(err, DSE_BAD_INPUT, "measure: %s.%s is %llu, accepted is 1 to %llu",
                        measure->group.name, measure->choice, (unsigned long long)n,
                        (unsigned long long)measure->choice_highest);
    settings->chooser = i;
    settings->n_choice = (uint32_t)n;
    return DSE_OK;
}

enum dse_status measure_check(const struct measure_settings *settings, const struct architecture *arch,
                              struct dse_error *err)
{
    size_t n;
    const struct measure *const *all = measure_all(&n);
    for (size_t i = 0; i < n; i++) {
        struct dse_error inner = {0};
        enum dse_status status =
            settings->what >> i & 1u && all[i]->check ? all[i]->check(arch, &inner) : DSE_OK;
        if (status != DSE_OK)
            return dse_fail(err, status, "measure: %s: %s", all[i]->group.name, inner.text);
    }
    return DSE_OK;
}

static bool chooses(const struct measure_settings *settings, size_t i)
{
    return settings->n_choice && (size_t)settings->chooser == i;
}

void measure_hash(const struct measure_settings *settings, struct hash_state *state)
{
    size_t n;
    const struct measure *const *all = measure_all(&n);
    if (settings->what == 0)
        return;
    hash_text(state, "measure");
    hash_u64(state, settings->what);
    for (size_t i = 0; i < n; i++)
        if (settings->what >> i & 1u && all[i]->limit)
            hash_u64(state, settings->limit[i]);
    if (settings->n_choice) {
        hash_text(state, all[settings->chooser]->choice);
        hash_u64(state, settings->n_choice);
    }
}

void measure_print(const struct measure_settings *settings, struct text_buffer *out)
{
    const char *between = "";
    size_t n;
    const struct measure *const *all = measure_all(&n);
    for (size_t i = 0; i < n; i++) {
        char number[48];
        if (!(settings->what >> i & 1u))
            continue;
        const bool limited = all[i]->limit && settings->limit[i];
        text_append(out, "%s%s", between, all[i]->group.name);
        if (limited)
            text_append(out, " (at most %s %s%s", text_thousands(settings->limit[i], number, sizeof number),
                        all[i]->limit_unit, settings->limit[i] == 1 ? "" : "s");
        if (chooses(settings, i))
            text_append(out, "%s%u %s a search", limited ? ", " : " (", settings->n_choice, all[i]->choice);
        if (limited || chooses(settings, i))
            text_append(out, ")");
        between = ", ";
    }
}

void measure_values_init(struct measure_values *values)
{
    memset(values, 0xff, sizeof *values);
}

/* The metrics of measure i that are asked for: its own, then that of its choice. */
static size_t n_metric(const struct measure_settings *settings, size_t i)
{
    size_t n;
    return settings->what >> i & 1u ? measure_all(&n)[i]->group.n + chooses(settings, i) : 0;
}

size_t measure_columns(const struct measure_settings *settings, bool folded,
                       const struct metric *metric[MEASURE_VALUE_MAX])
{
    size_t n_measure, n = 0;
    const struct measure *const *all = measure_all(&n_measure);
    for (size_t i = 0; i < n_measure; i++)
        for (size_t k = 0; k < n_metric(settings, i) && n < MEASURE_VALUE_MAX; k++) {
            const struct metric *one =
                k < all[i]->group.n ? &all[i]->group.metric[k] : &all[i]->choice_metric;
            if (!folded || one->fold != METRIC_NONE)
                metric[n++] = one;
        }
    return n;
}

enum dse_status measure_mapping(const struct measure_settings *settings, const struct problem *problem,
                                const struct architecture *arch, const struct mapping *mapping,
                                const struct measure_choice *choice, const atomic_int *cancel,
                                struct arena *arena, struct measure_values *values, struct dse_error *err)
{
    size_t n, at = 0;
    const struct measure *const *all = measure_all(&n);
    measure_values_init(values);
    for (size_t i = 0; i < n; at += n_metric(settings, i), i++) {
        bool chosen = choice && choice->n > 0 && chooses(settings, i);
        if (chosen && choice->cycle > 0)
            values->value[at].u64 = choice->cycle;
        if (chosen)
            values->value[at + all[i]->group.n].u64 = choice->n;
        if (settings->what >> i & 1u && !chosen)
            DSE_TRY(all[i]->compute(problem, arch, mapping, settings->limit[i], cancel, arena,
                                    &values->value[at], err));
    }
    return DSE_OK;
}
