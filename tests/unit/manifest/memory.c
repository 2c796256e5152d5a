/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: each time the answer is "out of memory", and nothing leaks. */
#include "folder.h"

#include "../support/failing_memory.h"
#include "manifest/help.h"

static void sweep(const struct folder *folder, const char *text, int without_failure)
{
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
        failing_memory_start(n);
        int r = pj_manifest_parse(text, strlen(text), "f", folder->path, false, &manifest, &err);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : without_failure);
        assert_int_equal(manifest != NULL, r == 0);
        if (failed)
            assert_string_equal(pj_error_message(err), "out of memory");
    }
}

static void parsing_fails_cleanly(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "k/a.ptx", "");
    folder_write(&folder, "k/b/a.ptx", "");
    folder_write(&folder, "k/c/a.ptx", "");
    sweep(&folder,
          "version: 1\ncache: {path: nv, max_size: 2GiB}\ntargets: [native, sm_80..sm_90]\nmodules:\n"
          "- {name: a, ptx: k/a.ptx, options: {max_registers: 64}, kernels: [k], targets: [9.0]}\n"
          "- {name: b, ptx: 'k/?/*.ptx'}\n"
          "- {name: c, source: a.cu, nvrtc: [-arch=sm_90], headers: {a.h: k/a.h}, program_name: c}\n"
          "- {name: d, link: [a.ptx, b.ptx], linker: nvjitlink}\n",
          0);
    sweep(&folder,
          HEAD
          "- {name: a@b, ptx: ~/a, kernel: [k], sha256: 1, required: yes}\n"
          "- {name: b, ptx: 'k/*', sha256: 1, frobnicate: 1, options: {ftz: 1, max_registers: x, "
          "maxrregcount: 1}}\n"
          "- {name: b, ptx: k/a.ptx, nvrtc: [a], targets: [turbo, [], 80;90]}\n- {name: b, ptx: 'k/**'}\n"
          "- {name: b, ptx: 'none/*', targets: 80;90}\n- {name: b, ptx: a, source: b}\n- 1\n",
          PJ_ERROR_MANIFEST);
    sweep(&folder,
          HEAD "- {name: a, source: 'k/*.cu', nvrtc: [--no-cache, -arch=turbo], headers: {'': a, b: 'k/*'}}\n"
               "- {name: b, link: [a, ./a, 'k/*']}\n",
          PJ_ERROR_MANIFEST);
    sweep(&folder, HEAD "- {name: a, binary: a}\n", PJ_ERROR_UNSUPPORTED);
    sweep(&folder, "version: 2\n", PJ_ERROR_MANIFEST);
}

static void loading_fails_cleanly(void **state)
{
    (void)state;
    CLEANUP_FOLDER struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "m.yaml", WHOLE);
    static const char *const names[] = {"m.yaml", "none.yaml"};
    for (size_t i = 0; i < 2; i++) {
        PJ_CLEANUP_FREE char *path = pj_path_join(folder.path, names[i]);
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            PJ_CLEANUP_ERROR struct pj_error *err = NULL;
            PJ_CLEANUP_MANIFEST struct pj_manifest *manifest = NULL;
            failing_memory_start(n);
            int r = pj_manifest_load(path, &manifest, &err);
            failed = failing_memory_stop();
            assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : i == 0 ? 0 : PJ_ERROR_MANIFEST);
        }
    }
}

static void writing_fails_cleanly(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        PJ_CLEANUP_BUFFER struct pj_buffer text = {0};
        failing_memory_start(n);
        int r = pj_manifest_help(&text, NULL);
        failed = failing_memory_stop();
        assert_int_equal(r, failed ? PJ_ERROR_NO_MEMORY : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing_fails_cleanly),
        cmocka_unit_test(loading_fails_cleanly),
        cmocka_unit_test(writing_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
