/* Where the searches of a sweep run, and what contains them there. */
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "dse/spec/sweep.h"

static const double grace_standard_s = 10;

/* "auto", "thread" or "process"; returns false for any other word. */
static bool find_isolation(const char *word, enum isolation *isolation)
{
    static const char *const words[] = {"auto", "thread", "process"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) {
            *isolation = (enum isolation)i;
            return true;
        }
    return false;
}

enum dse_status sweep_isolation(struct sweep *sweep, struct dse_error *err)
{
    const double memory_lowest_byte = 1 << 20, memory_highest_byte = 1e15;
    const struct sweep_spec *spec = sweep->spec;
    struct dse_error inner = {0};
    double byte = 0;
    char shown[96];
    sweep->grace_s = grace_standard_s;
    if (spec->isolation.text && !find_isolation(spec->isolation.text, &sweep->isolation))
        return spec_fail(spec, &spec->isolation, err, "isolation %s: auto, thread or process is expected",
                         text_excerpt(spec->isolation.text, shown, sizeof shown));
    if (spec->grace_seconds.text &&
        (!text_parse_double(spec->grace_seconds.text, &sweep->grace_s) || !(sweep->grace_s >= 0)))
        return spec_fail(spec, &spec->grace_seconds, err,
                         "limits.grace_seconds %s: a number of seconds is expected",
                         text_excerpt(spec->grace_seconds.text, shown, sizeof shown));
    if (!spec->max_memory.text)
        return DSE_OK;
    if (quantity_parse(spec->max_memory.text, UNIT_BYTE, "limits.max_memory", &byte, &inner) != DSE_OK)
        return spec_blame(spec, &spec->max_memory, &inner, err);
    if (!(byte >= memory_lowest_byte && byte <= memory_highest_byte))
        return spec_fail(
            spec, &spec->max_memory, err,
            "limits.max_memory %s: from 1 MiB to 1000 TB is expected; without the key there is no limit",
            text_excerpt(spec->max_memory.text, shown, sizeof shown));
    if (sweep->isolation == ISOLATION_THREAD)
        return spec_fail(spec, &spec->max_memory, err,
                         "limits.max_memory needs worker processes; isolation: thread forbids them");
    sweep->max_memory_byte = (uint64_t)byte;
    return DSE_OK;
}
