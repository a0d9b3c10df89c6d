/* What the Timeloop readers share: names and words, attributes of components under any spelling with
 * overrides on top, the levels made of them, the loops of a mapping directive. Private to the room. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_PARTS_H
#define COSTMODEL_TIMELOOP_TIMELOOP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* The file must be a mapping whose top-level keys mean something here; others are refused by name with the
 * reason. */
DSE_MUST_CHECK enum dse_status timeloop_check_root(const struct yaml_doc *doc, struct dse_error *err);

/* A node of the tree must not carry a YAML tag such as !Component: those make a v4 hierarchy. */
DSE_MUST_CHECK enum dse_status timeloop_check_tag(const struct yaml_doc *doc, const struct ynode *node,
                                                  struct dse_error *err);

/* Split "PE[0..15]" into "PE" (at most `size` bytes) and 16; "PE" gives 1. `node` is the name's scalar. */
DSE_MUST_CHECK enum dse_status timeloop_name(const struct yaml_doc *doc, const struct ynode *node,
                                             const char *what, char *name, size_t size, uint64_t *count,
                                             struct dse_error *err);

/* Blame `line`: unknown `what` `word`, did you mean the nearest of `known` (n_known), which are listed when
 * few. */
enum dse_status timeloop_unknown(const struct yaml_doc *doc, int line, struct dse_error *err,
                                 const char *what, const char *word, const char *const *known,
                                 size_t n_known);

/* The same for a dimension, those of `problem` being known. */
enum dse_status timeloop_unknown_dim(const struct yaml_doc *doc, int line, struct dse_error *err,
                                     const char *what, const char *name, const struct problem *problem);

/* Is the value left out (`key:`, ~ or null)? True for NULL too. */
bool timeloop_is_null(const struct ynode *node);

/* Energies of an Energy Reference Table (`ert`: version, tables of actions in pJ) for the levels where
 * `fixed[l]` is false, and for the MACs unless `mac_fixed`; in one of Timeloop v4 also what levels leak, at
 * arch->clock_hz. Which action prices what: docs/timeloop.md,
 * "Energy Reference Table". A table that belongs to no level and not to the MACs is an error. */
DSE_MUST_CHECK enum dse_status timeloop_ert_apply(const struct yaml_doc *doc, const struct ynode *ert,
                                                  const bool *fixed, bool mac_fixed,
                                                  struct architecture *arch, struct dse_error *err);

/* Areas of an Area Reference Table (`art`: version, tables of areas in um2), of one instance each. The same
 * errors. */
DSE_MUST_CHECK enum dse_status timeloop_art_apply(const struct yaml_doc *doc, const struct ynode *art,
                                                  struct architecture *arch, struct dse_error *err);

enum timeloop_kind { TIMELOOP_STORAGE = 1, TIMELOOP_MAC = 2, TIMELOOP_NODE = 4 };

/* Storage and MACs are told by parts of their class names, as Timeloop does. `node` is blamed for another
 * class, of the component `name`. */
DSE_MUST_CHECK enum dse_status timeloop_classify(const struct yaml_doc *doc, const struct ynode *node,
                                                 const char *name, const char *class_name,
                                                 enum timeloop_kind *kind, struct dse_error *err);

struct timeloop_component {
    const struct yaml_doc *doc;
    const struct ynode *node;       /* blamed when something is missing */
    const struct ynode *attributes; /* a mapping, or NULL when there are none */
    bool named_inside;              /* the flat format: `name` is one of the attributes */
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

/* The spellings of an attribute. */
#define SPELL(...) ((const char *const[]){__VA_ARGS__, NULL})

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
                                                           struct dse_error *err);

/* Fill `level` from a storage component of class `class_name` ("" in the flat format). `*fixed_energy`: the
 * file gives vector-access-energy, which an ERT does not change. */
DSE_MUST_CHECK enum dse_status timeloop_storage_build(const struct timeloop_component *component,
                                                      const char *class_name, struct storage_level *level,
                                                      bool *fixed_energy, struct dse_error *err);

/* Fill the MACs. `*fixed_energy`: an override gives the energy, which an ERT then does not change. */
DSE_MUST_CHECK enum dse_status timeloop_mac_build(const struct timeloop_component *component,
                                                  struct mac_array *mac, bool *fixed_energy,
                                                  struct dse_error *err);

/* Loop bounds by dimension, factor[n_dim], from "C=4 K=2", "C4 K2", [C=4, K=2] or {C: 4, K: 2}; a dimension
 * that is not named keeps its value in `factor`. `node` may be NULL (nothing is set). Imperfect factors
 * ("C=3,2"), 0 and repeated dimensions are refused. */
DSE_MUST_CHECK enum dse_status timeloop_factors(const struct yaml_doc *doc, const struct ynode *node,
                                                const struct problem *problem, uint32_t *factor,
                                                struct dse_error *err);

/* The order of the dimensions, order[n_dim] innermost first, from "RSC", "R,S,C", "R S C" or [R, S, C];
 * dimensions that are not named follow in the problem's order. `node` may be NULL. Repeated and unknown
 * dimensions are refused. */
DSE_MUST_CHECK enum dse_status timeloop_permutation(const struct yaml_doc *doc, const struct ynode *node,
                                                    const struct problem *problem, uint8_t *order,
                                                    struct dse_error *err);

#endif
