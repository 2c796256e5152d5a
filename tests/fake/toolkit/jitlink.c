/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in nvJitLink: links, and what can be asked of them. */
#include "jitlink_api.h"
#include "jitlink_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t LINK_MARK = 0x6b6e696c74696au;

static bool is_link(const struct jitlink *link)
{
    return link && link->mark == LINK_MARK;
}

/* Those that change nothing here. One that ends in `=` takes a value. */
static bool is_known(const char *option)
{
    static const char *const known[] = {"-O0",
                                        "-O1",
                                        "-O2",
                                        "-O3",
                                        "-g",
                                        "-lineinfo",
                                        "-no-cache",
                                        "-time",
                                        "-optimize-unused-variables",
                                        "-maxrregcount=",
                                        "-ftz=",
                                        "-prec-div=",
                                        "-prec-sqrt=",
                                        "-fma=",
                                        "-kernels-used=",
                                        "-variables-used=",
                                        "-split-compile=",
                                        "-split-compile-extended=",
                                        "-Xptxas=",
                                        "-Xnvvm="};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i]);
        if (known[i][length - 1] == '=' ? strncmp(option, known[i], length) == 0
                                        : strcmp(option, known[i]) == 0)
            return true;
    }
    return false;
}

static int read_arch(struct jitlink *link, const char *value)
{
    struct fake_arch arch;
    bool is_virtual = strncmp(value, "compute_", 8) == 0;
    if (is_virtual && !link->ptx) {
        fake_buffer_add_text(&link->error_log, "ERROR: virtual arch requires -ptx\n");
        return JITLINK_INCOMPATIBLE_OPTIONS;
    }
    if (!fake_arch_parse(value, is_virtual, &arch) || !toolkit_stage_has_arch(link->stage, arch.number)) {
        const char *number = value + (is_virtual ? 8 : strncmp(value, "sm_", 3) == 0 ? 3 : 0);
        fake_buffer_printf(&link->error_log,
                           "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_%s)\n",
                           number);
        return JITLINK_UNSUPPORTED_ARCH;
    }
    link->arch = arch;
    return JITLINK_OK;
}

static int read_options(struct jitlink *link, uint32_t count, const char *const *options)
{
    const char *arch = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(options[i], "-arch=", 6) == 0) {
            arch = options[i] + 6;
        } else if (strcmp(options[i], "-lto") == 0) {
            link->lto = true;
        } else if (strcmp(options[i], "-ptx") == 0) {
            link->ptx = true;
        } else if (strcmp(options[i], "-verbose") == 0) {
            link->verbose = true;
        } else if (!is_known(options[i])) {
            fake_buffer_printf(&link->error_log, "unrecognized option: %s\n", options[i]);
            return JITLINK_UNRECOGNIZED_OPTION;
        }
    }
    if (link->ptx && !link->lto) {
        fake_buffer_add_text(&link->error_log, "ERROR: -ptx requires -lto\n");
        return JITLINK_INCOMPATIBLE_OPTIONS;
    }
    return arch ? read_arch(link, arch) : JITLINK_MISSING_ARCH;
}

/* There is a link even where the options are refused: for its log. */
int JITLINK(Create)(struct jitlink **link, uint32_t option_count, const char *const *options)
{
    if (!link || (option_count && !options))
        return JITLINK_NULL_INPUT;
    struct jitlink *made = fake_allocate(sizeof *made);
    made->mark = LINK_MARK;
    made->stage = toolkit_stage();
    struct fake_buffer line = {0};
    for (uint32_t i = 0; i < option_count; i++)
        fake_buffer_printf(&line, "%s%s", i ? " " : "", options[i]);
    toolkit_stage_log(made->stage, "link pid=%ld args=%s", (long)getpid(), fake_buffer_text(&line));
    fake_buffer_free(&line);
    *link = made;
    return read_options(made, option_count, options);
}

/* The real one dies of SIGSEGV here, most of the time. */
static void need_options(const struct jitlink *link)
{
    if (!link->arch.number)
        fake_die("nvJitLink: a link whose options were refused is used");
}

int JITLINK(Destroy)(struct jitlink **link)
{
    if (!link || !is_link(*link))
        return JITLINK_NULL_INPUT;
    struct jitlink *gone = *link;
    fake_link_set_free(&gone->set);
    fake_buffer_free(&gone->cubin);
    fake_buffer_free(&gone->ptx_text);
    fake_buffer_free(&gone->error_log);
    fake_buffer_free(&gone->info_log);
    gone->mark = 0;
    free(gone);
    *link = NULL;
    return JITLINK_OK;
}

int JITLINK(AddData)(struct jitlink *link, int type, const void *data, size_t size, const char *name)
{
    if (!is_link(link) || !data || !size)
        return JITLINK_NULL_INPUT;
    need_options(link);
    return jitlink_add(link, type, data, size, name ? name : "<unnamed>");
}

int JITLINK(AddFile)(struct jitlink *link, int type, const char *path)
{
    struct fake_buffer file;
    if (!is_link(link) || !path)
        return JITLINK_NULL_INPUT;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool read = descriptor >= 0 && fake_read_all(descriptor, &file);
    if (descriptor >= 0)
        close(descriptor);
    if (!read)
        return JITLINK_INVALID_INPUT;
    int result = JITLINK(AddData)(link, type, file.data, file.length, path);
    fake_buffer_free(&file);
    return result;
}

#ifndef TOOLKIT_BROKEN
/* The kernels of all inputs, empty; names that nothing defines are the loader's business. */
static void write_ptx(struct jitlink *link)
{
    const struct fake_link_set *set = &link->set;
    unsigned isa = toolkit_stage_isa(link->stage);
    struct fake_buffer *text = &link->ptx_text;
    fake_buffer_free(text);
    fake_buffer_printf(
        text, "//\n// Made by the stand-in nvJitLink\n// digest %016llx\n//\n\n.version %u.%u\n.target sm_%u",
        (unsigned long long)set->seed, isa / 10, isa % 10, link->arch.number);
    if (link->arch.letter)
        fake_buffer_add(text, &link->arch.letter, 1);
    fake_buffer_add_text(text, "\n.address_size 64\n");
    for (size_t i = 0; i < set->count; i++) {
        const struct fake_cubin *cubin = &set->objects[i].cubin;
        for (size_t k = 0; k < cubin->kernels.count; k++)
            fake_buffer_printf(text, "\n.visible .entry %s()\n{\n\tret;\n}\n", cubin->kernels.list[k].name);
    }
}

int JITLINK(Complete)(struct jitlink *link)
{
    struct fake_buffer doubles = {0};
    if (!is_link(link))
        return JITLINK_NULL_INPUT;
    need_options(link);
    /* The real one tells its caller nothing of a name defined twice, and uses the first. */
    if (!fake_link_set_is_unique(&link->set, &doubles))
        fprintf(stderr, "@E@%s", fake_buffer_text(&doubles));
    fake_buffer_free(&doubles);
    if (link->ptx) {
        if (link->has_other) {
            fake_buffer_add_text(&link->error_log, "ERROR: -ptx requires that all inputs have LTOIR\n");
            return JITLINK_INCORRECT_INPUT_TYPE;
        }
        write_ptx(link);
        link->completed = true;
        return JITLINK_OK;
    }
    if (!fake_link_set_is_complete(&link->set, 0, &link->error_log)) {
        fake_buffer_add_text(&link->error_log, "ERROR 9: finish\n");
        return JITLINK_INTERNAL;
    }
    fake_buffer_free(&link->cubin);
    fake_link_set_write(&link->set, link->arch.number, &link->cubin);
    link->completed = true;
    return JITLINK_OK;
}
#endif

int JITLINK(GetLinkedCubinSize)(struct jitlink *link, size_t *size)
{
    if (!is_link(link) || !size)
        return JITLINK_NULL_INPUT;
    if (!link->completed || link->ptx)
        return JITLINK_INTERNAL;
    *size = link->cubin.length;
    return JITLINK_OK;
}

int JITLINK(GetLinkedPtxSize)(struct jitlink *link, size_t *size)
{
    if (!is_link(link) || !size)
        return JITLINK_NULL_INPUT;
    if (!link->ptx)
        return JITLINK_INVALID_INPUT;
    if (!link->completed)
        return JITLINK_INTERNAL;
    *size = link->ptx_text.length + 1;
    return JITLINK_OK;
}

int JITLINK(GetLinkedPtx)(struct jitlink *link, char *ptx)
{
    if (!is_link(link) || !ptx)
        return JITLINK_NULL_INPUT;
    if (!link->ptx)
        return JITLINK_INVALID_INPUT;
    if (!link->completed)
        return JITLINK_INTERNAL;
    memcpy(ptx, fake_buffer_text(&link->ptx_text), link->ptx_text.length + 1);
    return JITLINK_OK;
}

int JITLINK(GetLinkedCubin)(struct jitlink *link, void *cubin)
{
    if (!is_link(link) || !cubin)
        return JITLINK_NULL_INPUT;
    if (!link->completed || link->ptx)
        return JITLINK_INTERNAL;
    memcpy(cubin, link->cubin.data, link->cubin.length);
    return JITLINK_OK;
}

/* With its NUL; none at all where there is no text. */
static int log_size(const struct jitlink *link, bool errors, size_t *size)
{
    if (!is_link(link) || !size)
        return JITLINK_NULL_INPUT;
    size_t length = errors ? link->error_log.length : link->info_log.length;
    *size = length ? length + 1 : 0;
    return JITLINK_OK;
}

static int log_copy(const struct jitlink *link, bool errors, char *log)
{
    if (!is_link(link) || !log)
        return JITLINK_NULL_INPUT;
    const struct fake_buffer *text = errors ? &link->error_log : &link->info_log;
    if (text->length)
        memcpy(log, text->data, text->length + 1);
    return JITLINK_OK;
}

int JITLINK(GetErrorLogSize)(struct jitlink *link, size_t *size)
{
    return log_size(link, true, size);
}

int JITLINK(GetErrorLog)(struct jitlink *link, char *log)
{
    return log_copy(link, true, log);
}

int JITLINK(GetInfoLogSize)(struct jitlink *link, size_t *size)
{
    return log_size(link, false, size);
}

int JITLINK(GetInfoLog)(struct jitlink *link, char *log)
{
    return log_copy(link, false, log);
}

#ifndef TOOLKIT_OLD
int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return JITLINK_NULL_INPUT;
    *major = (unsigned)toolkit_stage()->major;
    *minor = (unsigned)toolkit_stage()->minor;
    return JITLINK_OK;
}

/* The names without a version. */
#define TEXT_OF(name)          TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name
#define ALSO(name)                                                                                           \
    extern __typeof__(JITLINK(name)) nvJitLink##name                                                         \
        __attribute__((alias(TEXT_OF(JITLINK(name))), visibility("default")))

ALSO(Create);
ALSO(Destroy);
ALSO(AddData);
ALSO(AddFile);
#ifndef TOOLKIT_BROKEN
ALSO(Complete);
#endif
ALSO(GetLinkedCubinSize);
ALSO(GetLinkedCubin);
ALSO(GetLinkedPtxSize);
ALSO(GetLinkedPtx);
ALSO(GetErrorLogSize);
ALSO(GetErrorLog);
ALSO(GetInfoLogSize);
ALSO(GetInfoLog);
#endif
