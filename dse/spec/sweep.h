/* A sweep: a specification with everything looked up and checked, and its points. Const once built: threads
 * share it. */
#ifndef DSE_SPEC_SWEEP_H
#define DSE_SPEC_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "dse/solve/option_files.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"
#include "dse/spec/spec.h"
#include "results/record/schema.h"

/* Documented limits (docs/sweeps.md). */
enum { SWEEP_CELL_MAX = 100000000, SWEEP_OVERRIDE_MAX = 96 };

/* Where searches run (docs/isolation.md). */
enum isolation {
    /* in threads, under a supervisor; in worker processes when they cannot be contained there */
    ISOLATION_AUTO,
    ISOLATION_THREAD,  /* in threads, come what may */
    ISOLATION_PROCESS, /* all in worker processes */
    ISOLATION_COUNT
};
extern const char *const isolation_word[ISOLATION_COUNT];

/* A variable with its values understood. Numbers are SI. */
struct sweep_variable {
    bool is_bad;        /* with faults: an error is noted, and nothing more is to be said of it */
    int unit;           /* UNIT_*, or -1 */
    bool numeric;       /* number is set, else the texts are the values */
    double *number;     /* (n_value) */
    const char **text;  /* (n_value) */
    const char **label; /* (n_value) as written */
    char *column;       /* "GlobalBuffer.capacity_byte" */
    char *long_name;    /* "GlobalBuffer capacity" */
};

struct sweep {
    const struct sweep_spec *spec;
    struct sweep_variable variable[SPEC_VARIABLE_MAX]; /* (spec->n_variable) */
    size_t n_arch;
    struct yaml_doc *arch;                   /* (n_arch) the values of the axis, or the one */
    struct architecture_template **template; /* (n_arch) of the same */
    size_t n_network;
    struct network *network; /* (n_network) sweep_n_network of them */
    size_t n_batch;
    uint32_t *batch;           /* (n_batch) */
    struct workload *workload; /* (n_network, n_batch) */
    size_t n_engine;
    /* (n_engine) with the fixed options, objective, seed and limits per search */
    struct solve_settings *engine;
    struct option_files *files;     /* that their options name; owned */
    uint64_t point_max_evaluations; /* of all searches of a point; 0: no limit */
    double point_max_seconds;
    enum isolation isolation;
    uint64_t max_memory_byte; /* of one search; 0: no limit of its own */
    double grace_s;           /* after its limit of seconds a search is ended from outside */
    bool has_columns;         /* those of all engines are known */
    size_t n_scheduler;       /* of the engines; the others are mappers */
    bool exchange;            /* cells exchange schedules (sweep_neighbours.h) */
    uint64_t n_cell;
    size_t n_point;
    uint32_t *cell; /* (n_point) row-major cell of each point, ascending; NULL: all cells are points */
    struct result_schema schema; /* without point keys */
    struct arena arena;
};

/* One point with everything it asks for. */
struct sweep_point {
    uint32_t index[SPEC_VARIABLE_MAX]; /* (n_dimension) */
    const struct yaml_doc *arch;
    const struct architecture_template *template; /* of `arch` */
    size_t n_override;
    struct arch_override override[SWEEP_OVERRIDE_MAX];
    const struct workload *workload;
    struct solve_settings settings;
};

struct reason_groups; /* dse/console/reason_groups.h */

/* Look everything up and check it: names, options, units, every value of every axis by building a machine
 * with it, constraints on every loop nest, filters, the figure. `spec` is borrowed. Release with
 * sweep_free (also after a failure). Errors carry file and line. When the specification was read by
 * spec_read_all, all are noted, and the sweep is of no use when there are any. */
DSE_MUST_CHECK enum dse_status sweep_init(struct sweep *sweep, const struct sweep_spec *spec,
                                          struct dse_error *err);
void sweep_free(struct sweep *sweep);

/* The number of the point at a row-major cell; SIZE_MAX when the cell is filtered out or does not exist. */
size_t sweep_point_at(const struct sweep *sweep, uint64_t cell);

/* The coordinates of point p: `index` (n_dimension). */
void sweep_index(const struct sweep *sweep, size_t p, uint32_t *index);

/* The point's parts; nothing can fail, as sweep_init tried every value. */
void sweep_point(const struct sweep *sweep, size_t p, struct sweep_point *out);

/* How many searches the point is: one for each distinct layer, or one of the whole network. */
uint32_t sweep_point_n_task(const struct sweep_point *point);

/* What task number `t` of the point searches: the content hash of a layer's loop nest, or of the network with
 * its batch. */
uint64_t sweep_point_task_hash(const struct sweep_point *point, uint32_t t);

/* Search it, as solve_task and solve_network. */
DSE_MUST_CHECK enum dse_status sweep_point_solve(const struct sweep_point *point, uint32_t t,
                                                 const struct architecture *arch,
                                                 const struct solve_shared *shared, const atomic_int *cancel,
                                                 struct arena *arena, struct solve_result *result);

/* Build the point's machine. Values that are good one by one may clash: then DSE_BAD_INPUT says how. */
DSE_MUST_CHECK enum dse_status sweep_point_build(const struct sweep_point *point, struct architecture *arch,
                                                 struct dse_error *err);

/* "GlobalBuffer.capacity=64 KiB PE.mesh=4x4" of point p. Returns `buffer`. */
char *sweep_point_print(const struct sweep *sweep, size_t p, char *buffer, size_t size);

/* The points that their engine does not take (solve_takes), as their rows would say it; `groups` is all zero
 * before. A machine that cannot be built is another matter. Of a larger sweep so many points are asked about,
 * spread evenly. */
enum { SWEEP_ASKED_MAX = 10000 };
void sweep_refused(const struct sweep *sweep, struct reason_groups *groups);

/* Axes, points, layers and limits as lines of text. */
void sweep_print(const struct sweep *sweep, struct text_buffer *out);

/* Whether a variable of the dimension is. */
bool sweep_is_bad(const struct sweep *sweep, const struct spec_dimension *d);

/* How many errors have been noted (spec_faults.h); without faults none is. */
size_t sweep_n_fault(const struct sweep *sweep);

/* The values of one setting: those of its axis, or the fixed one. */
struct sweep_values {
    size_t n;
    const struct spec_text *value; /* (n) */
};
struct sweep_values sweep_values_of(const struct sweep *sweep, const char *name);

/* An error: no such setting; with faults not when it is there but wrong, or may be there under a wrong
 * name. */
enum dse_status sweep_missing(const struct sweep *sweep, const char *name, const char *example,
                              struct dse_error *err);

/* A file of the specification. One that is not there or cannot be read is the fault of the line that names
 * it. */
DSE_MUST_CHECK enum dse_status sweep_take_file(const struct sweep *sweep, enum resolve_kind kind,
                                               const struct spec_text *name, struct result_input *file,
                                               struct dse_error *err);

/* How many networks there are: values of the axis times those of the axes of parameters, linked ones once. */
size_t sweep_n_network(const struct sweep *sweep);

/* The number in sweep->workload of what lies at `index` (n_dimension). */
size_t sweep_workload_at(const struct sweep *sweep, const uint32_t *index);

/* Whether some cell has network number n with batch number b; linked axes do not have all pairs. */
bool sweep_has_workload(const struct sweep *sweep, size_t n, size_t b);

/* The steps of sweep_init, each in the file of its name. */
DSE_MUST_CHECK enum dse_status sweep_load(struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_networks(struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_variables(struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_cells(struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_check(struct sweep *sweep, struct dse_error *err);
/* The part of it that needs no points: every value on every machine that there is. */
DSE_MUST_CHECK enum dse_status sweep_check_machines(const struct sweep *sweep, struct dse_error *err);
/* Axes of the result files, when every value is good (sweep_schema.c). */
DSE_MUST_CHECK enum dse_status sweep_axes(struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_plot(const struct sweep *sweep, struct dse_error *err);
DSE_MUST_CHECK enum dse_status sweep_schema(struct sweep *sweep, struct dse_error *err);

/* The metrics that not every result has: what is measured of mappings, and what the schedulers have
 * (sweep_schema.c). */
DSE_MUST_CHECK enum dse_status sweep_columns(struct sweep *sweep, struct dse_error *err);

/* The position of a value written as `text` on variable v, or -1. */
long sweep_find_value(const struct sweep *sweep, size_t v, const char *text);

/* Whether a variable has the same value at positions i and k. */
bool sweep_same_value(const struct sweep_variable *variable, size_t i, size_t k);

/* DSE_NO_MEMORY about the sweep. */
enum dse_status sweep_no_memory(const struct sweep *sweep, struct dse_error *err);

#endif
