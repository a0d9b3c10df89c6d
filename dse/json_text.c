#include "dse/json_text.h"

#include <stdlib.h>

enum dse_status json_text_append(json_t *root, int good, struct text_buffer *out, struct dse_error *err)
{
    char *text = good && root ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(root);
    if (!text)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the JSON output");
    text_append(out, "%s\n", text);
    free(text);
    return DSE_OK;
}
