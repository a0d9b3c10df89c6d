/* Which machines an accounting prices. */
#include "costmodel/accounting/accounting.h"

enum dse_status accounting_accepts(const struct accounting *accounting, const struct architecture *arch,
                                   struct dse_error *err)
{
    struct dse_error why = {0};
    enum dse_status status = accounting->accepts ? accounting->accepts(arch, &why) : DSE_OK;
    if (status == DSE_OK)
        return DSE_OK;
    return dse_fail(err, status, "accounting %s does not price architecture %s: %.600s", accounting->name,
                    arch->name, why.text);
}

const struct accounting *accounting_standard(enum accounting_kind kind, const struct architecture *arch)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n), *first = NULL;
    struct dse_error ignored;
    for (size_t i = 0; i < n; i++) {
        if (all[i]->kind != kind)
            continue;
        if (accounting_accepts(all[i], arch, &ignored) == DSE_OK)
            return all[i];
        first = first ? first : all[i];
    }
    return first;
}
