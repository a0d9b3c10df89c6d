/* Making, freeing and counting; setting and testing a bit are inline in the header. */
#include "base/bits.h"

#include <stdlib.h>

int bits_init(struct bits *bits, size_t n)
{
    bits->n = n;
    bits->word = calloc(n / 64 + 1, sizeof *bits->word);
    return bits->word != NULL;
}

void bits_free(struct bits *bits)
{
    free(bits->word);
    bits->word = NULL;
    bits->n = 0;
}
