/* What tests of libdse share: resnet50's conv1 on simba by names. */
#ifndef TESTS_DSE_LIBRARY_LIBRARY_FIXTURE_H
#define TESTS_DSE_LIBRARY_LIBRARY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/library/dse.h"

struct library_fixture {
    struct dse_machine *machine;
    struct dse_network *network;
    struct dse_layer *layer;
    struct dse_scratch *scratch;
    const struct dse_shape *shape;
    size_t width, n_metric;
    char error[DSE_TEXT_MAX];
};

/* The call is well, or the test fails with its error. Needs `f`. */
#define WELL(call)                                                                                           \
    do {                                                                                                     \
        if ((call) != DSE_CODE_OK)                                                                           \
            fail_msg("%s: %s", #call, f->error);                                                             \
    } while (0)

#define ERROR f->error, sizeof f->error

static inline void library_fixture_open(struct library_fixture *f, const char *machine, const char *network,
                                        const char *layer, const struct dse_layer_options *options)
{
    memset(f, 0, sizeof *f);
    WELL(dse_machine_open(machine, NULL, 0, &f->machine, ERROR));
    WELL(dse_network_open(network, NULL, 0, &f->network, ERROR));
    WELL(dse_layer_open(f->machine, f->network, layer, options, &f->layer, ERROR));
    WELL(dse_scratch_new(f->layer, &f->scratch, ERROR));
    f->shape = dse_layer_shape(f->layer);
    f->width = f->shape->width;
    while (dse_metric(f->n_metric, NULL, NULL, NULL))
        f->n_metric++;
}

static inline void library_fixture_close(struct library_fixture *f)
{
    dse_scratch_free(f->scratch);
    dse_layer_free(f->layer);
    dse_network_free(f->network);
    dse_machine_free(f->machine);
}

static inline uint32_t library_metric(const char *name)
{
    const char *metric;
    for (uint32_t i = 0; (metric = dse_metric(i, NULL, NULL, NULL)) != NULL; i++)
        if (strcmp(metric, name) == 0)
            return i;
    fail_msg("no metric %s", name);
    return 0;
}

/* A column of a row of a result, which has it. */
static inline struct dse_field library_field(const struct dse_result *result, size_t i, const char *name)
{
    struct dse_field field = {0};
    size_t k = 0;
    while (dse_result_field(result, i, k, &field) && strcmp(field.name, name) != 0)
        k++;
    if (!field.name || strcmp(field.name, name) != 0)
        fail_msg("row %zu has no column %s", i, name);
    return field;
}

#endif
