#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh BUILD SOURCE DRIVER CC: installs the build into a folder, moves it away, builds the example against it by
# CMake's package and by pkg-config, and runs both with the program that each of them names. Prints TAP.
set -eu
build=$1 source=$2 driver=$3 cc=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
failures=0

check() { # WHAT EXPECTED FOUND
    number=$((number + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        printf '%s\n' "expected: $2" "found: $3" | sed 's/^/# /'
        failures=$((failures + 1))
    fi
}

cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/prefix" # where it is found must not matter
prefix=$work/prefix
cat >"$work/a.ptx" <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    ret;
}
PTX
printf 'version: 1\ntargets: [native]\nmodules: [{name: a, ptx: a.ptx}]\n' >"$work/m.yaml"
export PREJIT_DRIVER="$driver" PREJIT_ROOT="$work/no-root" HOME="$work" CUDA_VISIBLE_DEVICES=0
mkdir "$work/no-root"

run() { # HOW PROGRAM WORKER
    answer=$(LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libprejit.so)") \
        "$2" "$3" "$work/m.yaml" "$work/cache-$1" 2>&1) && status=0 || status=$?
    check "$1: the example's status" 0 "$status"
    check "$1: it warms" "1 job: 1 proven (1 compiled)" "$(printf '%s\n' "$answer" | tail -n 1 | sed 's/ in .*//')"
}

cat >>"$work/show.cmake" <<'CMAKE'
get_target_property(program prejit::program LOCATION)
file(WRITE ${CMAKE_BINARY_DIR}/program ${program})
CMAKE
cmake -S "$source/examples/embed" -B "$work/cmake" -D CMAKE_C_COMPILER="$cc" -D CMAKE_PREFIX_PATH="$prefix" \
    -D CMAKE_PROJECT_TOP_LEVEL_INCLUDES= >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
cmake --build "$work/cmake" >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
run cmake "$work/cmake/warm" "$prefix/bin/prejit"

mkdir "$work/other"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(prejit 0.2 REQUIRED)\n' >"$work/other/CMakeLists.txt"
cmake -S "$work/other" -B "$work/other/build" -D CMAKE_C_COMPILER="$cc" -D CMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    status=0 || status=$?
check "cmake: another version is not taken" 1 "$status"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(prejit REQUIRED)\nget_target_property(program prejit::program LOCATION)\nmessage("program ${program}")\n' >"$work/other/CMakeLists.txt"
found=$(cmake -S "$work/other" -B "$work/other/build" -D CMAKE_C_COMPILER="$cc" -D CMAKE_PREFIX_PATH="$prefix" 2>&1 |
    sed -n 's/^program //p')
check "cmake: the program" "$prefix/bin/prejit" "$found"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name prejit.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # several words
"$cc" "$source/examples/embed/warm.c" $(pkg-config --cflags --libs prejit) -o "$work/warm"
run pkg-config "$work/warm" "$(pkg-config --variable=program prejit)"
check "pkg-config: the version" "$(sed -n 's/.*project(prejit VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")" \
    "$(pkg-config --modversion prejit)"
check "the library needs libc alone" "libc.so.6" \
    "$(objdump -p "$prefix"/lib*/libprejit.so "$prefix"/lib/*/libprejit.so 2>/dev/null | sed -n 's/ *NEEDED *//p' | grep -v '^ld-linux' | sort -u | tr '\n' ' ' | sed 's/ $//')"
echo "1..$number"
[ "$failures" = 0 ]
