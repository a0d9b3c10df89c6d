/* Thin calls that name what goes wrong; HDF5's own error stack is caught, and its innermost message kept. */
#include "base/hdf5/hdf5_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void hdf5_close(hid_t id)
{
    if (id >= 0)
        H5Idec_ref(id);
}

enum dse_status hdf5_open(const char *path, hid_t *file, struct dse_error *err)
{
    hdf5_errors_silence();
    *file = -1;
    if (access(path, R_OK) != 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s", strerror(errno));
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list >= 0 && H5Pset_file_locking(list, false, true) >= 0)
        *file = H5Fopen(path, H5F_ACC_RDONLY, list);
    hdf5_close(list);
    return *file >= 0 ? DSE_OK : dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not an HDF5 file");
}

hid_t hdf5_create_group(hid_t parent, const char *name)
{
    hid_t group = -1, list = H5Pcreate(H5P_GROUP_CREATE);
    if (list >= 0 && H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        group = H5Gcreate2(parent, name, H5P_DEFAULT, list, H5P_DEFAULT);
    hdf5_close(list);
    return group;
}

hid_t hdf5_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0)
        return type;
    if (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

int hdf5_put_attribute(hid_t object, const char *name, hid_t type, const void *value, size_t n)
{
    hsize_t length = n;
    int result = -1;
    hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, NULL);
    if (space < 0)
        return -1;
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        result = H5Awrite(attribute, type, value);
        if (H5Aclose(attribute) < 0)
            result = -1;
    }
    H5Sclose(space);
    return result;
}

int hdf5_put_text(hid_t object, const char *name, const char *value)
{
    hid_t type = hdf5_text_type();
    if (type < 0)
        return -1;
    int result = hdf5_put_attribute(object, name, type, &value, 0);
    H5Tclose(type);
    return result;
}

int hdf5_put_texts(hid_t object, const char *name, const char *const *value, size_t n)
{
    hid_t type = hdf5_text_type();
    if (type < 0)
        return -1;
    int result = hdf5_put_attribute(object, name, type, value, n);
    H5Tclose(type);
    return result;
}

enum dse_status hdf5_keep_texts(hid_t type, hid_t space, char **raw, size_t n, struct arena *arena,
                                const char **text, struct dse_error *err)
{
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        text[i] = raw[i] ? arena_copy_text(arena, raw[i], strlen(raw[i])) : "";
        fine = text[i] != NULL;
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
    return fine ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the texts of a result file");
}

/* The innermost message of the first failed call. */
static herr_t take_message(unsigned n, const H5E_error2_t *error, void *user)
{
    struct hdf5_errors *errors = user;
    if (n == 0 && error->desc && !errors->text[0])
        text_copy(errors->text, sizeof errors->text, error->desc);
    return 0;
}

static herr_t on_error(hid_t stack, void *user)
{
    return H5Ewalk2(stack, H5E_WALK_UPWARD, take_message, user);
}

void hdf5_errors_catch(struct hdf5_errors *errors)
{
    errors->text[0] = '\0';
    H5Eset_auto2(H5E_DEFAULT, on_error, errors);
}

void hdf5_errors_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}
