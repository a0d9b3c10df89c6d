/* From options to texts of mappings: which there are, which are asked for, whether they can be had. */
#include "dse/report/mapping_texts.h"

#include <string.h>

bool mapping_text_flag_at(size_t i, struct cli_option *option)
{
    size_t n;
    const struct mapping_text *const *text = mapping_text_all(&n);
    if (i < n)
        *option = (struct cli_option){text[i]->name, 0, NULL, text[i]->sentence};
    return i < n;
}

void mapping_texts_asked(const struct cli_args *args, struct mapping_texts *texts)
{
    size_t n;
    const struct mapping_text *const *text = mapping_text_all(&n);
    texts->n = 0;
    for (size_t i = 0; i < n && texts->n < MAPPING_TEXT_MAX; i++)
        if (cli_has(args, text[i]->name))
            texts->text[texts->n++] = text[i];
}

/* The reason of the first problem when none is accepted. */
static enum dse_status accepted(const struct mapping_text *text, const struct problem *problem, size_t n,
                                const struct architecture *arch, struct dse_error *err)
{
    struct dse_error why = {0}, other;
    enum dse_status status = DSE_OK;
    for (size_t p = 0; text->accepts && p < n; p++) {
        enum dse_status now = text->accepts(&problem[p], arch, p ? &other : &why);
        if (now == DSE_OK)
            return DSE_OK;
        status = p ? status : now;
    }
    return status == DSE_OK ? DSE_OK : dse_fail(err, status, "--%s: %s", text->name, why.text);
}

enum dse_status mapping_texts_check(const struct mapping_texts *texts, const struct problem *problem,
                                    size_t n, const struct architecture *arch, const char *format,
                                    struct dse_error *err)
{
    for (size_t i = 0; i < texts->n; i++) {
        const struct mapping_text *text = texts->text[i];
        bool is_csv = strcmp(format, "csv") == 0;
        DSE_TRY(accepted(text, problem, n, arch, err));
        if (strcmp(format, "table") != 0 && !(is_csv && text->csv_row))
            return dse_fail(err, DSE_BAD_USAGE, "--%s prints a table%s, not %s", text->name,
                            text->csv_row ? " or csv" : "", format);
    }
    return DSE_OK;
}

void mapping_texts_write(const struct mapping_texts *texts, const struct mapping *mapping,
                         const struct problem *problem, const struct architecture *arch,
                         struct text_buffer *out)
{
    for (size_t i = 0; i < texts->n; i++) {
        const struct mapping_text *text = texts->text[i];
        struct dse_error why;
        if (text->accepts && text->accepts(problem, arch, &why) != DSE_OK)
            text_append(out, "%s\n", why.text);
        else
            text->write(mapping, problem, arch, out);
    }
}

void mapping_texts_row(const struct mapping_texts *texts, const struct mapping *mapping,
                       const struct problem *problem, const struct architecture *arch,
                       struct text_buffer *out)
{
    texts->text[0]->csv_header(out);
    text_append(out, "\n");
    texts->text[0]->csv_row(mapping, problem, arch, out);
    text_append(out, "\n");
}
