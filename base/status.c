/* Fills `struct dse_error` and prints it as "FILE:LINE: message"; control characters in quoted texts are
 * replaced. */
#include "base/status.h"

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

enum dse_status dse_note(struct dse_faults *faults, enum dse_status status, struct dse_error *err)
{
    if (!faults || !is_of_input(status))
        return status;
    size_t n_kept = faults->n < DSE_FAULT_MAX ? faults->n : DSE_FAULT_MAX;
    bool is_there = false;
    for (size_t i = 0; i < n_kept; i++)
        is_there |=
            strcmp(faults->fault[i].text, err->text) == 0 && strcmp(faults->fault[i].file, err->file) == 0;
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
