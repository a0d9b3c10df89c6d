/* Fills `struct dse_error` and prints it as "FILE:LINE: message"; control characters in quoted texts are
 * replaced. */
#include "base/status.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *dse_status_text(enum dse_status status)
{
    switch (status) {
#define DSE_STATUS_CASE(code, text)                                                                          \
    case code:                                                                                               \
        return text;
        DSE_STATUS_LIST(DSE_STATUS_CASE)
#undef DSE_STATUS_CASE
    }
    return "unknown status";
}

static void fill(struct dse_error *err, enum dse_status status, const char *file, int line)
{
    err->status = status;
    err->line = line;
    text_copy(err->file, sizeof err->file, file);
}

/* Texts quote what users wrote: a control character could play with the terminal or break a line of the
 * journal. */
__attribute__((format(printf, 2, 0))) static void put_text(struct dse_error *err, const char *format,
                                                           va_list args)
{
    vsnprintf(err->text, sizeof err->text, format, args);
    for (char *at = err->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
}

enum dse_status dse_fail(struct dse_error *err, enum dse_status status, const char *format, ...)
{
    if (err) {
        fill(err, status, "", 0);
        va_list args;
        va_start(args, format);
        put_text(err, format, args);
        va_end(args);
    }
    return status;
}

enum dse_status dse_fail_at(struct dse_error *err, enum dse_status status, const char *file, int line,
                            const char *format, ...)
{
    if (err) {
        /* `file` may be err->file itself: text_copy allows that. */
        fill(err, status, file ? file : "", line);
        va_list args;
        va_start(args, format);
        put_text(err, format, args);
        va_end(args);
    }
    return status;
}

enum dse_status dse_while_reading(const char *file, enum dse_status status, struct dse_error *err)
{
    if (err && status == DSE_NO_MEMORY && err->file[0] == '\0')
        fill(err, status, file, 0);
    return status;
}

char *dse_error_print(const struct dse_error *err, char *buffer, unsigned long size)
{
    if (size == 0)
        return buffer;
    const char *text = err->text[0] != '\0' ? err->text : dse_status_text(err->status);
    if (err->file[0] == '\0')
        snprintf(buffer, size, "%s", text);
    else if (err->line <= 0)
        snprintf(buffer, size, "%s: %s", err->file, text);
    else
        snprintf(buffer, size, "%s:%d: %s", err->file, err->line, text);
    return buffer;
}

static bool is_of_input(enum dse_status status)
{
    return status == DSE_BAD_INPUT || status == DSE_BAD_USAGE || status == DSE_IO || status == DSE_LIMIT;
}

/* Behind the number of a repetition: of "b12.conv", which `at` begins with a digit of, ".conv". NULL: it is
 * no such number. */
static const char *behind_number(const char *from, const char *at)
{
    if (at == from || !(isalpha((unsigned char)at[-1]) || at[-1] == '_') || !isdigit((unsigned char)*at))
        return NULL;
    while (isdigit((unsigned char)*at))
        at++;
    return *at == '.' ? at : NULL;
}

/* The same words, but for the numbers of a block's repetitions (b1.conv, b2.conv). */
static bool are_alike(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        const char *past_x = behind_number(a, x), *past_y = behind_number(b, y);
        if (past_x && past_y) {
            x = past_x;
            y = past_y;
        } else if (*x++ != *y++)
            return false;
    }
    return *x == *y;
}

static bool is_repeated(const struct dse_error *a, const struct dse_error *b)
{
    return strcmp(a->file, b->file) == 0 &&
           (a->line == b->line && a->line > 0 ? are_alike(a->text, b->text) : strcmp(a->text, b->text) == 0);
}

enum dse_status dse_note(struct dse_faults *faults, enum dse_status status, struct dse_error *err)
{
    if (!faults || !is_of_input(status))
        return status;
    size_t n_kept = faults->n < DSE_FAULT_MAX ? faults->n : DSE_FAULT_MAX;
    bool is_there = false;
    for (size_t i = 0; i < n_kept; i++)
        is_there |= is_repeated(&faults->fault[i], err);
    if (!is_there && faults->n < DSE_FAULT_MAX)
        faults->fault[faults->n] = *err;
    faults->n += !is_there;
    faults->n_noted++;
    *err = (struct dse_error){0};
    return DSE_OK;
}

size_t dse_faults_count(const struct dse_faults *faults)
{
    return faults ? faults->n_noted : 0;
}
