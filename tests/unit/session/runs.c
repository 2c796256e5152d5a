/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sessions that need no driver. */
#include "runs.h"

#include <fcntl.h>

#include "cache/entry.h"
#include "session/receipt/identity.h"

static void copy_golden(const struct folder *folder, const char *from, const char *to)
{
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    PJ_CLEANUP_FREE char *path = pj_path_join(GOLDEN, from);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &bytes, NULL), 0);
    folder_write_bytes(folder, to, bytes.data, bytes.size);
}

/* Gives the inode's time. */
static int64_t describe(const char *path, struct pj_receipt_file *file)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    *file = (struct pj_receipt_file){
        .path = path,
        .device = status.st_dev,
        .inode = status.st_ino,
        .size_bytes = (uint64_t)status.st_size,
        .mtime_seconds = status.st_mtim.tv_sec,
    };
    return INT64_C(1000000000) * status.st_ctim.tv_sec + status.st_ctim.tv_nsec;
}

static void make_files(struct run *run)
{
    folder_make(&run->folder);
    folder_write(&run->folder, "m.yaml", "version: 1\nmodules: [{name: a, ptx: axpb.ptx}]\n");
    folder_write(&run->folder, "driver/libcuda.so.580.1", "driver");
    folder_write(&run->folder, "root/etc/ld.so.cache", "");
    folder_write(&run->folder, "root/proc/driver/nvidia/version", "NVRM version: Module  580.1  x\n");
    folder_write(&run->folder, "root/proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: H200\n");
    copy_golden(&run->folder, "inputs/axpb.ptx", "axpb.ptx");
    copy_golden(&run->folder, "plain/index", "cache/index");
    copy_golden(&run->folder, "plain/" ENTRY_PATH, "cache/" ENTRY_PATH);
    run->manifest_path = pj_path_join(run->folder.path, "m.yaml");
    run->image_path = pj_path_join(run->folder.path, "axpb.ptx");
    run->driver_path = pj_path_join(run->folder.path, "driver/libcuda.so.580.1");
    run->root_path = pj_path_join(run->folder.path, "root");
}

static void make_receipt(struct run *run)
{
    PJ_CLEANUP_BUFFER struct pj_buffer image = {0};
    PJ_CLEANUP_FREE char *entry = pj_path_join(run->session.location.path, ENTRY_PATH);
    struct pj_receipt_file entry_file;
    (void)describe(run->driver_path, &run->driver);
    run->input.ctime_ns = describe(run->image_path, &run->input.file);
    (void)describe(entry, &entry_file);
    assert_int_equal(pj_file_read(AT_FDCWD, run->image_path, 1 << 20, &image, NULL), 0);
    pj_sha256_of(image.data, image.size, &run->input.sha256);
    run->device = (struct pj_report_device){"H200", "sm_90", "GPU-1"};
    run->job.row = (struct pj_report_job){.id = "a@sm_90",
                                          .module = "a",
                                          .target = "sm_90",
                                          .required = true,
                                          .verdict = PJ_VERDICT_PROVEN,
                                          .has_cold_ms = true,
                                          .cold_ms = 350,
                                          .warm = {.ms = {1.5}, .count = 1},
                                          .witnesses = {.jit_disabled = PJ_WITNESS_YES}};
    run->input.named = true;
    run->job.content = run->input.sha256;
    run->job.inputs = &run->position;
    run->job.input_count = 1;
    run->entry = (struct pj_receipt_entry){
        .hash = ENTRY_HASH, .size_bytes = entry_file.size_bytes, .mtime_seconds = entry_file.mtime_seconds};
    PJ_CLEANUP_CLOSE int cache = open(run->session.location.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(pj_entry_peek_checksum(cache, ENTRY_HASH, &run->entry.checksum, &run->entry.ctime_ns));
    run->job.entries = &run->entry;
    run->job.entry_count = 1;
    run->receipt = run->session.now;
    run->receipt.driver_files = &run->driver;
    run->receipt.driver_file_count = 1;
    run->receipt.host.devices = &run->device;
    run->receipt.host.device_count = 1;
    run->receipt.host.stamp = STAMP;
    run->receipt.cache_format = PJ_CACHE_FORMAT;
    run->receipt.inputs = &run->input;
    run->receipt.input_count = 1;
    run->receipt.jobs = &run->job;
    run->receipt.job_count = 1;
    run->session.receipt = &run->receipt;
}

void run_make(struct run *run)
{
    PJ_CLEANUP_ERROR struct pj_error *err = NULL;
    memset(run, 0, sizeof *run);
    make_files(run);
    assert_int_equal(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    struct pj_session *session = &run->session;
    run->options.manifest = run->manifest_path;
    session->options = &run->options;
    session->root.prefix = run->root_path;
    session->selection_text = "";
    session->location.path = pj_path_join(run->folder.path, "cache");
    session->location.limit_bytes = PJ_CACHE_DEFAULT_LIMIT_BYTES;
    expect_success(pj_manifest_load(run->manifest_path, &session->manifest, &err), &err);
    expect_success(pj_identity_now(session, &err), &err);
    make_receipt(run);
}

void run_free(struct run *run)
{
    pj_plan_free(run->session.plan);
    pj_manifest_free(run->session.manifest);
    pj_cache_location_free(&run->session.location);
    pj_arena_free(&run->session.now.arena);
    pj_arena_free(&run->session.arena);
    free(run->manifest_path);
    free(run->image_path);
    free(run->driver_path);
    free(run->root_path);
    folder_remove(&run->folder);
}

void run_touch(const struct run *run, const char *name)
{
    const struct timespec times[2] = {{1500000000, 0}, {1500000000, 0}};
    PJ_CLEANUP_FREE char *path = pj_path_join(run->folder.path, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

struct pj_receipt_input run_describe(const struct run *run, struct pj_arena *arena, const char *name)
{
    struct pj_receipt_input input = {.named = false};
    PJ_CLEANUP_BUFFER struct pj_buffer bytes = {0};
    const char *path = pj_arena_printf(arena, "%s/%s", run->folder.path, name);
    assert_non_null(path);
    input.ctime_ns = describe(path, &input.file);
    assert_int_equal(pj_file_read(AT_FDCWD, path, 1 << 20, &bytes, NULL), 0);
    pj_sha256_of(pj_buffer_text(&bytes), bytes.size, &input.sha256);
    return input;
}
