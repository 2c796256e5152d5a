# SPDX-License-Identifier: Apache-2.0
"""The dependency law of the tree as data: who may include what, and what a library may not call."""
import re

# What every room of session may include.
RUN = ["public", "base", "arch", "manifest", "image", "host", "cache", "job/wire", "job/plan", "job/pool", "verify",
       "report"]

# Part of the program → the parts its files may include. The order is the order of the layers.
MAY_INCLUDE = {
    "public": [],
    "base": ["public"],
    "arch": ["base"],
    "yaml": ["base"],
    "profile": ["base", "arch", "yaml"],
    "manifest": ["base", "arch", "yaml"],
    "image": ["base", "arch"],
    "host": ["base", "arch"],
    "cuda": ["base", "arch"],
    "cache": ["base", "arch"],
    "job/wire": ["base"],
    "job/plan": ["base", "arch", "manifest", "image", "cache"],
    "job/worker": ["base", "job/wire", "cuda", "image", "cache"],
    "job/pool": ["base", "job/wire", "job/plan", "host"],
    "verify": ["base", "arch", "job/wire"],
    "report": ["base", "arch", "verify"],
    "session/run": RUN,
    "session/receipt": [*RUN, "session/run"],
    "session/make": [*RUN, "session/run"],
    "session/prepare": [*RUN, "session/run", "session/receipt", "session/make"],
    "session/doctor": [*RUN, "session/run"],
    "session/listing": [*RUN, "profile", "session/run", "session/receipt"],
    "session/frame": [*RUN, "session/run", "session/receipt", "session/prepare", "session/doctor"],
    "session/engine": [*RUN, "session/run", "session/receipt", "session/frame"],
    "session/build": [*RUN, "session/run", "session/make", "session/prepare"],
    "session/offline": [*RUN, "profile", "session/run", "session/make", "session/prepare", "session/doctor",
                        "session/frame"],
    "session/profile": [*RUN, "profile", "session/run", "session/make"],
    "session": [*RUN, "session/run", "session/receipt", "session/doctor", "session/frame", "session/engine",
                "session/offline"],
    "cli": ["public", "base", "session/frame", "report"],
    "cli/worker": ["public", "base", "report", "job/worker", "cli"],
}

# Library → the headers that belong to it, and the parts that may include them.
LIBRARIES = {
    "nettle": (r"nettle/", ["base"]),
    "libyaml": (r"yaml\.h$", ["yaml"]),
    "libelf": (r"(libelf|gelf)\.h$|elfutils/", ["image"]),
    "libzstd": (r"zstd(_errors)?\.h$", ["image"]),
    "liblz4": (r"lz4\w*\.h$", ["image"]),
    "libarchive": (r"archive(_entry)?\.h$", ["cache"]),
    "jansson": (r"jansson\.h$", ["report"]),
    "the dynamic loader": (r"dlfcn\.h$", ["cuda"]),
    "CUDA": (r"(cuda|nvrtc|nvJitLink|cudaTypedefs)\.h$", ["cuda"]),
}

# Headers of libc, the compiler and the kernel, that anybody may include. Another one is a new dependency: say so here.
LIBC = set("""
    assert.h ctype.h dirent.h elf.h endian.h errno.h fcntl.h fnmatch.h float.h getopt.h glob.h grp.h inttypes.h
    langinfo.h limits.h locale.h math.h poll.h pthread.h pwd.h sched.h search.h semaphore.h signal.h spawn.h
    stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h
    termios.h time.h unistd.h wchar.h
    linux/close_range.h linux/fs.h linux/magic.h linux/openat2.h linux/sched.h
    sys/eventfd.h sys/file.h sys/ioctl.h sys/mman.h sys/mount.h sys/param.h sys/prctl.h sys/random.h sys/resource.h
    sys/signalfd.h sys/socket.h sys/stat.h sys/statfs.h sys/statvfs.h sys/syscall.h sys/sysmacros.h sys/time.h
    sys/timerfd.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/vfs.h sys/wait.h sys/xattr.h
""".split())

# Symbols that only these parts may need; the first pattern that fits a symbol decides.
SYMBOLS = [
    (re.compile(r"dl(open|mopen|sym|vsym|close|error|addr1?|info|_iterate_phdr)$"), {"cuda"},
     "the dynamic loader is for cuda alone"),
    (re.compile(r"(__)?v?printf(_chk)?$|puts$|putchar(_unlocked)?$|perror$|v?warnx?$|v?errx?$|psignal$|(stdout|stderr)$"),
     {"cli"}, "a library never prints"),
    (re.compile(r"(exit|quick_exit|abort|_Exit|__assert_fail)$"), {"cli"}, "a library never exits"),
    # Between fork and exec nothing else can end the child.
    (re.compile(r"_exit$"), {"cli", "job"}, "a library never exits"),
]

# Module → variables that may change: the error that tells of no memory, which cannot be allocated, and the program's own.
STATE = {"base": re.compile(r"no_memory(_text)?$"), "cli": re.compile(r".*")}

# Files of a part whose name does not begin with the part's.
FILES = {"tool/job/child": "job/pool"}

# Archive name where it is not prejit_<folder>.
ARCHIVES = {"prejit_yaml_events": "yaml"}


def part_of(path):
    """The part a file below tool/ or include/ belongs to; None where the law has no place for it."""
    folders = path.split("/")
    if folders[:2] == ["include", "prejit"]:
        return "public"
    if folders[0] != "tool" or len(folders) < 3:
        return None
    module, stem = folders[1], re.sub(r"\.\w+$", "", folders[-1])
    if f"tool/{module}/{stem}" in FILES:
        return FILES[f"tool/{module}/{stem}"]
    if module == "job":
        part = "job/" + stem.split("_")[0]
        return part if part in MAY_INCLUDE else None
    if module == "cli" and stem == "worker":
        return "cli/worker"
    if module == "session" and len(folders) > 3:
        part = "session/" + folders[2]
        return part if len(folders) == 4 and part in MAY_INCLUDE else None
    return module if module in MAY_INCLUDE else None


def reachable(part, law=None):
    """All parts whose headers `part` may see, through what it may include."""
    law = law or MAY_INCLUDE
    seen, todo = set(), list(law[part])
    while todo:
        other = todo.pop()
        if other not in seen:
            seen.add(other)
            todo += law[other]
    return seen
