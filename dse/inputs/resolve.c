/* Searches the folder of the specification and its parents, then the data that comes with the program;
 * lists all names for `dse list` and for suggestions. */
#include "dse/inputs/resolve.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data_folder.h"
#include "base/text.h"

enum { NAME_LIST_MAX = 4096, PARENT_MAX = 16 };

static const char *const kind_folder[] = {"architectures", "networks", NULL};
static const char *const kind_word[] = {"architecture", "network", "experiment"};

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

static int has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static int looks_like_path(const char *name)
{
    return strchr(name, '/') != NULL || has_ending(name, ".yaml") || has_ending(name, ".yml");
}

char *resolve_folder_of(const char *path, char *dir, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(dir, size, ".");
    else if (slash == path)
        snprintf(dir, size, "/");
    else
        snprintf(dir, size, "%.*s", (int)(slash - path), path);
    return dir;
}

/* A path as the user wrote it. */
static enum dse_status resolve_path(const char *name, const char *base_dir, char *path, size_t size,
                                    struct dse_error *err)
{
    if (base_dir && name[0] != '/' && strcmp(base_dir, ".") != 0) {
        int n = snprintf(path, size, "%s/%s", base_dir, name);
        if (n > 0 && (size_t)n < size && is_file(path))
            return DSE_OK;
    }
    if (!text_copy(path, size, name))
        return dse_fail(err, DSE_LIMIT, "the path is longer than %zu bytes", size - 1);
    return DSE_OK; /* a missing file is reported by whoever reads it */
}

/* DIR/experiments/FOLDER/NAME.yaml or, for a DIR that is experiments itself or lies in it,
 * DIR/FOLDER/NAME.yaml. */
static int try_folder(const char *dir, const char *folder, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/experiments/%s/%s.yaml", dir, folder, name);
    if (n > 0 && (size_t)n < size && is_file(path))
        return 1;
    n = snprintf(path, size, "%s/%s/%s.yaml", dir, folder, name);
    if (n > 0 && (size_t)n < size && is_file(path))
        return 1;
    return 0;
}

/* base_dir and its parents. A relative folder is followed upwards as far as it is written. */
static int try_parents(const char *base_dir, const char *folder, const char *name, char *path, size_t size)
{
    char dir[RESOLVE_PATH_MAX];
    if (!base_dir || !text_copy(dir, sizeof dir, base_dir))
        return 0;
    for (int i = 0; i < PARENT_MAX; i++) {
        if (try_folder(dir, folder, name, path, size))
            return 1;
        char *slash = strrchr(dir, '/');
        if (!slash || slash == dir)
            return 0;
        *slash = '\0';
    }
    return 0;
}

/* The data that comes with the program. */
static int try_shipped(const char *folder, const char *name, char *path, size_t size)
{
    char shipped[RESOLVE_PATH_MAX];
    return data_folder_find("experiments", shipped, sizeof shipped) &&
           try_folder(shipped, folder, name, path, size);
}

struct name_list {
    size_t n;
    char *name[NAME_LIST_MAX];
    char *path[NAME_LIST_MAX];
};

static void name_list_free(struct name_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->name[i]);
        free(list->path[i]);
    }
    free(list);
}

static int is_known(const struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->name[i], name) == 0)
            return 1;
    return 0;
}

/* Add PREFIX NAME for each DIR/NAME.yaml that is not yet in the list; returns 0 when out of memory. */
static int collect(struct name_list *list, const char *dir, const char *prefix)
{
    DIR *stream = opendir(dir);
    int good = 1;
    if (!stream)
        return 1;
    for (struct dirent *entry; good && list->n < NAME_LIST_MAX && (entry = readdir(stream)) != NULL;) {
        char name[512], path[RESOLVE_PATH_MAX + 256];
        if (!has_ending(entry->d_name, ".yaml"))
            continue;
        snprintf(name, sizeof name, "%.250s%.*s", prefix, (int)(strlen(entry->d_name) - 5), entry->d_name);
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (is_known(list, name))
            continue;
        list->name[list->n] = strdup(name);
        list->path[list->n] = strdup(path);
        good = list->name[list->n] && list->path[list->n];
        list->n++;
    }
    closedir(stream);
    return good;
}

/* The folders of papers below `dir`. */
static int collect_folders(struct name_list *list, const char *dir)
{
    DIR *stream = opendir(dir);
    int good = 1;
    if (!stream)
        return 1;
    for (struct dirent *entry; good && (entry = readdir(stream)) != NULL;) {
        char prefix[300], path[RESOLVE_PATH_MAX];
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, kind_folder[0]) == 0 ||
            strcmp(entry->d_name, kind_folder[1]) == 0)
            continue;
        snprintf(prefix, sizeof prefix, "%s/", entry->d_name);
        int n = snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path)
            good = collect(list, path, prefix); /* plain files have no entries */
    }
    closedir(stream);
    return good;
}

static void sort_names(struct name_list *list)
{
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = i; k > 0 && strcmp(list->name[k - 1], list->name[k]) > 0; k--) {
            char *name = list->name[k], *path = list->path[k];
            list->name[k] = list->name[k - 1];
            list->path[k] = list->path[k - 1];
            list->name[k - 1] = name;
            list->path[k - 1] = path;
        }
}

/* `folder` NULL: all experiments. */
static enum dse_status list_all(const char *folder, struct name_list **out, struct dse_error *err)
{
    char shipped[RESOLVE_PATH_MAX];
    const char *const root[] = {"experiments", shipped};
    struct name_list *list = calloc(1, sizeof *list);
    int good = list != NULL;
    (void)data_folder_find("experiments", shipped, sizeof shipped); /* no folder, no names */
    for (size_t i = 0; good && i < 2; i++) {
        char dir[RESOLVE_PATH_MAX];
        snprintf(dir, sizeof dir, "%.*s%s%s", RESOLVE_PATH_MAX - 64, root[i], folder ? "/" : "",
                 folder ? folder : "");
        good = collect(list, dir, "") && (folder || collect_folders(list, dir));
    }
    if (!good) {
        if (list)
            name_list_free(list);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a list of names");
    }
    sort_names(list);
    *out = list;
    return DSE_OK;
}

enum dse_status resolve_each(enum resolve_kind kind, resolve_visit *visit, void *user, struct dse_error *err)
{
    struct name_list *list;
    DSE_TRY(list_all(kind_folder[kind], &list, err));
    for (size_t i = 0; i < list->n; i++)
        visit(user, list->name[i], list->path[i]);
    name_list_free(list);
    return DSE_OK;
}

/* The name in a folder whose last part is `name`, or NULL. */
static const char *same_in_folder(const struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *slash = strrchr(list->name[i], '/');
        if (slash && strcmp(slash + 1, name) == 0)
            return list->name[i];
    }
    return NULL;
}

static enum dse_status not_found(enum resolve_kind kind, const char *name, struct dse_error *err)
{
    struct name_list *list;
    char shown[128];
    DSE_TRY(list_all(kind_folder[kind], &list, err));
    const char *nearest = same_in_folder(list, name);
    if (!nearest)
        nearest = text_nearest(name, (const char *const *)list->name, list->n);
    text_excerpt(name, shown, sizeof shown);
    if (list->n == 0) {
        name_list_free(list);
        return dse_fail(
            err, DSE_BAD_INPUT,
            "unknown %s \"%s\": no %ss are found by name here, neither in ./experiments nor in the "
            "installed data; give a path to a YAML file",
            kind_word[kind], shown, kind_word[kind]);
    }
    enum dse_status status =
        nearest ? dse_fail(err, DSE_BAD_INPUT, "unknown %s \"%s\"; did you mean %s?", kind_word[kind], shown,
                           nearest)
                : dse_fail(err, DSE_BAD_INPUT,
                           "unknown %s \"%s\"; give a path to a YAML file or a name of `dse list %ss`",
                           kind_word[kind], shown, kind_word[kind]);
    name_list_free(list);
    return status;
}

/* A name of `dse list experiments` may have a folder, and looks like a path then: what is there as written
 * comes first. */
static enum dse_status resolve_experiment(const char *name, char *path, size_t size, struct dse_error *err)
{
    char shipped[RESOLVE_PATH_MAX];
    const char *const root[] = {"experiments", shipped};
    int is_there = access(name, F_OK) == 0, has_folder = strchr(name, '/') != NULL;
    int is_name = name[0] != '.' && name[0] != '/' && !has_ending(name, ".yaml") && !has_ending(name, ".yml");
    (void)data_folder_find("experiments", shipped, sizeof shipped); /* no folder, no names */
    for (size_t i = 0; is_name && !(has_folder && is_there) && i < 2; i++) {
        int n = snprintf(path, size, "%s/%s.yaml", root[i], name);
        if (n > 0 && (size_t)n < size && is_file(path))
            return DSE_OK;
    }
    if (is_there || has_folder || !is_name)
        return resolve_path(name, NULL, path, size, err);
    return not_found(RESOLVE_EXPERIMENT, name, err);
}

enum dse_status resolve_name(enum resolve_kind kind, const char *name, const char *base_dir, char *path,
                             size_t size, struct dse_error *err)
{
    if (name[0] == '\0')
        return dse_fail(err, DSE_BAD_INPUT, "the name of the %s is empty", kind_word[kind]);
    if (kind == RESOLVE_EXPERIMENT)
        return resolve_experiment(name, path, size, err);
    if (looks_like_path(name))
        return resolve_path(name, base_dir, path, size, err);
    const char *folder = kind_folder[kind];
    if (try_parents(base_dir, folder, name, path, size) || try_folder(".", folder, name, path, size) ||
        try_shipped(folder, name, path, size))
        return DSE_OK;
    if (is_file(name))
        return resolve_path(name, NULL, path, size, err);
    return not_found(kind, name, err);
}
