/* SPDX-License-Identifier: Apache-2.0 */
/* All findings: code, severity, effect, symptom, explanation and cure. Numbers in brackets are lines of
 * docs/cache-model.md. */
#include "host/finding.h"

#define BOTH (PJ_STOPS_READING | PJ_STOPS_WARM)

/* Each suffices alone, whatever else is closed in a cache. */
#define OPEN(cache) "chmod -R a+rX " cache " && chmod a+rw " cache "/index"
#define GIVE_OR_OPEN(cache)                                                                                  \
    "give it to that user, as root: chown -R {value} " cache " && chmod -R u+rwX " cache                     \
    "; or let every user read it: " OPEN(cache)

static const struct pj_finding_info table[PJ_FINDING_COUNT] = {
    [PJ_FINDING_CACHE_DISABLED] =
        {"cache-disabled", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START, "the cache is switched off",
         "With `CUDA_CACHE_DISABLE=1` the driver neither reads nor writes the cache [26]. Some base images "
         "set it.",
         "unset {subject}, here and for the program", NULL, "CUDA_CACHE_DISABLE"},
    [PJ_FINDING_CACHE_DISABLE_ODD] =
        {"cache-disable-odd", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE,
         "CUDA_CACHE_DISABLE has a value that disables nothing",
         "The driver reads it as a number, and only 1 disables [39]: `true`, `yes` and `2` leave the cache "
         "on.",
         "unset {subject}, or set it to 1 where no cache is wanted", NULL, "CUDA_CACHE_DISABLE"},
    [PJ_FINDING_CACHE_PATH_EMPTY] = {"cache-path-empty", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START,
                                     "CUDA_CACHE_PATH is empty",
                                     "Set but empty means no cache at all, whatever HOME is [25].",
                                     "set {subject} to a directory, or unset it", NULL, "CUDA_CACHE_PATH"},
    [PJ_FINDING_CACHE_PATH_LITERAL] =
        {"cache-path-literal", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_OTHER_USER,
         "the path holds what only a shell replaces",
         "YAML files, systemd and `docker --env-file` hand over `~`, `$HOME` and quotes as they stand. The "
         "driver makes a directory of that very name.",
         "write the path out: {subject}={value}", "DIRECTORY", "CUDA_CACHE_PATH"},
    [PJ_FINDING_CACHE_PATH_RELATIVE] =
        {"cache-path-relative", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_OTHER_USER, "the path is relative",
         "The driver starts it at the program's working directory [25]: started elsewhere, the program has "
         "another cache.",
         "set {subject}={value}", "DIRECTORY", "CUDA_CACHE_PATH"},
    [PJ_FINDING_CACHE_PATH_ROOT] =
        {"cache-path-root", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_OTHER_USER,
         "the path is the root directory",
         "The driver strews its folders 0 to f and `index` over it, and only root can write there. prejit "
         "refuses it.",
         "set {subject} to a directory for the cache alone, here and for the program", NULL,
         "CUDA_CACHE_PATH"},
    [PJ_FINDING_CACHE_SIZE_NOTHING] = {"cache-size-nothing", PJ_SEVERITY_ERROR, PJ_STOPS_WARM,
                                       PJ_SYMPTOM_EVERY_START, "the limit is read as next to nothing",
                                       "The driver takes the digits in front and forgets the rest: `2G` is "
                                       "two bytes, and a word is 0 [39]. "
                                       "No entry fits, so nothing is stored [24].",
                                       "set {subject}={value}, or unset it", "BYTES", "CUDA_CACHE_MAXSIZE"},
    [PJ_FINDING_CACHE_SIZE_ODD] =
        {"cache-size-odd", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE, "the limit is no plain number",
         "The driver takes the digits in front; a minus or more than 64 bits mean no limit [39].",
         "set {subject}={value}", "BYTES", "CUDA_CACHE_MAXSIZE"},
    [PJ_FINDING_HOME_UNSET] = {"home-unset", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START,
                               "neither CUDA_CACHE_PATH nor HOME is set",
                               "Without both the driver has no place for a cache and keeps none [25].",
                               "set CUDA_CACHE_PATH to a directory, here and for the program", NULL, NULL},
    [PJ_FINDING_HOME_IS_ROOT] =
        {"home-is-root", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_OTHER_USER, "HOME is the root directory",
         "Container users without an entry in /etc/passwd get HOME=/, and the cache would be "
         "/.nv/ComputeCache.",
         "set CUDA_CACHE_PATH to a directory of that user", NULL, NULL},
    [PJ_FINDING_VARIABLE_MISSPELT] = {"variable-misspelt", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_EVERY_START,
                                      "a variable has a name that the driver does not know",
                                      "Names it does not know are passed over in silence.",
                                      "use {value} instead of {subject}", "the name that is meant",
                                      "the variable"},
    [PJ_FINDING_JIT_FORCED] =
        {"jit-forced", PJ_SEVERITY_ERROR, PJ_STOPS_READING, PJ_SYMPTOM_EVERY_START,
         "the JIT is forced to compile again",
         "With `CUDA_FORCE_PTX_JIT=1` or `CUDA_FORCE_JIT=1` every load compiles and rewrites its entry [26].",
         "unset {subject} for the program", NULL, "the variable"},
    [PJ_FINDING_JIT_DISABLED] =
        {"jit-disabled", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_COMPILE_FAILS, "the JIT is switched off",
         "What is in the cache loads; everything else fails with CUDA_ERROR_JIT_COMPILATION_DISABLED [27].",
         "unset {subject}, unless that is wanted", NULL, "the variable"},
    [PJ_FINDING_LOADING_EAGER] = {"loading-eager", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_STILL_SLOW,
                                  "everything is loaded at the start",
                                  "With EAGER every module is loaded, and where it is missing compiled, "
                                  "before the first call returns.",
                                  "unset {subject}, unless that is wanted", NULL, "CUDA_MODULE_LOADING"},
    [PJ_FINDING_LOADING_ODD] = {"loading-odd", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE,
                                "the loading mode is none that is documented",
                                "The documented values are DEFAULT, LAZY and EAGER.",
                                "set {subject} to DEFAULT, LAZY or EAGER, or unset it", NULL, "the variable"},
    [PJ_FINDING_NO_DEVICE_VISIBLE] =
        {"no-device-visible", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_NO_DRIVER, "every GPU is hidden",
         "The list ends at the first word that names no GPU; an empty list makes cuInit say "
         "CUDA_ERROR_NO_DEVICE [37].",
         "unset {subject}, or list GPUs by index or UUID", NULL, "CUDA_VISIBLE_DEVICES"},
    [PJ_FINDING_CONTAINER_DEVICES] =
        {"container-devices", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NO_DRIVER,
         "the container was started without GPUs",
         "NVIDIA's container runtime puts neither device nodes nor driver libraries into a container with "
         "this value.",
         "start the container with {subject}=all, or with --gpus all", NULL, "NVIDIA_VISIBLE_DEVICES"},
    [PJ_FINDING_CONTAINER_CAPABILITIES] =
        {"container-capabilities", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NO_DRIVER,
         "the container has no `compute` capability",
         "NVIDIA's container runtime puts libcuda and the JIT compiler into a container only for "
         "`compute`.",
         "start the container with {subject}=compute,utility", NULL, "NVIDIA_DRIVER_CAPABILITIES"},
    [PJ_FINDING_NOT_PASSED_ON] =
        {"not-passed-on", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_NOT_SURE, "prejit's workers do not get a variable",
         "Workers get a short, listed environment, so that nothing in the caller's changes what is compiled.",
         "nothing to do, unless the program compiles differently with {subject}", NULL, "the variable"},
    [PJ_FINDING_ENV_FILE_LINE] =
        {"env-file-line", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE,
         "a line of the environment file is no NAME=VALUE, or is read differently by docker and systemd",
         "docker takes quotes as part of the value, systemd takes them away; neither knows `export`.",
         "write NAME=VALUE without quotes", NULL, NULL},
    [PJ_FINDING_PROCESS_UNREADABLE] =
        {"process-unreadable", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_NOT_SURE,
         "something of the process cannot be read",
         "Its environment, user, root and working directory stand in /proc; only its user and root may read "
         "them.",
         "run prejit doctor as the user of that process, or as root", NULL, NULL},
    [PJ_FINDING_PROCESS_CLOSED_TO_ROOT] =
        {"process-closed-to-root", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_NOT_SURE,
         "something of the process cannot be read, although this is root",
         "In /proc the kernel shows a process's environment, root and working directory to its own user, and "
         "to root only with CAP_SYS_PTRACE, which containers take away.",
         "run prejit doctor where the process was started, outside this container, or give the container "
         "--cap-add SYS_PTRACE; or describe the process: --user and --env-file in place of --pid",
         NULL, NULL},
    [PJ_FINDING_OTHER_ROOT] = {"other-root", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_OTHER_USER,
                               "the process has another root directory",
                               "It runs in a container or chroot: the same path is another directory there.",
                               "fill the cache inside that container, or mount one directory into both", NULL,
                               NULL},
    [PJ_FINDING_USER_WITHOUT_ENTRY] = {"user-without-entry", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_OTHER_USER,
                                       "the user has no entry in /etc/passwd",
                                       "Programs of such a user usually get HOME=/.",
                                       "set CUDA_CACHE_PATH for its programs", NULL, NULL},
    [PJ_FINDING_CACHE_ELSEWHERE] =
        {"cache-elsewhere", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_OTHER_USER,
         "the program reads another cache than the one that is filled",
         "The driver looks in one directory alone: CUDA_CACHE_PATH, else $HOME/.nv/ComputeCache [25].",
         "set CUDA_CACHE_PATH={value} for the program", "the filled directory", NULL},
    [PJ_FINDING_FILLED_CACHE_UNKNOWN] =
        {"filled-cache-unknown", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_OTHER_USER,
         "no cache can be filled from here",
         "The manifest names no directory, and the environment of this command gives none.",
         "name it with --cache, or with cache.path in {subject}", NULL, "MANIFEST"},
    [PJ_FINDING_CACHE_NOT_THERE] = {"cache-not-there", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_EVERY_START,
                                    "there is no cache yet",
                                    "The driver makes the directory when it stores its first entry [25].",
                                    "run: prejit warm MANIFEST", NULL, NULL},
    [PJ_FINDING_CACHE_NOT_CREATABLE] =
        {"cache-not-creatable", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START,
         "the cache's directory is missing and cannot be made",
         "The driver then keeps nothing, without a word [25].",
         "make it for that user: mkdir -p {subject} && chown {value} {subject}, or set CUDA_CACHE_PATH to a "
         "directory it may write",
         "USER", "CACHE"},
    [PJ_FINDING_PATH_NOT_DIRECTORY] = {"path-not-directory", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START,
                                       "a part of the cache's path is no directory",
                                       "The driver then keeps nothing, without a word [25].",
                                       "move {subject} away, or set CUDA_CACHE_PATH to another directory",
                                       NULL, "FILE"},
    [PJ_FINDING_PATH_CLOSED] = {"path-closed", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER,
                                "the user may not pass a directory on the way to the cache",
                                "What cannot be reached is not read, without a word [18].",
                                "keep the cache where that user may go (CUDA_CACHE_PATH), or open the "
                                "directory: chmod a+x {subject}",
                                NULL, "DIRECTORY"},
    [PJ_FINDING_PATH_OF_ROOT] =
        {"path-of-root", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER,
         "a directory inside the user's own belongs to root and is closed",
         "Typically root ran the program once with this HOME. The user's programs now compile at every start "
         "[18, 19].",
         "give it back: chown -R {value} {subject}", "USER", "DIRECTORY"},
    [PJ_FINDING_CACHE_OF_ROOT] =
        {"cache-of-root", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_OTHER_USER, "the cache belongs to root",
         "Typically root ran the program once. What root stored, others cannot read, and they cannot add to "
         "it [19].",
         "give it to that user, as root: chown -R {value} {subject}; or let root alone warm it", "USER",
         "CACHE"},
    [PJ_FINDING_CACHE_CLOSED] =
        {"cache-closed", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER, "the user may not enter the cache",
         "Who warms it owns it: its directories are made for their owner alone, and nobody else can write "
         "`index`, without which the driver reads nothing, without a word [18, 19].",
         GIVE_OR_OPEN("{subject}"), "USER", "CACHE"},
    [PJ_FINDING_CACHE_OF_OTHER_USER] =
        {"cache-of-other-user", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER,
         "the cache is another user's, and closed to this one",
         "Who warms it owns it: its directories are made for their owner alone, and nobody else can write "
         "`index`, without which the driver reads nothing, without a word [18, 19].",
         "give this user a cache of its own (CUDA_CACHE_PATH), or run as user {value}; its owner can let "
         "others read it: " OPEN("{subject}"),
         "OWNER", "CACHE"},
    [PJ_FINDING_CACHE_NOT_OF_ROOT] =
        {"cache-not-of-root", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_OTHER_USER,
         "root works on the cache of another user",
         "What root stores there, that user's programs can neither read nor write [19], so prejit warm and "
         "prejit verify refuse it. The cache itself may be all right.",
         "work as that user, here and with the other commands: --user {value}", "USER", NULL},
    [PJ_FINDING_ROOT_AMONG_OTHERS] =
        {"root-among-others", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_DANGER,
         "root works where other users can write",
         "Who can write the cache, a directory in it or one on the way to it chooses the code that root's "
         "programs load, and where root writes, so prejit warm and prejit verify refuse it.",
         "work as the user whose programs use this cache, with --user USER, or name a cache of root's own "
         "with "
         "--cache",
         NULL, NULL},
    [PJ_FINDING_ENTRIES_OF_OTHERS] =
        {"entries-of-others", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_DANGER,
         "entries in root's cache belong to other users",
         "An entry's checksum is no signature [35]: whoever owns or can write the file chooses the code. "
         "Such "
         "entries stay when a cache that was open is closed.",
         "remove them: find {subject} -type f \\( ! -user root -o -perm /022 \\) ! -name index -delete, or "
         "name a cache of root's own with --cache",
         NULL, "CACHE"},
    [PJ_FINDING_PATH_OF_OTHER_USER] =
        {"path-of-other-user", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_DANGER,
         "a directory on the way to the cache belongs to somebody else",
         "Its owner, who is neither the program's user nor root, can put another cache in place of this one, "
         "and an entry's checksum is no signature [35].",
         "keep the cache below directories of that user or of root (CUDA_CACHE_PATH)", NULL, NULL},
    [PJ_FINDING_CACHE_OPEN] = {"cache-open", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_DANGER,
                               "others can write into the cache",
                               "An entry's checksum is no signature [35]: whoever can write there chooses "
                               "the code that runs on the "
                               "GPU as this user.",
                               "close it: chmod go-w {subject}", NULL, "DIRECTORY"},
    [PJ_FINDING_CACHE_READ_ONLY] =
        {"cache-read-only", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_EVERY_START,
         "entries can be read but none can be added",
         "With a writable `index` in a read-only tree hits work, and what is missing is compiled at each "
         "start [18].",
         "nothing to do where everything needed is warmed; else make {subject} writable", NULL, "CACHE"},
    [PJ_FINDING_INDEX_NOT_WRITABLE] =
        {"index-not-writable", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER,
         "the user may not write the cache's `index`",
         "The driver opens `index` for reading and writing even to look something up; where that fails it "
         "reads nothing at all, without a word [18].",
         GIVE_OR_OPEN("{folder}"), "USER", NULL},
    [PJ_FINDING_INDEX_READ_ONLY] =
        {"index-read-only", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_EVERY_START,
         "the cache's `index` lies on a read-only file system",
         "The driver opens `index` for reading and writing even to look something up; where that fails it "
         "reads nothing at all, without a word [18]. The rest of the cache may be read-only.",
         "before it is mounted, make {subject} a symbolic link to a file that the user can write (copy "
         "`index` "
         "there), or mount the cache writable",
         NULL, "INDEX"},
    [PJ_FINDING_INDEX_NOT_CREATABLE] =
        {"index-not-creatable", PJ_SEVERITY_ERROR, BOTH, PJ_SYMPTOM_OTHER_USER,
         "the cache has no `index` and the user may not make one",
         "Without an `index` that it can write, the driver reads nothing at all, without a word [18].",
         "give it to that user, as root: chown -R {value} {subject}", "USER", "CACHE"},
    [PJ_FINDING_INDEX_DANGEROUS] =
        {"index-dangerous", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_LOST,
         "the `index` makes the driver throw entries away",
         "What the driver does to the entries depends on what `index` looks like [20].",
         "run: prejit warm MANIFEST, which repairs it before anything else", NULL, NULL},
    [PJ_FINDING_ENTRIES_UNREADABLE] =
        {"entries-unreadable", PJ_SEVERITY_ERROR, PJ_STOPS_READING, PJ_SYMPTOM_OTHER_USER,
         "the user may not read entries",
         "The driver makes its directories for their owner alone, whatever the umask [19].",
         "chown -R {value} {subject}", "USER", "CACHE"},
    [PJ_FINDING_CACHE_UNREADABLE] = {"cache-unreadable", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE,
                                     "prejit itself may not look into the cache",
                                     "Content, index and sizes could not be checked.",
                                     "run prejit doctor as the owner of {subject}, or as root", NULL,
                                     "CACHE"},
    [PJ_FINDING_LIMIT_BELOW_CONTENT] =
        {"limit-below-content", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_LOST,
         "the program's limit is below what the cache holds",
         "At its next store the program throws out what was stored first, until the rest fits [24].",
         "set CUDA_CACHE_MAXSIZE={value} for the program", "BYTES", NULL},
    [PJ_FINDING_LIMIT_BELOW_ENTRY] = {"limit-below-entry", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_LOST,
                                      "the program's limit is below the size of one entry",
                                      "Such an entry is never stored [24], and the next store throws it out.",
                                      "set CUDA_CACHE_MAXSIZE={value} for the program", "BYTES", NULL},
    [PJ_FINDING_FILE_SYSTEM_SHARED] =
        {"file-system-shared", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_LOST,
         "the cache lies on a shared file "
         "system",
         "Record locks may hold on one node only, and a lock that takes over 200 ms makes the driver drop "
         "what it compiled [23].",
         "keep the cache on a local disk: CUDA_CACHE_PATH, and copy a warmed cache to each node", NULL, NULL},
    [PJ_FINDING_FILE_SYSTEM_MEMORY] =
        {"file-system-memory", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_LOST, "the cache lies in memory",
         "It is gone when the machine or the container stops, and it counts as memory of the container.",
         "keep the cache on a disk: CUDA_CACHE_PATH, or warm at each start", NULL, NULL},
    [PJ_FINDING_FILE_SYSTEM_LAYERED] =
        {"file-system-layered", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_LOST,
         "the cache lies in a container's own layer",
         "What is written in a running container goes with it; what was written while the image was built "
         "stays.",
         "mount a volume there, or warm while the image is built", NULL, NULL},
    [PJ_FINDING_SPACE_NONE] =
        {"space-none", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_EVERY_START, "the file system is full",
         "What cannot be written is not kept, without a word. Quotas cannot be seen here.",
         "make room on the file system of {subject}, or set CUDA_CACHE_PATH to another one", NULL, "CACHE"},
    [PJ_FINDING_SPACE_LOW] =
        {"space-low", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_LOST, "the file system is nearly full",
         "Compiled modules take from 10 kB to some MB each.",
         "make room on the file system of {subject}, or set CUDA_CACHE_PATH to another one", NULL, "CACHE"},
    [PJ_FINDING_DRIVER_MISSING] =
        {"driver-missing", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER, "there is no libcuda.so.1",
         "The driver's library comes with the driver, not with the toolkit. In a container the runtime puts "
         "it there; while an image is built there is none, and prejit warm --offline needs none.",
         "install the NVIDIA driver, start the container with --gpus all, name it with --driver PATH, or, "
         "where an image is built, use prejit warm --offline PROFILE",
         NULL, NULL},
    [PJ_FINDING_DRIVER_STUB] = {"driver-stub", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER,
                                "the toolkit's stub library is found before the driver",
                                "The stub is there to link against; every call of it fails.",
                                "take {value} out of LD_LIBRARY_PATH and /etc/ld.so.conf.d", "FOLDER", NULL},
    [PJ_FINDING_JIT_COMPILER_MISSING] =
        {"jit-compiler-missing", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_COMPILE_FAILS,
         "the JIT compiler's library is missing",
         "Without it nothing can be compiled: CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221). Containers that get "
         "single files mounted often lack it.",
         "put the driver's {value} where the loader finds it; in a container set "
         "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
         "FILE", NULL},
    [PJ_FINDING_HELPER_MISSING] = {"helper-missing", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_COMPILE_FAILS,
                                   "a helper library of the driver is missing",
                                   "Plain PTX compiles without it; other inputs and tools need it.",
                                   "put the driver's {value} where the loader finds it", "FILE", NULL},
    [PJ_FINDING_HELPER_VERSION] =
        {"helper-version", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_COMPILE_FAILS,
         "a helper library is of another version than the driver",
         "The driver and its helpers only work together when they are of one version: error 221 otherwise.",
         "put the driver's {value} where the loader finds it first", "FILE", NULL},
    [PJ_FINDING_KERNEL_DRIVER_MISSING] =
        {"kernel-driver-missing", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER,
         "the kernel driver is not loaded", "/proc/driver/nvidia/version is there as soon as it is.",
         "load it (modprobe nvidia), or start the container on a machine that has it", NULL, NULL},
    [PJ_FINDING_REBOOT_PENDING] =
        {"reboot-pending", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER,
         "the loaded kernel driver is of another version than the libraries",
         "After an upgrade the old kernel driver stays loaded: cuInit says 803, 804 or 999 until it is "
         "replaced. Entries for the new version can only be made then.",
         "reboot, then run prejit warm; in a container take the libraries of the host's driver", NULL, NULL},
    [PJ_FINDING_FORWARD_COMPATIBILITY] =
        {"forward-compatibility", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NO_DRIVER,
         "the driver comes from a forward-compatibility package",
         "cuda-compat works on data-centre GPUs only (error 804 elsewhere). Its entries are for its own "
         "build: "
         "a program that takes the machine's driver does not find them.",
         "make sure that every program takes the same libraries, or take {value} out of the library path",
         "FOLDER", NULL},
    [PJ_FINDING_NO_GPU] =
        {"no-gpu", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER, "the kernel driver lists no GPU",
         "The driver is loaded and has no device.",
         "start the container or virtual machine with a GPU; see the kernel's log (dmesg) for NVRM lines",
         NULL, NULL},
    [PJ_FINDING_DEVICE_MISSING] =
        {"device-missing", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER, "a device node is missing",
         "The driver talks to the GPU through /dev/nvidiactl, /dev/nvidia-uvm and one /dev/nvidiaN for each "
         "GPU.",
         "start the container with --gpus all; on the machine itself run nvidia-modprobe -c 0 -u", NULL,
         NULL},
    [PJ_FINDING_DEVICE_LATE] =
        {"device-late", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NO_DRIVER, "/dev/nvidia-uvm is not there yet",
         "On the machine itself the first program makes it by nvidia-modprobe; in a container nobody does.",
         "run nvidia-modprobe -u on the machine, before the container starts", NULL, NULL},
    [PJ_FINDING_DEVICE_DENIED] = {"device-denied", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER,
                                  "the user may not use a device node",
                                  "Without it the driver does not start.",
                                  "add the user to the group of {subject}, or chmod a+rw {subject}", NULL,
                                  "DEVICE"},
    [PJ_FINDING_DRIVER_FAILED] =
        {"driver-failed", PJ_SEVERITY_ERROR, PJ_STOPS_WARM, PJ_SYMPTOM_NO_DRIVER, "the driver does not start",
         "A process of its own loaded the driver and called cuInit; this is the driver's own word.",
         "see the other findings; nvidia-smi must work first", NULL, NULL},
    [PJ_FINDING_GPU_NOT_SERVED] = {"gpu-not-served", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_OTHER_USER,
                                   "a GPU of this machine is not among the manifest's targets",
                                   "Entries are for one architecture each [2]: what was warmed for sm_80 and "
                                   "sm_90 is compiled again on "
                                   "an sm_120.",
                                   "write native among the targets in {subject}", NULL, "MANIFEST"},
    [PJ_FINDING_MEMORY_SMALL] =
        {"memory-small", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_COMPILE_FAILS, "there is little memory",
         "A worker takes about 90 MB for a megabyte of PTX [17], a large kernel much more.",
         "raise the container's memory limit, or run prejit warm -j 1", NULL, NULL},
    [PJ_FINDING_OTHER_CACHE] = {"other-cache", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_STILL_SLOW,
                                "there is another cache of compiled code",
                                "Frameworks keep what they compile themselves in caches of their own. prejit "
                                "does not touch them, and "
                                "the driver's cache does not replace them.",
                                NULL, NULL, NULL},
    [PJ_FINDING_TOOLKIT_OPTION_WRONG] =
        {"toolkit-option-wrong", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "an option names a part of the CUDA toolkit that is not there",
         "Where `--nvrtc`, `--nvjitlink` or `--ptxas` is given, prejit takes that and nothing else: a run "
         "that needs it does not begin.",
         "give {subject} what is there, or leave it away, and CUDA_HOME and the usual places are looked "
         "through",
         NULL, "the option"},
    [PJ_FINDING_CUDA_HOME_PASSED_OVER] =
        {"cuda-home-passed-over", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_NOT_SURE,
         "the variable that names the CUDA toolkit names none",
         "prejit takes NVRTC, nvJitLink, ptxas and headers from CUDA_HOME, else CUDA_PATH, and only what is "
         "not there from elsewhere: that may be another version than the program's.",
         "set {subject} to the folder of a toolkit, or unset it", NULL, "the variable"},
    [PJ_FINDING_NVRTC_MISSING] =
        {"nvrtc-missing", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "the manifest has sources, and there is no NVRTC",
         "`source` modules are compiled to PTX by NVRTC, which comes with the toolkit, not with the driver. "
         "Without it they fail; everything else is warmed.",
         "install NVRTC (package cuda-nvrtc), set CUDA_HOME to a toolkit that has it, or name it to prejit "
         "warm with --nvrtc PATH",
         NULL, NULL},
    [PJ_FINDING_NVRTC_BUILTINS_MISSING] =
        {"nvrtc-builtins-missing", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "NVRTC's builtins library is missing, or another version's",
         "NVRTC opens libnvrtc-builtins.so of exactly its own version through the loader when it compiles. "
         "Without "
         "it no source compiles (NVRTC_ERROR_BUILTIN_OPERATION_FAILURE), in prejit and in programs alike.",
         "install the package of this NVRTC whole (cuda-nvrtc), put {value} into LD_LIBRARY_PATH in front of "
         "what hides the file there, or name another NVRTC to prejit warm with --nvrtc PATH",
         "the folder of libnvrtc", NULL},
    [PJ_FINDING_TOOLKIT_HEADERS_MISSING] =
        {"toolkit-headers-missing", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "the manifest has sources, and the toolkit's headers are not where NVRTC is",
         "prejit gives sources the headers that belong to the NVRTC, else those of CUDA_HOME. Without them "
         "sources that include cuda_fp16.h or its like do not compile; those that do not, or that find them "
         "by a `-I` of their own, do.",
         "install the toolkit's headers (package cuda-cudart-dev), set CUDA_HOME to a toolkit that has them, "
         "or name their folder by -I in the modules' nvrtc",
         NULL, NULL},
    [PJ_FINDING_OFFLINE_PROFILE_UNFIT] = {"offline-profile-unfit", PJ_SEVERITY_ERROR, 0,
                                          PJ_SYMPTOM_COMPILE_FAILS,
                                          "the profile that --offline names cannot be used",
                                          "prejit warm --offline writes entries by what was proven of one "
                                          "build of the driver, and refuses what was "
                                          "not.",
                                          "name the version of a driver whose profile is built in, or a file "
                                          "that prejit profile made where the driver "
                                          "is",
                                          NULL, NULL},
    [PJ_FINDING_OFFLINE_COMPILER_MISSING] =
        {"offline-compiler-missing", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "there is no compiler for prejit warm --offline",
         "In place of the driver it takes ptxas, whose code is the driver's [33], else nvJitLink.",
         "install the ptxas that the profile was proven with (package cuda-nvcc), or name one with --ptxas "
         "PATH",
         NULL, NULL},
    [PJ_FINDING_OFFLINE_COMPILER_UNFIT] =
        {"offline-compiler-unfit", PJ_SEVERITY_ERROR, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "the profile was not proven with the compiler that is there",
         "A compiler is taken by its exact version: what was proven with ptxas 13.0.88 says nothing of its "
         "neighbours.",
         "install a compiler that it was proven with, name one with --ptxas PATH, or prove this one with "
         "prejit "
         "profile where the driver is",
         NULL, NULL},
    [PJ_FINDING_OFFLINE_COMPILER_UNSURE] =
        {"offline-compiler-unsure", PJ_SEVERITY_NOTE, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "which build of the compiler it is, is not known",
         "nvJitLink's file need not tell: its first cubin does, and prejit warm looks before it uses that.",
         "nothing to do, or install ptxas (package cuda-nvcc), which tells", NULL, NULL},
    [PJ_FINDING_OFFLINE_NATIVE] =
        {"offline-native", PJ_SEVERITY_WARNING, 0, PJ_SYMPTOM_COMPILE_FAILS,
         "a module is for the GPU that is there, and there is none",
         "With --offline nobody can be asked what native is, which is what a module without targets is for.",
         "name the targets in the manifest (targets: [sm_80, sm_90]), or with -t to prejit warm", NULL, NULL},
};

const struct pj_finding_info *pj_finding_info(enum pj_finding_code code)
{
    return &table[code];
}

const char *pj_severity_name(enum pj_severity severity)
{
    static const char *const names[PJ_SEVERITY_COUNT] = {"error", "warning", "note"};
    return names[severity];
}
