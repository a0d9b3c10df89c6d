/* A sweep specification as written (docs/sweeps.md): the YAML keys checked and sorted, every text with its
 * line, nothing looked up yet. sweep.h makes points of it. */
#ifndef DSE_SPEC_SPEC_H
#define DSE_SPEC_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/yaml.h"
#include "dse/inputs/input_store.h"
#include "dse/solve/measure_settings.h"
#include "dse/spec/axis_kinds.h"
#include "dse/spec/spec_faults.h"
#include "results/record/schema.h"

enum { SPEC_VARIABLE_MAX = 32, SPEC_VALUE_MAX = 1000000, SPEC_NAME_MAX = 128 };

/* A scalar with its place; line 0: it came from --set. `text` NULL: not given. */
struct spec_text {
    const char *text;
    int line;
};

/* One thing that is varied. */
struct spec_variable {
    const char *name;             /* as written: "GlobalBuffer.capacity", "option.patience" */
    const struct axis_kind *kind; /* what it changes */
    int line;
    size_t dimension; /* on which it lies */
    size_t n_value;
    const struct spec_text *value;   /* (n_value) */
    const struct ynode *const *list; /* (n_value) SPEC_CONSTRAINTS: what the names stand for; else NULL */
};

/* One dimension of the sweep: one variable, or linked ones of equal length, which follow one another. */
struct spec_dimension {
    size_t first, n_variable; /* variable[first] ... */
    size_t n_value;
};

/* One option as written; `engine` is NULL when it is for all engines of the sweep. */
struct spec_option {
    const char *engine;
    const char *name;
    struct spec_text value;
};

struct spec_override {
    const char *path;
    struct spec_text value;
};

/* The keys of `limits`: of one layer search, of all those of a point, and what contains a search. */
enum spec_limit {
    SPEC_EVALUATIONS,
    SPEC_POINT_EVALUATIONS,
    SPEC_SECONDS,
    SPEC_POINT_SECONDS,
    SPEC_GRACE,
    SPEC_MEMORY,
    SPEC_LIMIT_COUNT
};
extern const char *const spec_limit_key[SPEC_LIMIT_COUNT];

struct sweep_spec {
    struct dse_faults *faults; /* borrowed; NULL: the first error ends the reading */
    bool has_bad_axis;         /* with faults: one is missing here */
    struct yaml_doc doc;
    const char *path;     /* as given */
    const char *base_dir; /* its folder */
    const char *text;     /* the file's text */
    size_t n_set;
    const char **set;           /* (n_set) what --set was given, "KEY=VALUE" */
    struct input_store *inputs; /* the file itself and all that it takes in; owned */
    const char *name;
    const char *title;
    struct spec_text fixed[AXIS_KIND_MAX]; /* of the kinds of axes that are keys too, in their order */
    struct spec_text limit[SPEC_LIMIT_COUNT];
    struct spec_text isolation; /* where searches run */
    struct spec_text exchange;  /* whether cells exchange schedules */
    struct measure_settings measure;
    int measure_line;
    size_t n_layer;
    const struct spec_text *layer; /* (n_layer); 0: all */
    size_t n_option;
    struct spec_option *option; /* (n_option) */
    size_t n_override;
    struct spec_override *override; /* (n_override) fixed quantities: `set` and --set */
    size_t n_parameter;
    struct spec_override *parameter; /* (n_parameter) fixed parameters of networks: likewise */
    const struct ynode *constraints; /* or NULL */
    const struct ynode *skip, *only; /* lists of mappings, or NULL */
    const struct ynode *plot;        /* or NULL */
    size_t n_variable;
    struct spec_variable variable[SPEC_VARIABLE_MAX]; /* (n_variable) dimension by dimension */
    size_t n_dimension;
    struct spec_dimension dimension[SPEC_VARIABLE_MAX]; /* (n_dimension) in declared order */
    struct arena arena;
};

/* Read a specification and apply `set` (n_set) texts "KEY=VALUE". Release with spec_free (also after a
 * failure). DSE_BAD_INPUT, DSE_BAD_USAGE (--set), DSE_IO, DSE_LIMIT, DSE_NO_MEMORY; all but --set with file
 * and line. */
DSE_MUST_CHECK enum dse_status spec_read(struct sweep_spec *spec, const char *path, const char *const *set,
                                         size_t n_set, struct dse_error *err);

/* The same with all errors in `faults`, where it goes on to the next key, axis, option or limit; DSE_OK then,
 * for sweep_init to go on with what is left. */
DSE_MUST_CHECK enum dse_status spec_read_all(struct sweep_spec *spec, const char *path,
                                             const char *const *set, size_t n_set, struct dse_faults *faults,
                                             struct dse_error *err);

/* The same from what a result file holds (`kept`, borrowed): its specification, --set list and inputs,
 * without a look at the disk. `source` is its path, for messages. DSE_BAD_INPUT also when it does not hold
 * what it takes. */
DSE_MUST_CHECK enum dse_status spec_replay(struct sweep_spec *spec, const struct result_schema *kept,
                                           const char *source, struct dse_error *err);
void spec_free(struct sweep_spec *spec);

/* Read `axes`, `zip` and `points` into variables and dimensions (spec_axes.c). */
DSE_MUST_CHECK enum dse_status spec_read_axes(struct sweep_spec *spec, struct dse_error *err);

/* The one value of a setting that may be an axis, `name` as in axis_kinds.h; its text is NULL when not given.
 */
const struct spec_text *spec_fixed(const struct sweep_spec *spec, const char *name);

/* The variable of that name, or NULL. */
const struct spec_variable *spec_find_variable(const struct sweep_spec *spec, const char *name);

/* An error at a text: its line in the file, or --set. */
enum dse_status spec_fail(const struct sweep_spec *spec, const struct spec_text *text, struct dse_error *err,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for an error that a lower layer made without a place of its own (else its place is told in the
 * text). */
enum dse_status spec_blame(const struct sweep_spec *spec, const struct spec_text *text,
                           const struct dse_error *inner, struct dse_error *err);

#endif
