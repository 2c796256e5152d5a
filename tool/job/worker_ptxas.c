/* SPDX-License-Identifier: Apache-2.0 */
/* Starts ptxas, waits for it, and takes what it made. No shell, no file on disk: it reads and writes what
 * lies in memory, under the names that /proc has for open files. */
#include "job/worker_ptxas.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "job/worker_make.h"

#define OUTPUT_MAX_BYTES (UINT64_C(1) << 30)
#define LOG_MAX_BYTES    (UINT64_C(1) << 20)

enum {
    OUTPUT_FD = 3, /* in the program; 0 to 2 are its input and its log */
    FIRST_FD = 4,  /* ours are above, so that none is overwritten before it is handed over */
    VERSION_MAX_BYTES = 64 * 1024,
    NOT_RUN = -1,
};

/* One run of the program, and how it ended. */
struct run {
    const char *program;
    const char **arguments; /* its name first; NULL-terminated */
    int input, log, output; /* -1 = /dev/null's, or none */
    int errnum;             /* why it could not be started */
    int status;             /* of wait4 */
    uint64_t peak_rss_bytes;
};

static int move_up(int fd)
{
    if (fd < 0 || fd >= FIRST_FD)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    pj_close(fd);
    return moved;
}

static int make_memory(const char *name, int *ret_fd, struct pj_error **err)
{
    int fd = move_up(memfd_create(name, MFD_CLOEXEC));
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make a file in memory for %s", name);
    *ret_fd = fd;
    return 0;
}

/* A log may be endless. The file in memory has its largest size from the start and cannot grow: a write
 * beyond it fails. What was written ends at the offset that the program's descriptors share with ours. */
static int make_log(const char *name, uint64_t most_bytes, int *ret_fd, struct pj_error **err)
{
    int fd = move_up(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make a file in memory for %s", name);
    *ret_fd = fd;
    if (ftruncate(fd, (off_t)most_bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot limit a file in memory for %s", name);
    return 0;
}

/* Cuts the log down to what was written. True where it is full: then there may have been more. */
static bool end_log(int fd)
{
    struct stat status;
    off_t written = lseek(fd, 0, SEEK_CUR);
    bool full = fstat(fd, &status) == 0 && written >= status.st_size;
    if (written >= 0 && !full)
        (void)!ftruncate(fd, written);
    return full;
}

static bool put_in_place(int fd, int place)
{
    return fd < 0 || dup2(fd, place) == place;
}

/* What a worker ignores for itself is not for a program that it starts: one that writes into a closed pipe
 * shall die of it. */
static void restore_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL); /* fails for those that nobody may change */
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the program, or tells why not. Nothing here may allocate. */
__attribute__((noreturn)) static void become(const struct run *run, pid_t parent, int report)
{
    /* What the program writes is bounded; its log is by make_log. */
    const struct rlimit limit = {.rlim_cur = OUTPUT_MAX_BYTES, .rlim_max = OUTPUT_MAX_BYTES};
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    restore_signals();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        put_in_place(run->input, STDIN_FILENO) && put_in_place(run->log, STDOUT_FILENO) &&
        put_in_place(run->log, STDERR_FILENO) && put_in_place(run->output, OUTPUT_FD))
        (void)execve(run->program, (char *const *)(uintptr_t)run->arguments, environ);
    int errnum = errno;
    (void)!write(report, &errnum, sizeof errnum);
    _exit(127);
}

/* What the child reports before it becomes the program; 0 where it did, since the pipe closes then. */
static int read_report(int fd)
{
    int errnum = 0;
    ssize_t length;
    do
        length = read(fd, &errnum, sizeof errnum);
    while (length < 0 && errno == EINTR);
    return length == (ssize_t)sizeof errnum ? errnum : 0;
}

static int run_program(struct run *run, struct pj_error **err)
{
    int pair[2];
    struct rusage usage;
    pid_t parent = getpid(), ended;
    /* A caller that ignores its children's deaths would have them forgotten before they are asked for. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (pipe2(pair, O_CLOEXEC) != 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make a pipe to start %s", run->program);
    PJ_CLEANUP_CLOSE int reader = pair[0];
    int writer = move_up(pair[1]);
    if (writer < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make a pipe to start %s", run->program);
    pid_t pid = fork();
    if (pid == 0)
        become(run, parent, writer);
    int errnum = errno;
    pj_close(writer);
    if (pid < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errnum, "cannot make a process for %s", run->program);
    run->errnum = read_report(reader);
    do
        ended = wait4(pid, &run->status, 0, &usage);
    while (ended < 0 && errno == EINTR);
    if (ended != pid)
        return pj_error_errno(err, PJ_ERROR_WORKER, errno, "cannot wait for %s", run->program);
    run->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return 0;
}

/* "exit status 255"; "" for 0. */
static const char *describe_end(const struct run *run, struct pj_arena *arena)
{
    if (WIFSIGNALED(run->status))
        return pj_arena_printf(arena, "killed by signal %d", WTERMSIG(run->status));
    int status = WEXITSTATUS(run->status);
    return status == 0 ? "" : pj_arena_printf(arena, "exit status %d", status);
}

/* Digits at *at, of a number below 1000. */
static bool read_number(const char **at, int *ret_number)
{
    const char *start = *at;
    int number = 0;
    while (**at >= '0' && **at <= '9' && *at - start < 3)
        number = number * 10 + (*(*at)++ - '0');
    *ret_number = number;
    return *at > start;
}

/* "…release 13.0, V13.0.88" of what says that it is ptxas. */
static bool read_version(const char *text, struct pj_worker_ptxas *ptxas)
{
    static const char release[] = "release ", before[] = ", V";
    int major, minor;
    const char *at = strstr(text, "ptxas:") ? strstr(text, release) : NULL;
    if (!at)
        return false;
    at += sizeof release - 1;
    if (!read_number(&at, &major) || *at++ != '.' || !read_number(&at, &minor) || minor > 99 ||
        strncmp(at, before, sizeof before - 1) != 0)
        return false;
    at += sizeof before - 1;
    size_t length = strspn(at, "0123456789.");
    if (length == 0 || length >= sizeof ptxas->build)
        return false;
    memcpy(ptxas->build, at, length);
    ptxas->build[length] = '\0';
    ptxas->cuda_version = major * 1000 + minor * 10;
    return true;
}

/* "Build cuda_13.0.r13.0/compiler.36424714_0", on a line of its own. */
static void read_label(const char *text, struct pj_worker_ptxas *ptxas)
{
    static const char before[] = "\nBuild ";
    const char *at = strstr(text, before);
    if (!at)
        return;
    at += sizeof before - 1;
    size_t length = strcspn(at, " \r\n");
    if (length >= sizeof ptxas->label)
        return;
    memcpy(ptxas->label, at, length);
    ptxas->label[length] = '\0';
}

int pj_worker_ptxas_open(const char *path, struct pj_worker_ptxas *ret_ptxas, struct pj_error **err)
{
    struct pj_worker_ptxas ptxas = {.descriptors = "/proc/self/fd"};
    const char *arguments[] = {path, "--version", NULL};
    PJ_CLEANUP_ARENA struct pj_arena arena = {0};
    PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
    PJ_CLEANUP_CLOSE int log = -1;
    if (snprintf(ptxas.program, sizeof ptxas.program, "%s", path) >= (int)sizeof ptxas.program)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "cannot start %s: its path is too long", path);
    int r = make_log("ptxas's version", VERSION_MAX_BYTES, &log, err);
    struct run run = {.program = path, .arguments = arguments, .input = -1, .log = log, .output = -1};
    if (r == 0)
        r = run_program(&run, err);
    if (r < 0)
        return r;
    if (run.errnum != 0)
        return pj_error_errno(err, PJ_ERROR_ENVIRONMENT, run.errnum, "cannot start %s", path);
    const char *end = describe_end(&run, &arena);
    if (!end)
        return pj_error_no_memory(err);
    if (*end)
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s --version: %s", path, end);
    (void)end_log(log);
    r = pj_file_read_fd(log, "ptxas's version", VERSION_MAX_BYTES, &text, err);
    if (r < 0)
        return r;
    const char *said = pj_buffer_text(&text);
    if (!read_version(said, &ptxas))
        return pj_error_set(err, PJ_ERROR_ENVIRONMENT, "%s is no ptxas: its --version says \"%.*s\"", path,
                            (int)strcspn(said, "\n"), said);
    read_label(said, &ptxas);
    *ret_ptxas = ptxas;
    return 0;
}

/* The files of one order, and the names by which the program opens two of them. */
struct files {
    int input, output, log;
    char input_name[PATH_MAX + 16], output_name[PATH_MAX + 16];
    char *folder; /* NULL = there is none */
};

static void files_free(struct files *files)
{
    pj_close(files->input);
    pj_close(files->output);
    pj_close(files->log);
    if (files->folder)
        (void)pj_tree_remove(AT_FDCWD, files->folder, NULL);
    free(files->folder);
}

static int make_named(const char *name, int *ret_fd, struct pj_error **err)
{
    int fd = move_up(open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd < 0)
        return pj_error_errno(err, PJ_ERROR_IO, errno, "cannot make %s", name);
    *ret_fd = fd;
    return 0;
}

/* Where open files have no names. A worker that is killed leaves the folder. */
static int make_on_disk(struct files *files, struct pj_error **err)
{
    int r = pj_directory_temporary(getenv("TMPDIR"), "prejit-ptxas", &files->folder, err);
    if (r == PJ_ERROR_ENVIRONMENT)
        return pj_error_recode(err, PJ_ERROR_IO, 0); /* which a worker tells, and outlives */
    if (r < 0)
        return r;
    (void)snprintf(files->input_name, sizeof files->input_name, "%s/input.ptx", files->folder);
    (void)snprintf(files->output_name, sizeof files->output_name, "%s/output", files->folder);
    r = make_named(files->input_name, &files->input, err);
    return r < 0 ? r : make_named(files->output_name, &files->output, err);
}

static int make_in_memory(const char *descriptors, struct files *files, struct pj_error **err)
{
    (void)snprintf(files->input_name, sizeof files->input_name, "%s/%d", descriptors, STDIN_FILENO);
    (void)snprintf(files->output_name, sizeof files->output_name, "%s/%d", descriptors, OUTPUT_FD);
    int r = make_memory("ptxas's input", &files->input, err);
    return r < 0 ? r : make_memory("ptxas's output", &files->output, err);
}

static int make_files(const struct pj_worker_ptxas *ptxas, const struct pj_buffer *ptx, struct files *files,
                      struct pj_error **err)
{
    int r = make_log("ptxas's log", LOG_MAX_BYTES, &files->log, err);
    if (r == 0)
        r = access(ptxas->descriptors, X_OK) == 0 ? make_in_memory(ptxas->descriptors, files, err)
                                                  : make_on_disk(files, err);
    /* The driver reads no further than to the first NUL [37]. */
    return r < 0 ? r
                 : pj_file_pwrite(files->input, "ptxas's input", pj_buffer_text(ptx),
                                  strlen(pj_buffer_text(ptx)), 0, err);
}

/* The log names the PTX as the order does, not as we handed it over. */
static int write_log(const struct files *files, const struct pj_wire_make *make,
                     const struct pj_wire_descriptors *descriptors, struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer log = {0}, shown = {0};
    const char *name = make->parts[0].name[0] != '\0' ? make->parts[0].name : "input.ptx";
    bool full = end_log(files->log);
    int r = pj_file_read_fd(files->log, "ptxas's log", LOG_MAX_BYTES, &log, err);
    for (const char *at = pj_buffer_text(&log), *found; r == 0 && *at; at = found) {
        found = strstr(at, files->input_name);
        if (!found) {
            pj_buffer_puts(&shown, at);
            break;
        }
        pj_buffer_append(&shown, at, (size_t)(found - at));
        pj_buffer_puts(&shown, name);
        found += strlen(files->input_name);
    }
    if (full)
        pj_buffer_puts(&shown, "\nptxas wrote more than this: the rest is left out\n");
    if (r == 0)
        r = pj_buffer_check(&shown, err);
    return r < 0 ? r
                 : pj_worker_write_output(make, descriptors, PJ_OUTPUT_LOG, pj_buffer_text(&shown),
                                          shown.size, err);
}

static int write_cubin(const struct files *files, const struct pj_wire_make *make,
                       const struct pj_wire_descriptors *descriptors, struct pj_wire_made *made,
                       struct pj_error **err)
{
    PJ_CLEANUP_BUFFER struct pj_buffer cubin = {0};
    int r = pj_file_read_fd(files->output, "ptxas's output", OUTPUT_MAX_BYTES, &cubin, err);
    if (r < 0)
        return r;
    if (cubin.size == 0) {
        made->failed_call = "ptxas";
        made->result = NOT_RUN;
        made->result_name = "exit status 0, but nothing was made";
    }
    return pj_worker_write_output(make, descriptors, PJ_OUTPUT_CUBIN, cubin.data, cubin.size, err);
}

static int tell_end(const struct run *run, struct pj_arena *arena, struct pj_wire_made *made,
                    struct pj_error **err)
{
    if (run->errnum != 0) {
        made->result = NOT_RUN;
        made->result_name = pj_arena_printf(arena, "cannot be started: %s", strerror(run->errnum));
    } else {
        made->result = WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
        made->result_name = describe_end(run, arena);
    }
    if (made->result != 0)
        made->failed_call = "ptxas";
    return made->result_name ? 0 : pj_error_no_memory(err);
}

static const char **make_arguments(const struct pj_worker_ptxas *ptxas, const struct pj_wire_make *make,
                                   const struct files *files, struct pj_arena *arena)
{
    const char **arguments = pj_arena_calloc(arena, (size_t)make->argument_count + 5, sizeof *arguments);
    if (!arguments)
        return NULL;
    size_t count = 0;
    arguments[count++] = ptxas->program;
    for (uint32_t i = 0; i < make->argument_count; i++)
        arguments[count++] = make->arguments[i];
    arguments[count++] = "-o";
    arguments[count++] = files->output_name;
    arguments[count++] = files->input_name;
    return arguments;
}

int pj_worker_ptxas_make(const struct pj_worker_ptxas *ptxas, const struct pj_wire_make *make,
                         const struct pj_worker_parts *parts, const struct pj_wire_descriptors *descriptors,
                         struct pj_arena *arena, struct pj_wire_made *made, struct pj_error **err)
{
    if (parts->count != 1)
        return pj_error_set(err, PJ_ERROR_WORKER, "an order for ptxas has %zu parts, not one", parts->count);
    __attribute__((cleanup(files_free))) struct files files = {.input = -1, .output = -1, .log = -1};
    int r = make_files(ptxas, &parts->items[0], &files, err);
    if (r < 0)
        return r;
    struct run run = {.program = ptxas->program,
                      .arguments = make_arguments(ptxas, make, &files, arena),
                      .input = files.input,
                      .log = files.log,
                      .output = files.output};
    if (!run.arguments)
        return pj_error_no_memory(err);
    double begin = pj_clock_ms();
    r = run_program(&run, err);
    made->call_ms = pj_clock_ms() - begin;
    made->peak_rss_bytes = run.peak_rss_bytes;
    if (r == 0)
        r = tell_end(&run, arena, made, err);
    if (r == 0)
        r = write_log(&files, make, descriptors, err);
    return r == 0 && made->result == 0 ? write_cubin(&files, make, descriptors, made, err) : r;
}
