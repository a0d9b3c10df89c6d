/* Quantities and numbers. The first byte chooses the unit, the rest is the text; its first eight bytes are
 * also taken as a double to print. */
#include <stdlib.h>

#include "base/text.h"
#include "base/units.h"
#include "tests/fuzz/fuzz.h"

enum { UNIT_KIND_COUNT = UNIT_JOULE_PER_BIT + 1, PRINTED_MAX = 48, MANY_LETTERS = 300 };

static void check_print(double value, enum unit_kind kind)
{
    char printed[PRINTED_MAX];
    double again = -1;
    struct dse_error err;
    quantity_print(value, kind, printed, sizeof printed);
    fuzz_check_text(printed);
    FUZZ_REQUIRE(quantity_parse(printed, kind, "x", &again, &err) == DSE_OK, "'%s': %s", printed, err.text);
    FUZZ_REQUIRE(again == value, "%.17g is printed as '%s', which is %.17g", value, printed, again);
}

static void check_plain_numbers(const char *text)
{
    char buffer[MANY_LETTERS];
    double number, number_again;
    uint64_t count;
    int64_t signed_count;
    if (text_parse_double(text, &number)) {
        FUZZ_REQUIRE(isfinite(number), "'%s' is not finite", text);
        FUZZ_REQUIRE(text_parse_double(text_double(number, buffer, sizeof buffer), &number_again) &&
                         number == number_again,
                     "'%s' becomes '%s'", text, buffer);
    }
    if (text_parse_u64(text, &count))
        FUZZ_REQUIRE(text_parse_double(text, &number) && number == (double)count, "'%s'", text);
    if (text_parse_i64(text, &signed_count))
        FUZZ_REQUIRE(text_parse_double(text, &number) && number == (double)signed_count, "'%s'", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    enum unit_kind kind = (enum unit_kind)(data[0] % UNIT_KIND_COUNT);
    char *text = malloc(size);
    double value = -1;
    struct dse_error err;
    FUZZ_REQUIRE(text, "out of memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (fuzz_ok(quantity_parse(text, kind, "buffer.capacity", &value, &err), &err)) {
        fuzz_check_number(value, text);
        check_print(value, kind);
    }
    check_plain_numbers(text);
    if (size > sizeof value) {
        memcpy(&value, data + 1, sizeof value);
        if (isfinite(value) && !signbit(value))
            check_print(value, kind);
    }
    free(text);
    return 0;
}
