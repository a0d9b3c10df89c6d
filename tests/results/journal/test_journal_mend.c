/* What an editor or a damaged block does to a whole table is put right byte for byte, and nothing else is. */
#include "results/journal/journal_mend.h"
#include "tests/results/journal_place.h"

/* The journal's bytes with one fault; owned by the caller. */
static char *damaged(const char *whole, int fault)
{
    const char *body = strchr(whole, '\n') + 1;
    char *text = calloc(2 * strlen(whole) + 8, 1), *to = text;
    assert_non_null(text);
    switch (fault) {
    case 0: /* a byte order mark */
        sprintf(text, "\xef\xbb\xbf%s", whole);
        break;
    case 1: /* Windows line ends, and the mark */
        to += sprintf(to, "\xef\xbb\xbf");
        for (const char *at = whole; *at; at++) {
            if (*at == '\n')
                *to++ = '\r';
            *to++ = *at;
        }
        break;
    case 2: /* a byte of the header is another */
        strcpy(text, whole);
        text[3] ^= 1;
        break;
    case 3: /* the header's first block is zeros */
        sprintf(text, "garbage\n%s", body);
        break;
    case 4: /* no header */
        strcpy(text, body);
        break;
    }
    return text;
}

static void test_journal_mend_gives_back_the_bytes(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    bool changed = true;
    make_cells(&place, 8);
    const char *path[] = {place.csv, place.layers};
    for (int table = 0; table < 2; table++) {
        const enum result_table kind = table == 0 ? RESULT_POINTS : RESULT_LAYERS;
        char *whole = files_read(path[table], NULL);
        assert_int_equal(journal_mend(path[table], &sample_schema, kind, &changed, &err), DSE_OK);
        assert_false(changed);
        for (int fault = 0; fault < 5; fault++) {
            char *text = damaged(whole, fault);
            files_write(path[table], text, strlen(text));
            assert_int_equal(journal_mend(path[table], &sample_schema, kind, &changed, &err), DSE_OK);
            assert_true(changed);
            char *mended = files_read(path[table], NULL);
            assert_string_equal(mended, whole);
            free(mended);
            free(text);
        }
        free(whole);
    }
    remove_place(&place);
}

/* Another table's rows, rows beside the axes, and no rows at all do not get our header. */
static void test_journal_mend_leaves_what_is_not_ours(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    struct result_axis axis[3];
    struct result_schema other = sample_schema;
    static const double elsewhere[SAMPLE_BUFFER] = {1, 2, 3};
    struct result_coordinate moved = sample_coordinate[0];
    bool changed = true;
    make_cells(&place, 8);
    moved.name = "other";
    moved.number = elsewhere;
    memcpy(axis, sample_axis, sizeof axis);
    axis[0].coordinate = &moved;
    other.axis = axis;
    assert_int_equal(journal_mend(place.csv, &other, RESULT_POINTS, &changed, &err), DSE_OK);
    assert_false(changed);
    assert_int_equal(journal_mend(place.csv, &sample_schema, RESULT_LAYERS, &changed, &err), DSE_OK);
    assert_false(changed);
    files_write(place.csv, "precious\n", 9);
    assert_int_equal(journal_mend(place.csv, &sample_schema, RESULT_POINTS, &changed, &err), DSE_OK);
    assert_false(changed);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_mend_gives_back_the_bytes),
        cmocka_unit_test(test_journal_mend_leaves_what_is_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
