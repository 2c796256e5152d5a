# SPDX-License-Identifier: Apache-2.0
# Finds CUDA's headers and the static archives that go into the one executable.
find_package(CUDAToolkit QUIET)
find_path(PREJIT_CUDA_INCLUDE_DIR cuda.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{CUDA_HOME}/include /usr/local/cuda/include
    DOC "Folder that holds cuda.h" REQUIRED)

# Static, so that the program is one file: the machines it runs on have none of these libraries.
function(prejit_static_library target archive header)
    find_library(${target}_ARCHIVE NAMES lib${archive}.a REQUIRED)
    find_path(${target}_INCLUDE NAMES ${header} REQUIRED)
    mark_as_advanced(${target}_ARCHIVE ${target}_INCLUDE)
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${target}_ARCHIVE}
        INTERFACE_INCLUDE_DIRECTORIES ${${target}_INCLUDE})
endfunction()
prejit_static_library(prejit_yaml yaml yaml.h)
prejit_static_library(prejit_jansson jansson jansson.h)
prejit_static_library(prejit_nettle nettle nettle/sha2.h)
prejit_static_library(prejit_elf elf libelf.h)
prejit_static_library(prejit_z z zlib.h)
set_property(TARGET prejit_elf PROPERTY INTERFACE_LINK_LIBRARIES prejit_z)
prejit_static_library(prejit_lz4 lz4 lz4.h)
prejit_static_library(prejit_zstd zstd zstd.h)
