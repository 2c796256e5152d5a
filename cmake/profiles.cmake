# SPDX-License-Identifier: Apache-2.0
# prejit_embed_profiles(OUTPUT FILE…): writes the C file OUTPUT with the tables that tool/profile/built_in.h declares, which
# hold the profiles FILE…; configuring runs again when one of them changes.
function(prejit_embed_profiles output)
    list(SORT ARGN)
    set(versions "")
    set(bytes "")
    set(texts "")
    set(number 0)
    string(REPEAT "0x..," 20 row)
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        get_filename_component(version ${file} NAME)
        string(REGEX REPLACE "\\.yaml$" "" version ${version})
        file(READ ${file} hex HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(REGEX REPLACE "(${row})" "\\1\n    " hex "${hex}")
        string(APPEND bytes "static const unsigned char text_${number}[] = {\n    ${hex}0x00};\n")
        string(APPEND versions "    \"${version}\",\n")
        string(APPEND texts "    {text_${number}, sizeof text_${number} - 1},\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
/* SPDX-License-Identifier: Apache-2.0 */
/* Made by the build (cmake/profiles.cmake): profiles as bytes. */
#include "profile/built_in.h"

@bytes@
const char *const pj_profile_built_in_versions[] = {
@versions@    NULL,
};

const struct pj_profile_text pj_profile_built_in_texts[] = {
@texts@    {NULL, 0},
};
]=])
endfunction()
