/* SPDX-License-Identifier: Apache-2.0 */
/* What is built in is right, and named after its driver. */
#include "support.h"

static void built_in_profiles_can_be_loaded(void **state)
{
    (void)state;
    const char *const *versions = pj_profile_built_in();
    for (size_t i = 0; versions[i]; i++) {
        PJ_CLEANUP_ERROR struct pj_error *err = NULL;
        PJ_CLEANUP_ARENA struct pj_arena arena = {0};
        struct pj_profile profile;
        if (pj_profile_load(versions[i], &arena, &profile, &err) != 0)
            fail_msg("%s", pj_error_message(err));
        assert_string_equal(profile.driver_version, versions[i]);
        assert_true(i == 0 || strcmp(versions[i - 1], versions[i]) < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in_profiles_can_be_loaded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
