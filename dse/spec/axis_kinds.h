/* Axes that are no quantity of the architecture: one row says all that the program knows of one. */
#ifndef DSE_SPEC_AXIS_KINDS_H
#define DSE_SPEC_AXIS_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct solve_settings;
struct spec_variable;
struct sweep;

/* What other parts ask about an axis; SPEC_SETTING: nothing. */
enum spec_target {
    SPEC_SETTING, /* of the search */
    SPEC_ARCHITECTURE,
    SPEC_NETWORK,
    SPEC_PARAMETER, /* of the network: "network.NAME" */
    SPEC_BATCH,
    SPEC_ENGINE,
    SPEC_OPTION, /* of the engine: "option.NAME" */
    SPEC_OBJECTIVE,
    SPEC_SEED,
    SPEC_CONSTRAINTS, /* named lists of map-space constraints, added to the fixed ones */
    SPEC_POINT,       /* the number of an explicit point; changes nothing */
    SPEC_QUANTITY,    /* of the architecture, by path */
    SPEC_TARGET_COUNT
};

enum { AXIS_KIND_MAX = 24 };

/* A value as written; `variable` is NULL for the one at the top of the specification. */
struct axis_value {
    const struct spec_variable *variable;
    size_t i; /* which of the variable's values */
    const char *text;
};

struct axis_kind {
    const char *name; /* as written; one that ends in a dot stands for all that begin so */
    enum spec_target target;
    bool is_key; /* also a key at the top of the specification and of --set, for one value */
    /* whether the values may be numbers (without a unit), if all of them read so; NULL: no */
    bool (*numeric)(const struct sweep *sweep, const struct spec_variable *variable);
    /* Check a value and put it into the settings. DSE_BAD_INPUT without a place. NULL: looked up by
     * sweep_load. */
    enum dse_status (*set)(const struct axis_value *value, struct solve_settings *settings,
                           struct dse_error *err);
    const char *column; /* of an axis, where results have one of its name; NULL: the name */
};

/* Every kind that has a name, (n), at most AXIS_KIND_MAX. */
const struct axis_kind *axis_kind_all(size_t *n);

/* What a name varies, from its spelling alone: one of them, or the kind of quantities. */
const struct axis_kind *axis_kind_of(const char *name);

/* Behind the dot: "patience" of "option.patience". */
const char *axis_kind_rest(const struct axis_kind *kind, const char *name);

#endif
