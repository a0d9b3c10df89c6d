/* Lists of uops in a CSV: any bytes give a row for each line or an error that says which line. The first byte
 * chooses the form of the report. */
#include "costmodel/readers/readers.h"
#include "costmodel/uop/accounting_maestro_kc.h"
#include "dse/report/list_eval.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct architecture arch;
    struct yaml_doc doc;
    struct text_buffer out;
    struct dse_error err;
    if (size == 0)
        return 0;
    FUZZ_REQUIRE(yaml_read(&doc, "experiments/architectures/klotski.yaml", &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(architecture_build(&doc, NULL, 0, &arch, &err) == DSE_OK, "%s", err.text);
    yaml_doc_free(&doc);
    const struct list_request request = {.arch = &arch,
                                         .list = accounting_maestro_kc.list,
                                         .format = data[0] % 2 ? REPORT_CSV : REPORT_TABLE,
                                         .path = "fuzz.csv",
                                         .text = (const char *)data + 1,
                                         .length = size - 1};
    text_init(&out);
    if (fuzz_ok(list_eval(&request, &out, &err), &err)) {
        FUZZ_REQUIRE(!out.failed && out.length > 0, "no report");
        for (size_t i = 0; i < out.length; i++)
            FUZZ_REQUIRE((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n',
                         "control character 0x%02x", (unsigned)(unsigned char)out.data[i]);
        FUZZ_REQUIRE(!strstr(out.data, "nan") && !strstr(out.data, "inf"), "no number:\n%s", out.data);
    } else {
        FUZZ_REQUIRE(strcmp(err.file, "fuzz.csv") == 0, "file '%s' of '%s'", err.file, err.text);
    }
    text_free(&out);
    return 0;
}
