/* What names stand for in a network file with parameters (docs/networks.md, "Parameters"): parameters,
 * derived values and indices of repeated groups; and the expressions over them. Nobody but the network
 * reader includes this. */
#ifndef COSTMODEL_NATIVE_NETWORK_SCOPE_H
#define COSTMODEL_NATIVE_NETWORK_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"

enum { SCOPE_SYMBOL_MAX = 256, NETWORK_CHOICE_MAX = 64 };

struct scope_value {
    enum { SCOPE_NUMBER, SCOPE_WORD, SCOPE_TRUTH } kind;
    int64_t number; /* of a truth 0 or 1 */
    const char *word;
    const struct ynode *choices; /* that the word is one of; NULL: a word as it stands in an expression */
};

struct scope_symbol {
    const char *name;
    const struct ynode *node;      /* what the file says; NULL: an index */
    bool is_parameter;             /* else derived, or an index */
    const struct network_set *set; /* a parameter that somebody sets, else NULL */
    enum { SCOPE_NEW, SCOPE_OPEN, SCOPE_DONE } state;
    struct scope_value value; /* SCOPE_DONE */
    int64_t from, to;         /* of a parameter that is a number, likewise */
    bool is_default;          /* of a parameter: it has the value that it has unless set; likewise */
};

struct scope {
    const struct yaml_doc *doc;
    struct arena *arena; /* of texts that are made */
    int depth;           /* of the expression that is being looked at, through all names */
    size_t n;
    struct scope_symbol symbol[SCOPE_SYMBOL_MAX]; /* (n) parameters, derived values, then indices */
};

/* Read keys `parameters` and `let` of the document's root, set `set` (n_set) and find all values. Errors of a
 * set value have the place of that. */
DSE_MUST_CHECK enum dse_status scope_init(struct scope *scope, const struct yaml_doc *doc,
                                          struct arena *arena, const struct network_settings *settings,
                                          struct dse_error *err);

/* The symbol's value; an error for what depends on itself. */
DSE_MUST_CHECK enum dse_status scope_find(struct scope *scope, const struct ynode *node, size_t symbol,
                                          struct scope_value *value, struct dse_error *err);

/* The number of the symbol, or -1. */
int scope_index(const struct scope *scope, const char *name, size_t length);

/* An index of a group that is repeated, which hides nothing; pop takes the last one away. */
DSE_MUST_CHECK enum dse_status scope_push(struct scope *scope, const struct ynode *node, const char *name,
                                          struct dse_error *err);
void scope_pop(struct scope *scope);

/* What `text` is, an expression at `node`. DSE_BAD_INPUT: no expression, unknown names, a division with a
 * rest or by 0; DSE_LIMIT: beyond 64 bits. */
DSE_MUST_CHECK enum dse_status scope_evaluate(struct scope *scope, const struct ynode *node, const char *text,
                                              size_t length, struct scope_value *value,
                                              struct dse_error *err);

/* The same with a whole number or a comparison as the outcome; `what` names it. */
DSE_MUST_CHECK enum dse_status scope_number(struct scope *scope, const struct ynode *node, const char *what,
                                            int64_t *number, struct dse_error *err);
DSE_MUST_CHECK enum dse_status scope_truth(struct scope *scope, const struct ynode *node, bool *truth,
                                           struct dse_error *err);

/* What a parameter may be: "prefill, decode" or "from 1 to 4096"; likewise. */
const char *scope_accepted(const struct scope *scope, size_t symbol);

/* A value as it is written, in the scope's arena; NULL when out of memory. */
const char *scope_text(const struct scope *scope, const struct scope_value *value);

#endif
