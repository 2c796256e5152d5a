/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the driver's linker. All need a context [13]. */
#include "link.h"

#include "scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t LINK_MARK = 0x6b6e696c656b6166u;

/* What the final link takes [5]. It is never cached. */
static const double LINK_MS = 2;

static CUresult enter(CUlinkState state, struct fake_link **ret_link)
{
    struct fake_driver *driver;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake_driver_current(driver))
        return CUDA_ERROR_INVALID_CONTEXT;
    struct fake_link *link = (struct fake_link *)(void *)state;
    if (!link || link->mark != LINK_MARK)
        return CUDA_ERROR_INVALID_HANDLE;
    *ret_link = link;
    return CUDA_SUCCESS;
}

static void want_log(struct fake_link_log *log, const struct fake_options *options, CUjit_option buffer,
                     CUjit_option size)
{
    if (!fake_options_value(options, size, &log->capacity) || !options->slots[buffer])
        return;
    log->buffer = *options->slots[buffer];
    log->size_slot = options->slots[size];
}

static bool is_output(unsigned option)
{
    return option == CU_JIT_WALL_TIME ||
           (option >= CU_JIT_INFO_LOG_BUFFER && option <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

static struct fake_link *create(struct fake_driver *driver, const struct fake_options *options)
{
    struct fake_link *link = fake_allocate(sizeof *link);
    link->mark = LINK_MARK;
    link->driver = driver;
    link->context = fake_driver_current(driver);
    link->arch = options->target.number ? options->target.number : link->context->device.plan->arch.number;
    for (unsigned i = 0; i < CU_JIT_NUM_OPTIONS; i++) {
        if (!options->slots[i] || is_output(i))
            continue;
        link->options[link->option_count] = (CUjit_option)i;
        link->values[link->option_count++] = *options->slots[i];
    }
    want_log(&link->error_log, options, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    want_log(&link->info_log, options, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    link->wall_time_slot = options->slots[CU_JIT_WALL_TIME];
    return link;
}

static void answer_log(const struct fake_link_log *log)
{
    unsigned used = 0;
    if (!log->size_slot)
        return;
    if (log->buffer && log->capacity) {
        used = log->text.length < log->capacity - 1 ? (unsigned)log->text.length : log->capacity - 1;
        memcpy(log->buffer, fake_buffer_text(&log->text), used);
        log->buffer[used] = 0;
    }
    memcpy(log->size_slot, &used, sizeof used);
}

/* After every call, so that a caller who stops at an error has read why. */
static void answer(const struct fake_link *link)
{
    float wall_time = (float)link->wall_time_ms;
    answer_log(&link->error_log);
    answer_log(&link->info_log);
    if (link->wall_time_slot)
        memcpy(link->wall_time_slot, &wall_time, sizeof wall_time);
}

CUresult CUDAAPI cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                              CUlinkState *stateOut)
{
    struct fake_driver *driver;
    struct fake_options read;
    CUresult result = fake_driver_get(&driver);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fake_driver_current(driver))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!stateOut)
        return CUDA_ERROR_INVALID_VALUE;
    result = fake_options_read(numOptions, options, optionValues, &read);
    if (result == CUDA_SUCCESS)
        *stateOut = (CUlinkState)(void *)create(driver, &read);
    return result;
}

static CUresult add(struct fake_link *link, CUjitInputType type, const unsigned char *bytes, size_t length,
                    const char *name, unsigned option_count)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    fake_driver_lock();
    if (option_count)
        fake_buffer_add_text(&link->error_log.text,
                             "emulated driver: options of a single link input are not emulated\n");
    else
        result = fake_link_add(link, type, bytes, length, name ? name : "<unnamed>");
    answer(link);
    fake_driver_unlock();
    return result;
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                               const char *name, unsigned int numOptions, CUjit_option *options,
                               void **optionValues)
{
    struct fake_link *link;
    (void)options;
    (void)optionValues;
    CUresult result = enter(state, &link);
    if (result != CUDA_SUCCESS)
        return result;
    if (!data || !size)
        return CUDA_ERROR_INVALID_VALUE;
    return add(link, type, data, size, name, numOptions);
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                               unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct fake_link *link;
    struct fake_buffer file;
    (void)options;
    (void)optionValues;
    CUresult result = enter(state, &link);
    if (result != CUDA_SUCCESS)
        return result;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return CUDA_ERROR_FILE_NOT_FOUND;
    bool read = fake_read_all(descriptor, &file);
    close(descriptor);
    if (!read)
        return CUDA_ERROR_FILE_NOT_FOUND;
    result = add(link, type, file.data, file.length, path, numOptions);
    fake_buffer_free(&file);
    return result;
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct fake_link *link;
    CUresult result = enter(state, &link);
    if (result != CUDA_SUCCESS)
        return result;
    if (!cubinOut)
        return CUDA_ERROR_INVALID_VALUE;
    fake_driver_lock();
    if (!fake_link_set_is_unique(&link->set, &link->error_log.text))
        result = CUDA_ERROR_INVALID_SOURCE; /* [48] */
    else if (!fake_link_set_is_complete(&link->set, 0, &link->error_log.text) &&
             !link->driver->refused_link_input) /* [63] */
        result = CUDA_ERROR_INVALID_SOURCE;
    if (result == CUDA_SUCCESS) {
        fake_pass(LINK_MS, fake_scenario()->burn);
        link->wall_time_ms += LINK_MS;
        fake_buffer_free(&link->cubin);
        fake_link_set_write(&link->set, link->arch, &link->cubin);
        *cubinOut = link->cubin.data;
        if (sizeOut)
            *sizeOut = link->cubin.length;
    }
    answer(link);
    fake_driver_unlock();
    return result;
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state)
{
    struct fake_link *link;
    CUresult result = enter(state, &link);
    if (result != CUDA_SUCCESS)
        return result;
    fake_link_set_free(&link->set);
    fake_buffer_free(&link->error_log.text);
    fake_buffer_free(&link->info_log.text);
    fake_buffer_free(&link->cubin);
    link->mark = 0;
    free(link);
    return CUDA_SUCCESS;
}
