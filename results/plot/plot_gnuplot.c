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

#include "base/files.h"

extern char **environ;

/* In single quotes gnuplot substitutes nothing and knows no escape but two quotes for one. `twice`: what
 * else is written twice. */
static void quote(struct text_buffer *script, const char *text, const char *twice)
{
    text_append_bytes(script, "'", 1);
    for (; *text; text++) {
        const char *c = (unsigned char)*text < ' ' || *text == 127 ? " " : text;
        text_append_bytes(script, c, 1);
        if (*c == '\'' || strchr(twice, *c))
            text_append_bytes(script, c, 1);
    }
    text_append_bytes(script, "'", 1);
}

void gnuplot_quote(struct text_buffer *script, const char *text)
{
    quote(script, text, "");
}

void gnuplot_set_text(struct text_buffer *script, const char *name, const char *text)
{
    text_append(script, "%s = ", name);
    gnuplot_quote(script, text);
    text_append_bytes(script, "\n", 1);
}

void gnuplot_set_ticks(struct text_buffer *script, const char *name, const char *const *label, size_t n)
{
    text_append(script, "array %s[%zu]\n", name, n > 0 ? n : 1);
    for (size_t i = 0; i < n; i++) {
        text_append(script, "%s[%zu] = ", name, i + 1);
        quote(script, label[i][0] ? label[i] : " ", "%");
        text_append_bytes(script, "\n", 1);
    }
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

enum dse_status gnuplot_check_path(const char *figure_path, struct dse_error *err)
{
    const char *ending = ending_of(figure_path);
    for (const char *c = figure_path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127 || *c == '|')
            return dse_fail(err, DSE_BAD_USAGE,
                            "the path of a figure has neither control characters nor |; choose another with "
                            "--output FIG");
    if (strcasecmp(ending, "png") == 0 || strcasecmp(ending, "svg") == 0 || strcasecmp(ending, "pdf") == 0)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE, "%s: a figure ends in .png, .svg or .pdf", figure_path);
}

void gnuplot_terminal(struct text_buffer *script, const char *figure_path, double width_pt, double height_pt)
{
    const double dpi = 200; /* a half-page figure is then sharp in print */
    const char *ending = ending_of(figure_path);
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
    text_append(script, "if (exists('dse_output')) set output dse_output\n");
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

/* Start gnuplot with these as its standard input, output and error. Returns 0 or an errno value. */
static int spawn_gnuplot(const int fd[3], pid_t *pid)
{
    /* -d: without the user's own settings, so that figures look the same everywhere. */
    char program[] = "gnuplot", plain[] = "-d", from_stdin[] = "-";
    char *const argument[] = {program, plain, from_stdin, NULL};
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    for (int i = 0; i < 3 && code == 0; i++)
        code = posix_spawn_file_actions_adddup2(&actions, fd[i], i);
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

static enum dse_status run_gnuplot(FILE *in, FILE *figure, FILE *words_to, struct dse_error *err)
{
    pid_t pid;
    int state = 0;
    char words[600];
    int code = spawn_gnuplot((const int[]){fileno(in), fileno(figure), fileno(words_to)}, &pid);
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
    last_words(words_to, words, sizeof words);
    return dse_fail(err, DSE_IO, "gnuplot failed: %s", words[0] ? words : "it says nothing");
}

/* The script with the figure's path in front, which gnuplot itself never sees in a script that we run. A name
 * that begins with ./ or / is no command and no home folder to it. */
static enum dse_status keep_script(const struct text_buffer *script, const char *figure_path,
                                   struct dse_error *err)
{
    struct text_buffer path, whole;
    text_init(&path);
    text_init(&whole);
    text_append(&whole, "# Made by dse plot. Draw it again with: gnuplot THIS-FILE\n");
    text_append(&path, "%s%s", figure_path[0] == '/' ? "" : "./", figure_path);
    if (!path.failed)
        gnuplot_set_text(&whole, "dse_output", path.data);
    text_append_bytes(&whole, script->data, script->length);
    text_append(&path, ".gp");
    enum dse_status status = path.failed
                                 ? dse_fail(err, DSE_NO_MEMORY, "out of memory for the figure's script")
                                 : new_file_write(path.data, &whole, err);
    text_free(&path);
    text_free(&whole);
    return status;
}

enum dse_status gnuplot_run(const struct text_buffer *script, const char *figure_path, bool keep,
                            struct dse_error *err)
{
    struct new_file figure;
    if (script->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the figure");
    if (keep)
        DSE_TRY(keep_script(script, figure_path, err));
    DSE_TRY(new_file_open(figure_path, NULL, &figure, err));
    FILE *in = script_file(script), *words = tmpfile();
    enum dse_status status;
    if (in && words)
        status = run_gnuplot(in, figure.stream, words, err);
    else
        status = dse_fail(err, DSE_IO, "no temporary file can be made: %s", strerror(errno));
    if (in)
        fclose(in);
    if (words)
        fclose(words);
    return new_file_close(&figure, status, err);
}
