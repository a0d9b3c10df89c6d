/* A form of mappings as vectors of numbers, such as a surrogate model takes, and what a family of engines can
 * say of one. `dse eval --vectors` and `dse map --format vector` know vectors by this contract alone. */
#ifndef ENGINES_DRIVER_VECTOR_FORMAT_H
#define ENGINES_DRIVER_VECTOR_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/report.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* How the loop orders of a file's vectors are written: the place of each dimension, or the number of the
 * dimension in each place, innermost first. */
enum vector_orders { VECTOR_ORDERS_PLACES, VECTOR_ORDERS_DIMS, VECTOR_ORDERS_COUNT };

/* Real vectors become the nearest mapping, by their numbers or by the binary logarithms of their factors. */
enum vector_projection { VECTOR_AS_IT_IS, VECTOR_NEAREST_RAW, VECTOR_NEAREST_LOG2, VECTOR_PROJECTION_COUNT };

/* One vector as it stands in a file. */
struct vector_line {
    const double *value; /* (n) */
    size_t n;
    size_t mode; /* of the format */
    enum vector_orders orders;
    enum vector_projection projection;
    int line;
};

struct vector_format {
    const char *name; /* for messages: "vector of Mind Mappings" */
    /* (n_mode) what may differ in what a vector stands for; the first is the default */
    const char *const *mode;
    size_t n_mode;
    size_t value_max; /* a vector has no more values */
    /* Are there such vectors of mappings on this machine? DSE_BAD_INPUT with the reason. */
    enum dse_status (*accepts)(const struct architecture *arch, struct dse_error *err);
    /* What evaluates vectors on a machine that it accepts; `arch` must outlive it. DSE_NO_MEMORY. */
    enum dse_status (*open)(const struct architecture *arch, void **evaluation, struct dse_error *err);
    void (*close)(void *evaluation);
    /* The columns of a row; returns how many. They live as long as the evaluation. */
    size_t (*columns)(const void *evaluation, const struct cell_column **column);
    /* Append the row of one vector: a mapping that may be, with its cost, or why not. DSE_BAD_INPUT, without
     * a place: it is no vector of this machine; DSE_NO_MEMORY. */
    enum dse_status (*row)(void *evaluation, const struct vector_line *line, struct cells *rows,
                           struct dse_error *err);
    /* The space of a problem's vectors in a mode, and how many it has, as a decimal logarithm; memory from
     * `arena`, `arch` must outlive it. DSE_BAD_INPUT as `takes`, DSE_NO_MEMORY. */
    enum dse_status (*space)(const struct architecture *arch, const struct problem *problem, size_t mode,
                             struct arena *arena, const void **space, double *log10_size,
                             struct dse_error *err);
    /* Draw from it, all equally likely. */
    void (*draw)(const void *space, struct random_stream *stream, struct mapping *mapping);
    /* Is the problem one whose mappings have vectors? DSE_BAD_INPUT with the reason. */
    enum dse_status (*takes)(const struct architecture *arch, const struct problem *problem,
                             struct dse_error *err);
    /* Append the vector of a mapping of such a problem, with commas, without a line break. DSE_BAD_INPUT says
     * why none is the same mapping. */
    enum dse_status (*write)(const struct architecture *arch, const struct problem *problem,
                             const struct mapping *mapping, struct text_buffer *out, struct dse_error *err);
};

/* Registry (engines/registry.c): the format that accepts the machine. DSE_BAD_INPUT with the reason of the
 * first when none does. */
DSE_MUST_CHECK enum dse_status vector_format_of(const struct architecture *arch,
                                                const struct vector_format **out, struct dse_error *err);

#endif
