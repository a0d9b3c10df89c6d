/* Option values from text: ranges, yes or no, choices; an unknown name or value gets the nearest one and
 * what is accepted. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/text.h"
#include "engines/driver/engine.h"

enum { OPTION_LIST_MAX = 32, OPTION_TEXT_MAX = 64 };

const char *engine_stop_text(enum engine_stop stop)
{
    static const char *const text[] = {
#define ENGINE_STOP_TEXT(code, words) [code] = words,
        ENGINE_STOP_LIST(ENGINE_STOP_TEXT)
#undef ENGINE_STOP_TEXT
    };
    return (size_t)stop < sizeof text / sizeof text[0] ? text[stop] : "unknown";
}

double engine_file_id(const void *bytes, size_t n_byte)
{
    const uint64_t whole_double = (UINT64_C(1) << 53) - 1;
    uint64_t id = hash_of_bytes(bytes, n_byte) & whole_double;
    return id ? (double)id : 1;
}

void engine_option_defaults(const struct engine *engine, double *value)
{
    for (size_t i = 0; i < engine->n_option; i++)
        value[i] = engine->option[i].standard;
}

/* "0 to 64", "yes or no", "a, b, c" */
static void accepted_print(const struct engine_option *option, char *buffer, size_t size)
{
    char low[OPTION_TEXT_MAX], high[OPTION_TEXT_MAX];
    size_t used = 0;
    switch (option->kind) {
    case OPTION_BOOL:
        (void)snprintf(buffer, size, "true or false");
        break;
    case OPTION_CHOICE:
        buffer[0] = '\0';
        for (size_t i = 0; i <= (size_t)option->highest && used < size; i++)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", option->choice[i]);
        break;
    case OPTION_FILE:
        (void)snprintf(buffer, size, "a file");
        break;
    case OPTION_INTEGER:
    case OPTION_REAL:
        (void)snprintf(
            buffer, size, "%s %s to %s", option->kind == OPTION_INTEGER ? "an integer" : "a number",
            text_double(option->lowest, low, sizeof low), text_double(option->highest, high, sizeof high));
        break;
    }
}

static bool parse_bool(const char *text, double *value)
{
    static const char *const yes[] = {"true", "yes", "on", "1"};
    static const char *const no[] = {"false", "no", "off", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *value = strcasecmp(text, yes[i]) == 0;
            return true;
        }
    return false;
}

/* One of the words; where they are yes and no, among others, a switch in any spelling. */
static bool parse_choice(const struct engine_option *option, const char *text, double *value)
{
    double on = 0;
    const char *word = parse_bool(text, &on) ? (on != 0 ? "yes" : "no") : text;
    for (size_t i = 0; i <= (size_t)option->highest; i++)
        if (strcmp(text, option->choice[i]) == 0 || strcmp(word, option->choice[i]) == 0) {
            *value = (double)i;
            return true;
        }
    return false;
}

static bool parse_value(const struct engine_option *option, const char *text, double *value)
{
    switch (option->kind) {
    case OPTION_BOOL:
        return parse_bool(text, value);
    case OPTION_CHOICE:
        return parse_choice(option, text, value);
    case OPTION_FILE: /* it is opened by who keeps what was read */
        *value = 0;
        return strcmp(text, "none") == 0;
    case OPTION_INTEGER:
    case OPTION_REAL:
        return text_parse_double(text, value) && *value >= option->lowest && *value <= option->highest &&
               (option->kind == OPTION_REAL || *value == floor(*value));
    }
    return false;
}

static enum dse_status unknown_option(const char *owner, const struct engine_option *option, size_t n_option,
                                      const char *name, struct dse_error *err)
{
    const char *known[OPTION_LIST_MAX] = {NULL};
    char list[DSE_ERROR_TEXT_MAX / 2] = "";
    size_t n = 0, used = 0;
    for (; n < n_option && n < OPTION_LIST_MAX; n++) {
        known[n] = option[n].name;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", n ? ", " : "", known[n]);
    }
    const char *nearest = text_nearest(name, known, n);
    if (nearest)
        return dse_fail(err, DSE_BAD_INPUT, "%s has no option \"%.80s\"; did you mean \"%s\"?", owner, name,
                        nearest);
    return dse_fail(err, DSE_BAD_INPUT, "%s has no option \"%.80s\"; it has %s", owner, name,
                    n ? list : "none");
}

enum dse_status option_set(const char *owner, const struct engine_option *option, size_t n_option,
                           const char *name, const char *text, double *value, struct dse_error *err)
{
    for (size_t i = 0; i < n_option; i++) {
        double parsed;
        if (strcmp(name, option[i].name) != 0)
            continue;
        if (parse_value(&option[i], text, &parsed)) {
            value[i] = parsed;
            return DSE_OK;
        }
        char accepted[DSE_ERROR_TEXT_MAX / 2];
        accepted_print(&option[i], accepted, sizeof accepted);
        return dse_fail(err, DSE_BAD_INPUT, "option %s of %s is \"%.80s\"; accepted: %s", name, owner, text,
                        accepted);
    }
    return unknown_option(owner, option, n_option, name, err);
}

enum dse_status engine_option_set(const struct engine *engine, const char *name, const char *text,
                                  double *value, struct dse_error *err)
{
    char owner[OPTION_TEXT_MAX];
    (void)snprintf(owner, sizeof owner, "engine %s", engine->name);
    return option_set(owner, engine->option, engine->n_option, name, text, value, err);
}

char *engine_option_print(const struct engine_option *option, double value, char *buffer, size_t size)
{
    char number[OPTION_TEXT_MAX];
    switch (option->kind) {
    case OPTION_BOOL:
        (void)snprintf(buffer, size, "%s", value != 0 ? "true" : "false");
        break;
    case OPTION_CHOICE:
        (void)snprintf(buffer, size, "%s", option->choice[(size_t)value]);
        break;
    case OPTION_FILE:
        if (value == 0)
            (void)snprintf(buffer, size, "none");
        else
            (void)snprintf(buffer, size, "%014" PRIx64, (uint64_t)value);
        break;
    case OPTION_INTEGER:
        (void)snprintf(buffer, size, "%.0f", value);
        break;
    case OPTION_REAL:
        (void)snprintf(buffer, size, "%s", text_double(value, number, sizeof number));
        break;
    }
    return buffer;
}
