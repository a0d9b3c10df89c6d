/* The attributes of one Timeloop component: look-up under any spelling, with overrides on top, and the table
 * of attributes that count, have no effect here, or are refused. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_ATTRIBUTE_H
#define COSTMODEL_TIMELOOP_TIMELOOP_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"

enum timeloop_kind { TIMELOOP_STORAGE = 1, TIMELOOP_MAC = 2, TIMELOOP_NODE = 4 };

struct timeloop_component {
    const struct yaml_doc *doc;
    const struct ynode *node;       /* blamed when something is missing */
    const struct ynode *attributes; /* a mapping, or NULL when there are none */
    enum timeloop_kind kind;
    char name[ARCH_NAME_MAX];
    /* instances by the ranges of the tree; 0: unknown, the attribute `instances` is required */
    uint64_t count;
    const struct arch_override *override; /* (n_override) of all components */
    size_t n_override;
};

/* What a look-up found. `node` is NULL when nothing was; it may point to `scratch`, so do not copy this
 * struct. */
struct timeloop_value {
    const struct ynode *node;
    const char *spelling;
    bool overridden;
    struct ynode scratch;
    char what[2 * ARCH_NAME_MAX]; /* "GlobalBuffer.entries", for messages */
};

/* Every attribute must be known, and not be one that is refused. */
DSE_MUST_CHECK enum dse_status timeloop_attribute_check(const struct timeloop_component *component,
                                                        struct dse_error *err);

/* Names of the attributes that count for a kind: at most `max` into `name`; returns how many. */
size_t timeloop_attribute_names(enum timeloop_kind kind, const char **name, size_t max);

/* Find an attribute under one of its spellings (NULL-terminated). An override beats the file; two spellings
 * in the file that disagree are an error. */
DSE_MUST_CHECK enum dse_status timeloop_attribute_find(const struct timeloop_component *component,
                                                       const char *const *spelling,
                                                       struct timeloop_value *value, struct dse_error *err);

/* The same as a number in [lowest, highest]; `*value` keeps its default when the attribute is absent. `given`
 * may be NULL. */
DSE_MUST_CHECK enum dse_status timeloop_attribute_u64(const struct timeloop_component *component,
                                                      const char *const *spelling, uint64_t lowest,
                                                      uint64_t highest, uint64_t *value, bool *given,
                                                      struct dse_error *err);
DSE_MUST_CHECK enum dse_status timeloop_attribute_double(const struct timeloop_component *component,
                                                         const char *const *spelling, double highest,
                                                         double *value, bool *given, struct dse_error *err);

/* Like timeloop_attribute_double, but 0 is refused too. */
DSE_MUST_CHECK enum dse_status timeloop_attribute_positive(const struct timeloop_component *component,
                                                           const char *const *spelling, double *value,
                                                           bool *given, struct dse_error *err);

#endif
