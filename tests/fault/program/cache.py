# SPDX-License-Identifier: Apache-2.0
"""The driver's cache directory, read and written independently of the program's own code."""
import os
import re
import struct

FORMAT = 65
HEADER = struct.Struct("<IQQQ")
INDEX_HEADER = struct.Struct("<IIQ")
RECORD = struct.Struct("<QQ")
FNV_START, FNV_PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
STAMP = b"Apr 29 202617:12:06"
HEX = re.compile(r"[0-9a-f]")


def fnv1a(data):
    value = FNV_START
    for byte in data:
        value = (value ^ byte) * FNV_PRIME & MASK
    return value


def make_key(ptx, arch, options=""):
    """Key bytes of plain PTX text: stamp, HOST64, architecture, text, NUL, space, options."""
    return STAMP + b"HOST64" + arch.encode() + ptx + b"\0 " + options.encode()


def make_entry(key, payload):
    return HEADER.pack(FORMAT, len(key), len(payload), fnv1a(payload)) + key + payload


def name_of(key):
    """Path of the key's entry below the cache."""
    text = f"{fnv1a(key):016x}"
    return f"{text[0]}/{text[1]}/{text[2:]}"


def paths(cache):
    """Paths of all entry files below `cache`, as the driver sees them."""
    found = []
    for first in sorted(os.listdir(cache)):
        if not HEX.fullmatch(first):
            continue
        for second in sorted(os.listdir(os.path.join(cache, first))):
            if HEX.fullmatch(second):
                # A driver of another format may have folders below.
                for folder, _, names in os.walk(os.path.join(cache, first, second)):
                    found += [os.path.relpath(os.path.join(folder, name), cache) for name in names]
    return sorted(found)


def read(cache, path):
    with open(os.path.join(cache, path), "rb") as file:
        return file.read()


def write(cache, path, data):
    os.makedirs(os.path.dirname(os.path.join(cache, path)), mode=0o700, exist_ok=True)
    with open(os.path.join(cache, path), "wb") as file:
        file.write(data)


def contents(cache):
    return {path: read(cache, path) for path in paths(cache)}


def read_index(cache):
    """{path: size} in the index's order; raises ValueError where the driver would call the index bad."""
    data = read(cache, "index")
    if len(data) < INDEX_HEADER.size:
        raise ValueError(f"index has {len(data)} bytes")
    number, count, total = INDEX_HEADER.unpack_from(data)
    if number != FORMAT or len(data) < INDEX_HEADER.size + count * RECORD.size:
        raise ValueError(f"index of format {number} has {len(data)} bytes for {count} records")
    records = {}
    for i in range(count):
        value, size = RECORD.unpack_from(data, INDEX_HEADER.size + i * RECORD.size)
        text = f"{value:016x}"
        records[f"{text[0]}/{text[1]}/{text[2:]}"] = size
    if sum(records.values()) != total or len(records) != count:
        raise ValueError(f"index says {total} bytes in {count} entries, its records {sum(records.values())}")
    return records


def make_index(records):
    """Bytes of an index of {path: size}."""
    body = b"".join(RECORD.pack(int(path.replace("/", ""), 16), size) for path, size in records.items())
    return INDEX_HEADER.pack(FORMAT, len(records), sum(records.values())) + body


def arch_of_payload(payload):
    """"sm_NN" of a cubin in either layout, None where it is none."""
    if payload[:4] != b"\x7fELF" or len(payload) < 64 or payload[18:20] != b"\xbe\x00":
        return None
    flags = struct.unpack_from("<I", payload, 48)[0]
    return f"sm_{flags >> 8 & 0xFF if payload[7] == 0x41 else flags & 0xFF}"


def problem_of(path, data):
    """Why a driver would choke on this entry file or not take it; None where it is sound."""
    if len(data) < HEADER.size:
        return f"{len(data)} bytes"
    number, key_size, payload_size, checksum = HEADER.unpack_from(data)
    key, payload = data[HEADER.size:HEADER.size + key_size], data[HEADER.size + key_size:]
    if number != FORMAT or len(payload) != payload_size:
        return f"format {number}, {len(payload)} payload bytes of {payload_size}"
    if name_of(key) != path:
        return f"its key belongs to {name_of(key)}"
    if fnv1a(payload) != checksum:
        return "checksum"
    arch = re.match(rb"(?:.*?)HOST64(sm_\d+)", key, re.S)
    if not arch or arch_of_payload(payload) != arch.group(1).decode():
        return f"payload of {arch_of_payload(payload)}"
    return None


def chokes(path, data):
    """Would every load of this entry fail? Right key and checksum, and a payload that is none [22]."""
    if len(data) < HEADER.size:
        return False
    _, key_size, payload_size, checksum = HEADER.unpack_from(data)
    payload = data[HEADER.size + key_size:]
    whole = payload_size == len(payload) > 0 and fnv1a(payload) == checksum
    return whole and problem_of(path, data) is not None
