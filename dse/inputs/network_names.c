/* Splits from the left, the longest name first. */
#include "dse/inputs/network_names.h"

#include <string.h>

/* The length of the first name: up to the last "+" before which there is a network, else up to the first. */
static size_t first_length(const char *name, network_is_there *is_there, void *user, struct arena *arena)
{
    char *text = arena_copy_text(arena, name, strlen(name));
    for (size_t length = strlen(name); text && length > 0; length--)
        if (name[length] == '\0' || name[length] == '+') {
            text[length] = '\0';
            if (is_there(user, text))
                return length;
        }
    return strcspn(name, "+");
}

enum dse_status network_names(const char *name, network_is_there *is_there, void *user, struct arena *arena,
                              const char *const **part, size_t *n, struct dse_error *err)
{
    size_t n_most = 1;
    for (const char *at = name; (at = strchr(at, '+')) != NULL; at++)
        n_most++;
    const char **found = arena_alloc(arena, n_most, sizeof *found);
    DSE_TRY(arena_check(arena, "the names of networks", err));
    *n = 0;
    *part = found;
    for (bool more = true; more;) {
        const size_t length = n_most == 1 ? strlen(name) : first_length(name, is_there, user, arena);
        found[(*n)++] = arena_copy_text(arena, name, length);
        DSE_TRY(arena_check(arena, "the names of networks", err));
        more = name[length] == '+';
        name += length + more;
    }
    return DSE_OK;
}
