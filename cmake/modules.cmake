# SPDX-License-Identifier: Apache-2.0
# prejit_module(NAME [LINK targets…]): one static library of all C files in the current folder.
# Which module may include which is checked by tests/lint/dependencies.py, not by link order.
function(prejit_module name)
    cmake_parse_arguments(MODULE "" "" "LINK" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS *.c)
    add_library(prejit_${name} STATIC ${sources})
    target_include_directories(prejit_${name} PUBLIC ${PROJECT_SOURCE_DIR}/tool ${PROJECT_SOURCE_DIR}/include
        ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(prejit_${name} PUBLIC ${MODULE_LINK})
endfunction()
