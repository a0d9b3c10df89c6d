/* Walks over the links, which shows them without following them; of datasets it looks at how they are
 * stored. */
#include "base/hdf5/hdf5_inside.h"

#include "base/hdf5/hdf5_file.h"
#include "base/text.h"

struct visit {
    char *object;
    size_t size;
};

/* Values in this file, and not in others: neither "external storage" nor a virtual dataset. */
static bool holds_values(hid_t group, const char *name)
{
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t list = dataset >= 0 ? H5Dget_create_plist(dataset) : -1;
    bool holds = list < 0 || (H5Pget_external_count(list) <= 0 && H5Pget_layout(list) != H5D_VIRTUAL);
    hdf5_close(list);
    hdf5_close(dataset);
    return holds;
}

static herr_t on_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct visit *visit = user;
    H5O_info_t object;
    bool inside = info->type == H5L_TYPE_SOFT;
    if (info->type == H5L_TYPE_HARD)
        inside = H5Oget_info_by_name(group, name, &object, H5P_DEFAULT) < 0 ||
                 object.type != H5O_TYPE_DATASET || holds_values(group, name);
    if (!inside)
        (void)text_copy(visit->object, visit->size, name);
    return inside ? 0 : 1;
}

bool hdf5_is_inside(hid_t file, char *object, size_t size)
{
    struct visit visit = {object, size};
    object[0] = '\0';
    return H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, on_link, &visit) == 0;
}
