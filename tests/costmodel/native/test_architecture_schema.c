/* The table of keys of an architecture file, as docs/architectures.md shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/units.h"
#include "costmodel/native/architecture_native.h"

/* What to write for a field, with an example of each form; `list` (size bytes) is room for words. */
static const char *accepted_words(const struct arch_field *field, char *list, size_t size)
{
    size_t used = 0;
    switch (field->kind) {
    case ARCH_VALUE_NAME:
        return "text";
    case ARCH_VALUE_PART:
        return "list";
    case ARCH_VALUE_NUMBER:
        return field->property & ARCH_WHOLE ? "whole number" : "number";
    case ARCH_VALUE_SWITCH:
        return "on, off";
    case ARCH_VALUE_CHOICE:
        for (size_t i = 0; field->choice[i]; i++)
            used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "", field->choice[i]);
        return list;
    case ARCH_VALUE_MESH:
        return "`4x4`";
    case ARCH_VALUE_TENSORS:
        return "list of Weights, Inputs, Outputs or names of tensors";
    case ARCH_VALUE_ROLES:
        return "list of Weights, Inputs, Outputs";
    case ARCH_VALUE_SHAPE:
        return "`[1024, 1024, 64]`";
    case ARCH_VALUE_QUANTITY:
        break;
    }
    switch (field->unit) {
    case UNIT_BYTE:
        if (field->other_unit < 0)
            return "`64 KiB`";
        return field->property & ARCH_UNBOUNDED ? "`128 KiB`, `64 word`, unlimited" : "`128 KiB`, `64 word`";
    case UNIT_BYTE_PER_S:
        return "`16 GB/s`, `16 word/cycle`, unlimited";
    case UNIT_BIT:
        return "`8 bit`";
    case UNIT_WORD:
        return "`8 word`";
    case UNIT_JOULE:
        return "`0.8 pJ`";
    case UNIT_HERTZ:
        return "`1 GHz`";
    case UNIT_CYCLE:
        return "`3 cycle`";
    case UNIT_WATT:
        return "`3 mW`";
    case UNIT_MM2:
        return "`0.3 mm2`";
    default:
        return "quantity";
    }
}

/* "1 .. 64", in the unit people read. */
static void append_range(struct text_buffer *out, const struct arch_field *field)
{
    char low[64], high[64];
    if (field->highest <= field->lowest)
        return;
    if (field->kind == ARCH_VALUE_QUANTITY) {
        quantity_print(field->lowest, (enum unit_kind)field->unit, low, sizeof low);
        quantity_print(field->highest, (enum unit_kind)field->unit, high, sizeof high);
    } else {
        text_double(field->lowest, low, sizeof low);
        text_double(field->highest, high, sizeof high);
    }
    if (field->property & ARCH_POSITIVE && field->lowest <= 0)
        text_append(out, "more than 0, up to %s", high);
    else
        text_append(out, "%s to %s", low, high);
}

/* The table as Markdown, one table per section. */
static void print_schema(struct text_buffer *out)
{
    const struct arch_field *schema = architecture_schema();
    static const char *const title[ARCH_SECTION_COUNT] = {"The file", "A `storage` entry", "An `array` entry",
                                                          "The `macs` entry", "A `group` entry"};
    for (int s = 0; s < ARCH_SECTION_COUNT; s++) {
        text_append(out,
                    "%s### %s\n\n| key | written as | range | default | meaning |\n|---|---|---|---|---|\n",
                    s > 0 ? "\n" : "", title[s]);
        for (int f = 0; f < architecture_n_field(); f++) {
            char list[128];
            if (schema[f].section != (enum arch_section)s)
                continue;
            text_append(out, "| `%s` | %s | ", schema[f].key, accepted_words(&schema[f], list, sizeof list));
            append_range(out, &schema[f]);
            text_append(out, " | %s | %s |\n",
                        schema[f].property & ARCH_REQUIRED ? "required" : schema[f].fallback,
                        schema[f].sentence);
        }
    }
}

/* docs/architectures.md holds the table of the schema word for word. */
static void test_documentation_shows_the_schema(void **state)
{
    (void)state;
    const size_t size = 1 << 16;
    char *page = malloc(size);
    struct text_buffer table;
    FILE *file = fopen("docs/architectures.md", "rb");
    assert_non_null(page);
    assert_non_null(file);
    size_t length = fread(page, 1, size - 1, file);
    fclose(file);
    page[length] = '\0';
    text_init(&table);
    print_schema(&table);
    assert_false(table.failed);
    if (!strstr(page, table.data)) { /* the table is longer than a message of cmocka */
        fputs(table.data, stdout);
        fail_msg("docs/architectures.md must contain this");
    }
    text_free(&table);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documentation_shows_the_schema)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
