/* Growth of an array by doubling, said once. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

void *array_grow(void *old, size_t n, size_t *capacity, size_t size)
{
    if (old && n <= *capacity)
        return old;
    size_t wanted = *capacity ? *capacity : FIRST_CAPACITY;
    while (wanted < n && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    if (wanted < n || (size && wanted > SIZE_MAX / size))
        return NULL;
    void *grown = realloc(old, wanted * size);
    if (grown)
        *capacity = wanted;
    return grown;
}
