/* Rules as lines of text, and as a YAML list in which each constraint has the line number it had in its
 * file. */
#include "costmodel/model/machine_rules.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN = 256 };

void machine_rules_begin(struct text_buffer *rules, const char *path)
{
    const char *end = path + strlen(path);
    for (const char *at = end - path < PATH_SHOWN ? path : end - PATH_SHOWN; at < end; at++)
        text_append(rules, "%c", (unsigned char)*at < ' ' || *at == 127 ? '?' : *at);
    text_append(rules, "\n");
}

/* The rule with the least line above `line`, or the next one on it behind `last`; NULL: none. */
static const char *next_rule(const char *rules, unsigned long line, const char *last, unsigned long *found)
{
    const char *best = NULL;
    for (const char *at = rules; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const unsigned long here = strtoul(at, NULL, 10);
        if ((here > line || (here == line && at > last)) && (!best || here < *found)) {
            best = at;
            *found = here;
        }
    }
    return best;
}

enum dse_status machine_rules_parse(const char *rules, struct yaml_doc *doc, struct dse_error *err)
{
    struct text_buffer text;
    char path[PATH_SHOWN + 1];
    const char *body = rules + strcspn(rules, "\n"), *last = rules;
    unsigned long line = 1, at = 0;
    body += *body == '\n';
    text_copy(path, sizeof path, rules);
    path[strcspn(path, "\n")] = '\0';
    text_init(&text);
    text_append(&text, "[");
    for (const char *rule = next_rule(body, 0, last, &at); rule; rule = next_rule(body, at, last, &at)) {
        const char *constraint = rule + strcspn(rule, " \n");
        for (; line < at; line++)
            text_append(&text, "\n");
        text_append_bytes(&text, constraint, strcspn(constraint, "\n"));
        text_append(&text, ",");
        last = rule;
    }
    text_append(&text, "]");
    enum dse_status status = text_check(&text, "the constraints of a machine", err);
    if (status == DSE_OK)
        status = yaml_parse(doc, path, text.data, text.length, err);
    text_free(&text);
    return status;
}
