/* One value of the native format: text to number, by its row of the schema. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/model/problem.h"
#include "costmodel/native/architecture_native.h"

/* A scalar that stands in no file, so that the getters of base/yaml.h give the message and the caller the
 * place. */
struct loose_scalar {
    struct yaml_doc doc;
    struct ynode node;
    char path[1];
};

static void loose_init(struct loose_scalar *loose, const char *text)
{
    memset(loose, 0, sizeof *loose);
    loose->doc.path = loose->path;
    loose->node.kind = YNODE_SCALAR;
    loose->node.text = text;
    loose->doc.root = &loose->node;
}

static enum dse_status check_properties(const struct arch_field *field, const char *what, const char *text,
                                        double number, struct dse_error *err)
{
    if (field->property & ARCH_POSITIVE && !(number > 0))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is zero; it must be more than 0", what, text);
    if (field->property & ARCH_WHOLE && floor(number) != number)
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is not a whole number", what, text);
    return DSE_OK;
}

/* A number in `unit`, without a message; what is out of range is no number here. */
static bool number_in(const struct arch_field *field, const char *text, int unit, double lowest,
                      double highest, struct arch_value *value)
{
    double number = 0;
    if (quantity_parse(text, (enum unit_kind)unit, "", &number, NULL) != DSE_OK || number < lowest ||
        number > highest || check_properties(field, "", text, number, NULL) != DSE_OK)
        return false;
    value->unit = unit;
    value->number = number;
    return true;
}

/* Why number_in said no. */
static enum dse_status fail_quantity(const struct arch_field *field, const char *what,
                                     const struct loose_scalar *loose, struct dse_error *err)
{
    const char *text = loose->node.text;
    enum unit_kind unit = (enum unit_kind)field->unit;
    struct dse_error inner;
    double number = 0, highest = field->highest, lowest = field->lowest;
    if (field->other_unit >= 0 &&
        quantity_parse(text, (enum unit_kind)field->other_unit, what, &number, NULL) == DSE_OK) {
        unit = (enum unit_kind)field->other_unit;
        lowest = 0;
        highest = 0x1p53;
    }
    if (quantity_parse(text, unit, what, &number, NULL) == DSE_OK) {
        DSE_TRY(check_properties(field, what, text, number, err));
        return yaml_quantity(&loose->doc, &loose->node, what, unit, lowest, highest, &number, err);
    }
    if (yaml_quantity(&loose->doc, &loose->node, what, unit, lowest, highest, &number, &inner) == DSE_OK)
        return DSE_OK;
    const char *other = field->other_unit == UNIT_WORD             ? ", or words such as 64 word"
                        : field->other_unit == UNIT_WORD_PER_CYCLE ? ", or a rate such as 16 word/cycle"
                                                                   : "";
    return dse_fail(err, DSE_BAD_INPUT, "%s%s%s", inner.text, other,
                    field->property & ARCH_UNBOUNDED ? ", or unlimited" : "");
}

static enum dse_status parse_quantity(const struct arch_field *field, const char *what,
                                      const struct loose_scalar *loose, struct arch_value *value,
                                      struct dse_error *err)
{
    const char *text = loose->node.text;
    if (field->property & ARCH_UNBOUNDED && strcmp(text, "unlimited") == 0) {
        value->number = INFINITY;
        return DSE_OK;
    }
    if (number_in(field, text, field->unit, field->lowest, field->highest, value) ||
        (field->other_unit >= 0 && number_in(field, text, field->other_unit, 0, 0x1p53, value)))
        return DSE_OK;
    return fail_quantity(field, what, loose, err);
}

static enum dse_status parse_number(const struct arch_field *field, const char *what,
                                    const struct loose_scalar *loose, struct arch_value *value,
                                    struct dse_error *err)
{
    DSE_TRY(yaml_double(&loose->doc, &loose->node, what, field->lowest, field->highest, &value->number, err));
    return check_properties(field, what, loose->node.text, value->number, err);
}

/* "4x4" or "4 x 4": columns, then rows. */
static enum dse_status parse_mesh(const struct arch_field *field, const char *what, const char *text,
                                  struct arch_value *value, struct dse_error *err)
{
    char copy[64];
    char *x = text_copy(copy, sizeof copy, text) ? strchr(copy, 'x') : NULL;
    if (!x)
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%.60s\" is not a mesh; write columns x rows, such as 4x4",
                        what, text);
    char *rows = x + 1 + strspn(x + 1, " ");
    *x = '\0';
    while (x > copy && x[-1] == ' ')
        *--x = '\0';
    if (!text_parse_u64(copy, &value->x) || !text_parse_u64(rows, &value->y))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is not a mesh; write columns x rows, such as 4x4",
                        what, text);
    if (value->x < 1 || value->y < 1 || (double)value->x > field->highest ||
        (double)value->y > field->highest)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: \"%s\" is out of range; columns and rows must be from 1 to %.0f", what, text,
                        field->highest);
    return DSE_OK;
}

static const char *const role_word[TENSOR_ROLE_COUNT] = {
    [TENSOR_WEIGHT] = "Weights", [TENSOR_INPUT] = "Inputs", [TENSOR_OUTPUT] = "Outputs"};

/* The role of that word, or TENSOR_ROLE_COUNT. */
static size_t find_role(const char *word)
{
    size_t r = 0;
    while (r < TENSOR_ROLE_COUNT && strcmp(word, role_word[r]) != 0)
        r++;
    return r;
}

/* One word of a roles list sets its bit. */
static enum dse_status parse_role(const char *what, const struct loose_scalar *loose,
                                  struct arch_value *value, struct dse_error *err)
{
    size_t index = 0;
    DSE_TRY(yaml_choice(&loose->doc, &loose->node, what, role_word, TENSOR_ROLE_COUNT, &index, err));
    if (value->roles >> index & 1)
        return dse_fail(err, DSE_BAD_INPUT, "%s names %s twice", what, role_word[index]);
    value->roles |= UINT64_C(1) << index;
    return DSE_OK;
}

/* The name of a tensor; what is nearly a role is taken for one that is misspelt. */
static enum dse_status check_tensor(const char *what, const char *word, const char *const *before,
                                    size_t n_before, struct dse_error *err)
{
    const char *near = text_nearest(word, role_word, TENSOR_ROLE_COUNT);
    if (near)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s: unknown tensor \"%.60s\"; did you mean \"%s\"? (names of other tensors must differ "
            "more from it)",
            what, word, near);
    if (strlen(word) >= ARCH_NAME_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "%s: a name has at most %d letters, \"%.60s...\" has %zu", what,
                        ARCH_NAME_MAX - 1, word, strlen(word));
    for (size_t i = 0; i < n_before; i++)
        if (strcmp(before[i], word) == 0)
            return dse_fail(err, DSE_BAD_INPUT, "%s names %s twice", what, word);
    if (n_before == PROBLEM_TENSOR_MAX)
        return dse_fail(err, DSE_LIMIT, "%s names more than %d tensors", what, PROBLEM_TENSOR_MAX);
    return DSE_OK;
}

const char *arch_value_tensor(const struct arch_value *value, size_t i, char name[ARCH_NAME_MAX])
{
    for (size_t k = 0; value->list && k < value->list->n_item; k++) {
        const char *word = value->list->item[k]->text;
        if (find_role(word) == TENSOR_ROLE_COUNT && i-- == 0)
            return word;
    }
    for (const char *at = value->words; at && *(at += strspn(at, "[], ")); at += strcspn(at, "[], ")) {
        snprintf(name, ARCH_NAME_MAX, "%.*s", (int)strcspn(at, "[], "), at);
        if (find_role(name) == TENSOR_ROLE_COUNT && i-- == 0)
            return name;
    }
    return NULL;
}

/* "[Weights, Inputs]", with or without the brackets: an override is text, not a YAML list. With `names` also
 * names of tensors. */
static enum dse_status parse_roles(const char *what, const char *text, bool names, struct arch_value *value,
                                   struct dse_error *err)
{
    const char *name[PROBLEM_TENSOR_MAX];
    size_t n_name = 0;
    char copy[128];
    char *rest = NULL;
    if (!text_copy(copy, sizeof copy, text))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%.60s...\" is too long for a list of tensors", what, text);
    for (char *word = strtok_r(copy, "[], ", &rest); word; word = strtok_r(NULL, "[], ", &rest)) {
        struct loose_scalar loose;
        loose_init(&loose, word);
        if (names && find_role(word) == TENSOR_ROLE_COUNT) {
            DSE_TRY(check_tensor(what, word, name, n_name, err));
            name[n_name++] = word;
            continue;
        }
        DSE_TRY(parse_role(what, &loose, value, err));
    }
    value->words = text;
    if (value->roles == 0 && n_name == 0)
        return dse_fail(err, DSE_BAD_INPUT, "%s is empty; name at least one of Weights, Inputs, Outputs",
                        what);
    return DSE_OK;
}

/* "[1024, 1024, 64]", with or without the brackets. */
static enum dse_status parse_shape(const struct arch_field *field, const char *what, const char *text,
                                   struct arch_value *value, struct dse_error *err)
{
    char copy[128];
    char *rest = NULL;
    uint64_t size[3];
    int n = 0;
    if (!text_copy(copy, sizeof copy, text))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%.60s...\" is too long for three sizes", what, text);
    for (char *word = strtok_r(copy, "[], ", &rest); word; word = strtok_r(NULL, "[], ", &rest), n++) {
        if (n < 3 && !text_parse_u64(word, &size[n]))
            return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is not a whole number", what, word);
        if (n < 3 && (size[n] < 1 || (double)size[n] > field->highest))
            return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is out of range; a size must be from 1 to %.0f",
                            what, word, field->highest);
    }
    if (n != 3)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s has %d size%s; write the largest x, y and z, such as [1024, 1024, 64]", what, n,
                        n == 1 ? "" : "s");
    value->x = size[0];
    value->y = size[1];
    value->z = size[2];
    return DSE_OK;
}

static enum dse_status parse_switch(const char *what, const struct loose_scalar *loose,
                                    struct arch_value *value, struct dse_error *err)
{
    bool on = false;
    DSE_TRY(yaml_bool(&loose->doc, &loose->node, what, &on, err));
    value->number = on;
    return DSE_OK;
}

static enum dse_status parse_choice(const struct arch_field *field, const char *what,
                                    const struct loose_scalar *loose, struct arch_value *value,
                                    struct dse_error *err)
{
    size_t n = 0, index = 0;
    while (field->choice[n])
        n++;
    DSE_TRY(yaml_choice(&loose->doc, &loose->node, what, field->choice, n, &index, err));
    value->number = (double)index;
    return DSE_OK;
}

enum dse_status arch_value_parse(const struct arch_field *field, const char *what, const char *text,
                                 struct arch_value *value, struct dse_error *err)
{
    struct loose_scalar loose;
    loose_init(&loose, text);
    *value = (struct arch_value){.unit = field->unit};
    switch (field->kind) {
    case ARCH_VALUE_QUANTITY:
        return parse_quantity(field, what, &loose, value, err);
    case ARCH_VALUE_NUMBER:
        return parse_number(field, what, &loose, value, err);
    case ARCH_VALUE_SWITCH:
        return parse_switch(what, &loose, value, err);
    case ARCH_VALUE_CHOICE:
        return parse_choice(field, what, &loose, value, err);
    case ARCH_VALUE_MESH:
        return parse_mesh(field, what, text, value, err);
    case ARCH_VALUE_ROLES:
    case ARCH_VALUE_TENSORS:
        return parse_roles(what, text, field->kind == ARCH_VALUE_TENSORS, value, err);
    case ARCH_VALUE_SHAPE:
        return parse_shape(field, what, text, value, err);
    case ARCH_VALUE_NAME:
        value->text = text;
        return DSE_OK;
    case ARCH_VALUE_PART:
        break;
    }
    return dse_fail(err, DSE_BAD_INPUT, "%s is not a quantity", what);
}
