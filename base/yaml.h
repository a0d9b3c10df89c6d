/* YAML files as a read-only tree whose every node knows its line. Built on libyaml. Duplicate keys, several
 * documents in one file, non-scalar keys and cyclic aliases are errors with a line number, and so are the
 * limits: files over 64 MiB, nesting deeper than 64, merge keys that bring in more than a million pairs.
 * Aliases share their anchor's node; merge keys (<<: *x, <<: [*x, *y]) are expanded as if written at the top
 * of the mapping; explicit keys win, then the earlier of a list. The getters below name the file and line,
 * the value, and what would be accepted, in `err`. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/units.h"

enum ynode_kind { YNODE_SCALAR, YNODE_SEQUENCE, YNODE_MAPPING };

struct ynode {
    enum ynode_kind kind;
    int line;                        /* 1-based */
    bool quoted;                     /* scalar written in quotes or as a block (|, >) */
    const char *text;                /* scalar: its text; else NULL */
    const char *tag;                 /* an explicit tag such as "!Container", else NULL */
    size_t n_item;                   /* sequence: items; mapping: pairs */
    const struct ynode *const *item; /* (n_item) sequence items or mapping values, in file order */
    const char *const *key;          /* (n_item) mapping keys; NULL otherwise */
    const int *key_line;             /* (n_item) line of each key; NULL otherwise */
};

struct yaml_doc {
    char *path;               /* as given, for messages; owned by the arena */
    const struct ynode *root; /* never NULL after a successful read; an empty file is an error */
    struct arena arena;
    struct dse_faults
        *faults; /* borrowed; the reader's to set: all errors are wanted there. NULL: the first */
};

/* Read a file. On failure `doc` needs no release. DSE_IO: cannot be read (missing, directory, no permission);
 * DSE_BAD_INPUT: not YAML (binary files are named as such); DSE_LIMIT: beyond a limit above;
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status yaml_read(struct yaml_doc *doc, const char *path, struct dse_error *err);

/* The bytes of a file as yaml_read reads them, with the same errors, and a zero behind them. The caller frees
 * `*bytes`. */
DSE_MUST_CHECK enum dse_status yaml_load(const char *path, char **bytes, size_t *length,
                                         struct dse_error *err);

/* The same as yaml_read from memory; `name` stands for the file name in messages. */
DSE_MUST_CHECK enum dse_status yaml_parse(struct yaml_doc *doc, const char *name, const char *bytes,
                                          size_t length, struct dse_error *err);

/* Release a document; does nothing to one that yaml_doc_free or a failed read left empty. (Not named
 * yaml_free: libyaml exports that symbol and calls it.) */
void yaml_doc_free(struct yaml_doc *doc);

/* The value under `key`, or NULL (also when `node` is not a mapping). */
const struct ynode *yaml_find(const struct ynode *node, const char *key);

/* An error blaming `node`'s line in `doc`. */
enum dse_status yaml_fail(const struct yaml_doc *doc, const struct ynode *node, struct dse_error *err,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* `node` must be a mapping whose keys are all in `allowed` (n_allowed); else names the key's line and the
 * nearest allowed word. `what` names the thing in the message ("level GlobalBuffer"). With doc->faults all
 * such keys are noted there. */
DSE_MUST_CHECK enum dse_status yaml_check_keys(const struct yaml_doc *doc, const struct ynode *node,
                                               const char *what, const char *const *allowed, size_t n_allowed,
                                               struct dse_error *err);

/* Whether `key` is missing, and a key like it has been noted in doc->faults as unknown. */
bool yaml_is_misspelt(const struct yaml_doc *doc, const struct ynode *node, const char *key);

/* The value under `key`, required. */
DSE_MUST_CHECK enum dse_status yaml_require(const struct yaml_doc *doc, const struct ynode *node,
                                            const char *what, const char *key, const struct ynode **value,
                                            struct dse_error *err);

/* Scalar conversions of `node`; `what` names it in messages ("PE.mesh"). Ranges are inclusive. null/~ is an
 * error. */
DSE_MUST_CHECK enum dse_status yaml_text(const struct yaml_doc *doc, const struct ynode *node,
                                         const char *what, const char **value, struct dse_error *err);
DSE_MUST_CHECK enum dse_status yaml_u64(const struct yaml_doc *doc, const struct ynode *node,
                                        const char *what, uint64_t lowest, uint64_t highest, uint64_t *value,
                                        struct dse_error *err);
DSE_MUST_CHECK enum dse_status yaml_double(const struct yaml_doc *doc, const struct ynode *node,
                                           const char *what, double lowest, double highest, double *value,
                                           struct dse_error *err);
/* true/false/on/off/yes/no */
DSE_MUST_CHECK enum dse_status yaml_bool(const struct yaml_doc *doc, const struct ynode *node,
                                         const char *what, bool *value, struct dse_error *err);
DSE_MUST_CHECK enum dse_status yaml_quantity(const struct yaml_doc *doc, const struct ynode *node,
                                             const char *what, enum unit_kind kind, double lowest,
                                             double highest, double *value, struct dse_error *err);
/* One of `choice` (n_choice); `*index` is its position. Says "did you mean". */
DSE_MUST_CHECK enum dse_status yaml_choice(const struct yaml_doc *doc, const struct ynode *node,
                                           const char *what, const char *const *choice, size_t n_choice,
                                           size_t *index, struct dse_error *err);
/* Must be a sequence / a mapping. */
DSE_MUST_CHECK enum dse_status yaml_is_sequence(const struct yaml_doc *doc, const struct ynode *node,
                                                const char *what, struct dse_error *err);
DSE_MUST_CHECK enum dse_status yaml_is_mapping(const struct yaml_doc *doc, const struct ynode *node,
                                               const char *what, struct dse_error *err);

#endif
