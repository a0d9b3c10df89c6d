/* Every accounting, and finding one by its name. */
#include <string.h>

#include "base/text.h"
#include "costmodel/accounting/accounting.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/uop/accounting_maestro_kc.h"

/* In the order help shows them. */
static const struct accounting *const registry[] = {
    &accounting_timeloop, &accounting_interstellar, &accounting_interstellar_compat,
    &accounting_soma,     &accounting_soma_compat,  &accounting_maestro_kc,
};

enum { N_ACCOUNTING = sizeof registry / sizeof registry[0] };

const struct accounting *const *accounting_all(size_t *n)
{
    *n = N_ACCOUNTING;
    return registry;
}

const struct accounting *accounting_find(const char *name)
{
    for (size_t i = 0; i < N_ACCOUNTING; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}

enum dse_status accounting_named(const char *name, const struct accounting **out, struct dse_error *err)
{
    const char *known[N_ACCOUNTING];
    char shown[96];
    *out = accounting_find(name);
    if (*out)
        return DSE_OK;
    for (size_t i = 0; i < N_ACCOUNTING; i++)
        known[i] = registry[i]->name;
    const char *nearest = text_nearest(name, known, N_ACCOUNTING);
    text_excerpt(name, shown, sizeof shown);
    if (nearest)
        return dse_fail(err, DSE_BAD_INPUT, "unknown accounting \"%s\"; did you mean %s?", shown, nearest);
    return dse_fail(err, DSE_BAD_INPUT, "unknown accounting \"%s\"; see `dse list accountings`", shown);
}
