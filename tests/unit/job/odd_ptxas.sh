#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says that it is ptxas, and does what its first argument says: ptxas MODE [WORD...] -o OUTPUT INPUT.
set -u

last() {
    for word; do :; done
    printf '%s' "$word"
}

input=$(last "$@")
case $1 in
--version)
    echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'
    echo 'Copyright (c) 2005-2025 NVIDIA Corporation'
    echo 'Cuda compilation tools, release 12.8, V12.8.93'
    ;;
echo) # its words but for the names of its files, and what it reads, by name and as standard input
    shift
    words=
    while [ "$1" != -o ]; do
        words="$words[$1]"
        shift
    done
    { echo "$words ${TMPDIR-}"; cat "$input"; cat; } >"$2"
    echo 'to standard output'
    echo 'to standard error' >&2
    ;;
status)
    echo "ptxas $input, line 7; error   : No such thing as '$input'" >&2
    exit 3
    ;;
crash)
    ulimit -c 0
    kill -SEGV $$
    ;;
nothing) ;;
signals) # blocked and ignored ones
    grep -E '^Sig(Blk|Ign)' /proc/$$/status >&2
    echo made >"$3"
    ;;
loud)
    yes 'a line of a log' | head -c 3000000
    echo made >"$3"
    ;;
wait) # tells its number in the file that is named next, and goes on for long
    echo $$ >"$2.new"
    mv "$2.new" "$2"
    exec sleep 600
    ;;
esac
