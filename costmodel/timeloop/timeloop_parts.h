/* What the Timeloop readers share: names and words, attributes of components under any spelling with
 * overrides on top, the levels made of them, the loops of a mapping directive. Private to the room. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_PARTS_H
#define COSTMODEL_TIMELOOP_TIMELOOP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* What a file is read for. */
enum timeloop_part {
    TIMELOOP_MACHINE,
    TIMELOOP_PROBLEM,
    TIMELOOP_MAPPING,
    TIMELOOP_ERT,
    TIMELOOP_CONSTRAINTS
};

/* The file must be a mapping whose top-level keys mean something here; others are refused by name with the
 * reason. */
DSE_MUST_CHECK enum dse_status timeloop_check_root(const struct yaml_doc *doc, enum timeloop_part part,
                                                   struct dse_error *err);

/* A file of v4: architecture.nodes, or what its front end dumped. */
bool timeloop_is_v4(const struct yaml_doc *doc);

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

/* That, or a list or mapping without anything in it. */
bool timeloop_is_empty(const struct ynode *node);

/* In a file of v4 a value that the front end computes (a name, operator, reference) is refused by name. */
DSE_MUST_CHECK enum dse_status timeloop_no_expression(const struct yaml_doc *doc, const struct ynode *node,
                                                      const char *what, struct dse_error *err);

/* Energies of an Energy Reference Table (`ert`: version, tables of actions in pJ) for the levels where
 * `fixed[l]` is false, and for the MACs unless `mac_fixed`; in one of Timeloop v4, or of a machine of `v4`,
 * also what levels leak, at arch->clock_hz. Which action prices what: docs/timeloop.md, "Energy Reference
 * Table". A table that belongs to no level and not to the MACs is an error. */
DSE_MUST_CHECK enum dse_status timeloop_ert_apply(const struct yaml_doc *doc, const struct ynode *ert,
                                                  const bool *fixed, bool mac_fixed, bool v4,
                                                  struct architecture *arch, struct dse_error *err);

/* Areas of an Area Reference Table (`art`: version, tables of areas in um2), of one instance each. The same
 * errors. */
DSE_MUST_CHECK enum dse_status timeloop_art_apply(const struct yaml_doc *doc, const struct ynode *art,
                                                  struct architecture *arch, struct dse_error *err);

enum timeloop_kind {
    TIMELOOP_STORAGE = 1,
    TIMELOOP_MAC = 2,
    TIMELOOP_NODE = 4,
    TIMELOOP_FANOUT = 8,
    TIMELOOP_MAC_V4 = 16 /* beside TIMELOOP_MAC, in a file of v4 */
};

/* Storage, MACs and v4's fan-outs are told by parts of their class names, as Timeloop does. `node` is blamed
 * for another class, of the component `name`. */
DSE_MUST_CHECK enum dse_status timeloop_classify(const struct yaml_doc *doc, const struct ynode *node,
                                                 const char *name, const char *class_name,
                                                 enum timeloop_kind *kind, struct dse_error *err);

struct timeloop_component {
    const struct yaml_doc *doc;
    const struct ynode *node;         /* blamed when something is missing */
    const struct ynode *attributes;   /* a mapping, or NULL when there are none */
    const struct ynode *const *outer; /* (n_outer) of the containers around it, innermost last; v4 */
    size_t n_outer;
    bool v4;
    uint64_t mesh_x, mesh_y; /* of the containers around it; 0: by its attributes */
    bool named_inside;       /* the flat format: `name` is one of the attributes */
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

/* Two names of one attribute: v4 writes underscores for dashes. */
bool timeloop_same_name(const char *rule, const char *key);

/* Does the attribute say how many instances there are, or how they lie? */
bool timeloop_is_mesh(const char *name);

/* Every attribute must be known, and not be one that is refused. */
DSE_MUST_CHECK enum dse_status timeloop_attribute_check(const struct timeloop_component *component,
                                                        struct dse_error *err);

/* Names of the attributes that count for kinds (of enum timeloop_kind, added up): at most `max` into `name`;
 * returns how many. */
size_t timeloop_attribute_names(int kinds, const char **name, size_t max);

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

/* A level that is only a fan-out: a dummy_storage of v4, or a component that is switched off. */
DSE_MUST_CHECK enum dse_status timeloop_fanout_build(const struct timeloop_component *component,
                                                     struct storage_level *level, struct dse_error *err);

/* Fill the MACs. `*fixed_energy`: an override gives the energy, which an ERT then does not change. */
DSE_MUST_CHECK enum dse_status timeloop_mac_build(const struct timeloop_component *component,
                                                  struct mac_array *mac, bool *fixed_energy,
                                                  struct dse_error *err);

/* A machine being read. Levels are collected outermost first and turned round at the end. */
enum { TIMELOOP_NODE_MAX = 32, TIMELOOP_VISIT_MAX = 4096, TIMELOOP_DEPTH_MAX = 16 };

struct timeloop_builder {
    const struct yaml_doc *doc;
    const struct arch_override *override;
    size_t n_override;
    struct architecture *arch;
    const struct ynode *level_node[ARCH_LEVEL_MAX];
    bool fixed_energy[ARCH_LEVEL_MAX];
    const struct ynode *mac_node; /* NULL until the MACs are read */
    bool mac_fixed_energy;
    bool v4, is_nodes; /* of v4; as written, with `nodes` */
    bool has_ert;
    uint64_t multiplicity; /* of the tree node being read */
    size_t n_visited;      /* nodes of v4: aliases may stand for far more than a file has */
    uint32_t n_node;
    char node_name[TIMELOOP_NODE_MAX][ARCH_NAME_MAX];
    struct text_buffer *rules; /* the constraints found, as rules of struct architecture */
};

/* A component without a name or attributes so far. */
struct timeloop_component timeloop_component_of(const struct timeloop_builder *b, const struct ynode *node,
                                                enum timeloop_kind kind);

/* Its attributes are those under the key of that name. */
DSE_MUST_CHECK enum dse_status timeloop_take_attributes(struct timeloop_component *component,
                                                        struct dse_error *err);

/* The next level inwards, or the MACs; `class_name` "" in the flat format. */
DSE_MUST_CHECK enum dse_status timeloop_add_component(struct timeloop_builder *b,
                                                      const struct timeloop_component *component,
                                                      const char *class_name, struct dse_error *err);

/* Remember the name of a node, for paths of quantities. DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status timeloop_add_node(struct timeloop_builder *b, const struct ynode *name_node,
                                                 const char *name, struct dse_error *err);

/* A class that the file's compound components define needs an ERT, which has its energies. */
DSE_MUST_CHECK enum dse_status timeloop_check_compound(const struct timeloop_builder *b,
                                                       const struct ynode *node, const char *name,
                                                       const char *class_name, struct dse_error *err);

/* What `enabled` says; absent: true. */
DSE_MUST_CHECK enum dse_status timeloop_enabled(const struct yaml_doc *doc, const struct ynode *item,
                                                const char *name, bool *enabled, struct dse_error *err);

/* The machine of v4: `architecture.nodes`. */
DSE_MUST_CHECK enum dse_status timeloop_read_nodes(struct timeloop_builder *b, const struct ynode *top,
                                                   struct dse_error *err);

/* Constraints on their way to rules (docs/engines.md, "Constraints"). */
struct timeloop_rules {
    const struct yaml_doc *doc;
    struct text_buffer *text;
    size_t *n_visited; /* of nodes, to be bounded; NULL: no nodes */
    bool in_component; /* of v4 as written: its front end puts loops of one iteration before a permutation */
};

/* The branch of a !Parallel that a component lies in: the others bypass what it keeps. */
struct timeloop_branch {
    const struct ynode *parallel; /* its nodes */
    size_t which;
    const struct timeloop_branch *outer;
};

/* What `node` (may be NULL) says of loops and tensors at `level`. */
DSE_MUST_CHECK enum dse_status timeloop_rule_temporal(const struct timeloop_rules *r,
                                                      const struct ynode *node, const char *level,
                                                      struct dse_error *err);
DSE_MUST_CHECK enum dse_status timeloop_rule_spatial(const struct timeloop_rules *r, const struct ynode *node,
                                                     const char *level, struct dse_error *err);
DSE_MUST_CHECK enum dse_status timeloop_rule_dataspace(const struct timeloop_rules *r,
                                                       const struct ynode *node,
                                                       const struct ynode *component, const char *level,
                                                       const struct timeloop_branch *branch,
                                                       struct dse_error *err);

/* The lists of constraints at the top of a file. */
DSE_MUST_CHECK enum dse_status timeloop_rules_lists(const struct timeloop_rules *r, struct dse_error *err);

/* Is there something in them? */
bool timeloop_has_rules(const struct yaml_doc *doc);

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
