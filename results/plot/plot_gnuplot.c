/* Texts and numbers as gnuplot reads them, the terminal by the figure's ending, and a child process whose
 * last words become the error. */
#include "results/plot/plot_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data_folder.h"

extern char **environ;

void gnuplot_quote(struct text_buffer *script, const char *text)
{
    text_append_bytes(script, "'", 1);
    for (; *text; text++) {
        if (*text == '\'')
            text_append_bytes(script, "''", 2);
        else
            text_append_bytes(script, (unsigned char)*text < ' ' ? " " : text, 1);
    }
    text_append_bytes(script, "'", 1);
}

void gnuplot_set_text(struct text_buffer *script, const char *name, const char *text)
{
    text_append(script, "%s = ", name);
    gnuplot_quote(script, text);
    text_append_bytes(script, "\n", 1);
}

void gnuplot_set_numbers(struct text_buffer *script, const char *name, const double *value, size_t n)
{
    text_append(script, "array %s[%zu]\n", name, n > 0 ? n : 1);
    for (size_t i = 0; i < n; i++) {
        if (isnan(value[i]))
            text_append(script, "%s[%zu] = NaN\n", name, i + 1);
        else
            text_append(script, "%s[%zu] = %.9g\n", name, i + 1, value[i]);
    }
}

void gnuplot_set_texts(struct text_buffer *script, const char *name, const char *const *text, size_t n)
{
    text_append(script, "array %s[%zu]\n", name, n > 0 ? n : 1);
    for (size_t i = 0; i < n; i++) {
        text_append(script, "%s[%zu] = ", name, i + 1);
        gnuplot_quote(script, text[i]);
        text_append_bytes(script, "\n", 1);
    }
}

/* The ending without its dot, or "". */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) ? dot + 1 : "";
}

enum dse_status gnuplot_check_ending(const char *figure_path, struct dse_error *err)
{
    const char *ending = ending_of(figure_path);
    if (strcasecmp(ending, "png") == 0 || strcasecmp(ending, "svg") == 0 || strcasecmp(ending, "pdf") == 0)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE, "%s: a figure ends in .png, .svg or .pdf", figure_path);
}

/* The file that gnuplot writes, beside the figure so that the rename is within one file system. */
static int output_path(char *buffer, size_t size, const char *figure_path)
{
    int n = snprintf(buffer, size, "%s.tmp", figure_path);
    return n >= 0 && (size_t)n < size;
}

void gnuplot_terminal(struct text_buffer *script, const char *figure_path, double width_pt, double height_pt)
{
    const double dpi = 200; /* a half-page figure is then sharp in print */
    const char *ending = ending_of(figure_path);
    char output[4096];
    text_append(script, "set encoding utf8\n");
    if (strcasecmp(ending, "png") == 0)
        text_append(script,
                    "set terminal pngcairo noenhanced rounded background rgb 'white' size %.0f,%.0f font "
                    "'sans-serif,9' "
                    "fontscale %.3f linewidth %.3f\n",
                    ceil(width_pt * dpi / 72), ceil(height_pt * dpi / 72), dpi / 72, dpi / 72);
    else if (strcasecmp(ending, "svg") == 0)
        text_append(
            script,
            "set terminal svg noenhanced rounded background rgb 'white' size %.0f,%.0f font 'sans-serif,9' "
            "fontscale 1 linewidth 1\n",
            ceil(width_pt), ceil(height_pt));
    else
        text_append(
            script,
            "set terminal pdfcairo noenhanced rounded size %.4fin,%.4fin font 'sans-serif,9' fontscale 1 "
            "linewidth 1\n",
            width_pt / 72, height_pt / 72);
    if (!output_path(output, sizeof output, figure_path))
        script->failed = 1;
    gnuplot_set_text(script, "dse_output", output);
    text_append(script, "set output dse_output\n");
    text_append(script, "dse_width = %.9g\ndse_height = %.9g\n", width_pt, height_pt);
}

enum dse_status gnuplot_template(struct text_buffer *script, const char *name, const char *folder,
                                 struct dse_error *err)
{
    return folder ? data_file_append(folder, name, script, err)
                  : data_folder_append("plotting", name, script, err);
}

/* Write the script where gnuplot will read it: an unlinked temporary file, at its beginning. */
static FILE *script_file(const struct text_buffer *script)
{
    FILE *file = tmpfile();
    if (file && (fwrite(script->data, 1, script->length, file) != script->length || fflush(file) != 0 ||
                 fseek(file, 0, SEEK_SET) != 0)) {
        fclose(file);
        file = NULL;
    }
    return file;
}

/* Start gnuplot with stdin and both outputs redirected. Returns 0 or an errno value. */
static int spawn_gnuplot(int in, int out, pid_t *pid)
{
    /* -d: without the user's own settings, so that figures look the same everywhere. */
    char program[] = "gnuplot", plain[] = "-d", from_stdin[] = "-";
    char *const argument[] = {program, plain, from_stdin, NULL};
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    if (code == 0)
        code = posix_spawnp(pid, program, &actions, NULL, argument, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* What gnuplot wrote, on one line and without its arrows at the place of the error. */
static void last_words(FILE *file, char *buffer, size_t size)
{
    rewind(file);
    size_t n = fread(buffer, 1, size - 1, file), to = 0;
    for (size_t i = 0; i < n; i++) {
        char c = buffer[i] == '\n' || buffer[i] == '\t' ? ' ' : buffer[i];
        if (c != '^' && !(c == ' ' && (to == 0 || buffer[to - 1] == ' ')))
            buffer[to++] = c;
    }
    while (to > 0 && buffer[to - 1] == ' ')
        to--;
    buffer[to] = '\0';
}

static enum dse_status run_gnuplot(FILE *in, FILE *out, struct dse_error *err)
{
    pid_t pid;
    int state = 0;
    char words[600];
    int code = spawn_gnuplot(fileno(in), fileno(out), &pid);
    if (code == ENOENT)
        return dse_fail(err, DSE_IO, "gnuplot is not installed: apt-get install gnuplot-nox");
    if (code != 0)
        return dse_fail(err, DSE_IO, "gnuplot cannot be started: %s", strerror(code));
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return dse_fail(err, DSE_IO, "gnuplot is not installed: apt-get install gnuplot-nox");
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return DSE_OK;
    last_words(out, words, sizeof words);
    return dse_fail(err, DSE_IO, "gnuplot failed: %s", words[0] ? words : "it says nothing");
}

static enum dse_status keep_script(const struct text_buffer *script, const char *figure_path,
                                   struct dse_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.gp", figure_path);
    FILE *file = fopen(path, "we");
    int fine = file && fwrite(script->data, 1, script->length, file) == script->length;
    if (file && fclose(file) != 0)
        fine = 0;
    return fine ? DSE_OK : dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(errno));
}

enum dse_status gnuplot_run(const struct text_buffer *script, const char *figure_path, bool keep,
                            struct dse_error *err)
{
    char output[4096];
    if (script->failed || !output_path(output, sizeof output, figure_path))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the figure");
    if (keep)
        DSE_TRY(keep_script(script, figure_path, err));
    FILE *probe = fopen(output, "we");
    if (!probe)
        return dse_fail_at(err, DSE_IO, figure_path, 0, "cannot be written: %s", strerror(errno));
    fclose(probe);
    FILE *in = script_file(script), *out = tmpfile();
    enum dse_status status;
    if (in && out)
        status = run_gnuplot(in, out, err);
    else
        status = dse_fail(err, DSE_IO, "no temporary file can be made: %s", strerror(errno));
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    if (status == DSE_OK && rename(output, figure_path) != 0)
        status = dse_fail_at(err, DSE_IO, figure_path, 0, "cannot be written: %s", strerror(errno));
    if (status != DSE_OK)
        unlink(output);
    return status;
}
