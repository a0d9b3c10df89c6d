/* Damaged result files through the guard: the input is a list of changes (3 bytes of position, 1 of value)
 * to one of the files of hdf5_base.h, or the length that it is cut to. Whatever HDF5 does with it, this
 * process must live and end. */
#include "tests/fuzz/hdf5_base.h"

enum { TRIAL_S = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hdf5_base base;
    struct dse_error err;
    if (size < 2)
        return 0;
    if (!base.byte[0])
        base_make(&base);
    size_t which = data[0] % BASE_COUNT, length = base.length[which];
    char *byte = malloc(length);
    FUZZ_REQUIRE(byte, "out of memory");
    memcpy(byte, base.byte[which], length);
    for (size_t i = 1; i + 4 <= size; i += 4) {
        size_t at = ((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % length;
        byte[at] = (char)data[i + 3];
    }
    if (data[0] & 2)
        length = length * data[1] / 256;
    base_store(base.path, byte, length);
    free(byte);
    if (fuzz_ok(hdf5_check_within(base.path, TRIAL_S, "", &err), &err))
        base_read_all(&base);
    unlink(base.path);
    return 0;
}
