/* Which machines SoMa's accountings price. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"

/* A file of the project. */
static enum dse_status accepts(const struct accounting *accounting, const char *path, struct dse_error *err)
{
    struct architecture arch;
    assert_int_equal(architecture_read(path, &arch, err), DSE_OK);
    return accounting_accepts(accounting, &arch, err);
}

static void test_accounting_soma_says_which_machines_it_prices(void **state)
{
    static const char simba[] = "experiments/architectures/simba.yaml",
                      edge[] = "experiments/architectures/soma_edge.yaml";
    struct dse_error err;
    (void)state;
    assert_int_equal(accepts(&accounting_timeloop, simba, &err), DSE_OK);
    assert_int_equal(accepts(&accounting_timeloop, edge, &err), DSE_OK);
    assert_int_equal(accepts(&accounting_soma, edge, &err), DSE_OK);
    assert_int_equal(accepts(&accounting_soma_compat, edge, &err), DSE_OK);
    assert_int_equal(accepts(&accounting_soma_compat, simba, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "accounting soma-compat does not price architecture simba: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accounting_soma_says_which_machines_it_prices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
