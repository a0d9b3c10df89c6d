/* By which accountings an engine can be priced, and the option value that goes with one. */
#include <string.h>

#include "base/text.h"
#include "engines/driver/engine.h"

/* Without a list a mapper takes what prices mappings, listed or not. */
static bool takes_any(const struct engine *engine, const struct accounting *accounting)
{
    return !engine->accounting && engine->kind == ENGINE_MAPPER && accounting->kind == ACCOUNTING_MAPPING;
}

/* Way number `i` in which the engine can be priced; without an accounting behind the last. */
static struct engine_accounting way_at(const struct engine *engine, size_t i)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    if (engine->accounting)
        return engine->accounting[i];
    for (size_t k = 0; engine->kind == ENGINE_MAPPER && k < n; k++)
        if (all[k]->kind == ACCOUNTING_MAPPING && i-- == 0)
            return (struct engine_accounting){.accounting = all[k]};
    return (struct engine_accounting){.accounting = NULL};
}

/* The place of its option in the engine's table; n_option when it needs none. */
static size_t option_of(const struct engine *engine, const struct engine_accounting *way)
{
    size_t i = way->option ? 0 : engine->n_option;
    while (i < engine->n_option && strcmp(engine->option[i].name, way->option) != 0)
        i++;
    return i;
}

static bool agrees(const struct engine *engine, const struct engine_accounting *way, const double *option)
{
    size_t i = option_of(engine, way);
    return i == engine->n_option || option[i] == way->value;
}

static enum dse_status refuse(const struct engine *engine, const struct accounting *accounting,
                              struct dse_error *err)
{
    struct text_buffer list;
    text_init(&list);
    for (size_t i = 0; way_at(engine, i).accounting; i++)
        text_append(&list, "%s%s", i ? ", " : "", way_at(engine, i).accounting->name);
    enum dse_status status =
        dse_fail(err, DSE_BAD_INPUT, "engine %s cannot be priced by accounting %s, only by %s", engine->name,
                 accounting->name, list.data ? list.data : "its own rules");
    text_free(&list);
    return status;
}

const struct accounting *engine_accounting(const struct engine *engine, const double *option,
                                           const struct architecture *arch)
{
    const struct accounting *first = NULL;
    for (size_t i = 0; way_at(engine, i).accounting; i++) {
        struct engine_accounting way = way_at(engine, i);
        struct dse_error ignored;
        if (!agrees(engine, &way, option))
            continue;
        if (!arch || accounting_accepts(way.accounting, arch, &ignored) == DSE_OK)
            return way.accounting;
        first = first ? first : way.accounting;
    }
    return first;
}

enum dse_status engine_accounting_choose(const struct engine *engine, const struct accounting *accounting,
                                         double *option, struct dse_error *err)
{
    for (size_t i = 0; way_at(engine, i).accounting; i++) {
        struct engine_accounting way = way_at(engine, i);
        size_t at = option_of(engine, &way);
        if (way.accounting == accounting && at < engine->n_option)
            option[at] = way.value;
        if (way.accounting == accounting)
            return DSE_OK;
    }
    return takes_any(engine, accounting) ? DSE_OK : refuse(engine, accounting, err);
}

enum dse_status engine_accounting_check(const struct engine *engine, const struct accounting *accounting,
                                        const double *option, struct dse_error *err)
{
    for (size_t i = 0; way_at(engine, i).accounting; i++) {
        struct engine_accounting way = way_at(engine, i);
        size_t at = option_of(engine, &way);
        char needed[64], given[64];
        if (way.accounting != accounting)
            continue;
        if (at == engine->n_option || option[at] == way.value)
            return DSE_OK;
        return dse_fail(
            err, DSE_BAD_INPUT,
            "engine %s: accounting %s is option %s=%s, but %s=%s is given as well; keep one of the two",
            engine->name, accounting->name, way.option,
            engine_option_print(&engine->option[at], way.value, needed, sizeof needed), way.option,
            engine_option_print(&engine->option[at], option[at], given, sizeof given));
    }
    return takes_any(engine, accounting) ? DSE_OK : refuse(engine, accounting, err);
}
