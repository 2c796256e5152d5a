# SPDX-License-Identifier: Apache-2.0
"""Entries and `index` of a compute cache, taken apart and put together apart from prejit's own code."""
import os
import struct

from harness import entries_of, fnv1a

FORMAT = 65
HEADER = struct.Struct("<IQQQ")
INDEX_HEADER = struct.Struct("<IIQ")
RECORD = struct.Struct("<QQ")


def name_of(key):
    digits = f"{fnv1a(key):016x}"
    return f"{digits[0]}/{digits[1]}/{digits[2:]}"


def take_apart(content):
    """(key, payload) of an entry's file."""
    if len(content) < HEADER.size:
        raise ValueError(f"an entry of {len(content)} bytes is not sound")
    number, key_size, payload_size, checksum = HEADER.unpack_from(content)
    key, payload = content[HEADER.size:HEADER.size + key_size], content[HEADER.size + key_size:]
    if number != FORMAT or len(key) != key_size or len(payload) != payload_size or fnv1a(payload) != checksum:
        raise ValueError(f"an entry of format {number} with {len(content)} bytes is not sound")
    return key, payload


def put_together(key, payload):
    return HEADER.pack(FORMAT, len(key), len(payload), fnv1a(payload)) + key + payload


def make_index(sizes):
    """Bytes of an index of {name: bytes of the file}, in that order."""
    records = [(int(name.replace("/", ""), 16), size - HEADER.size) for name, size in sizes.items()]
    return INDEX_HEADER.pack(FORMAT, len(records), sum(size for _, size in records)) + b"".join(
        RECORD.pack(*record) for record in records)


def contents(cache):
    """Name → content of every entry."""
    found = {}
    for name in entries_of(cache):
        with open(os.path.join(cache, name), "rb") as file:
            found[name] = file.read()
    return found


def plant(cache, pairs):
    """Writes a whole cache of (key, payload), as the driver itself would leave it."""
    sizes = {}
    for key, payload in pairs:
        name, content = name_of(key), put_together(key, payload)
        os.makedirs(os.path.join(cache, os.path.dirname(name)), mode=0o700, exist_ok=True)
        with open(os.path.join(cache, name), "wb") as file:
            file.write(content)
        sizes[name] = len(content)
    with open(os.path.join(cache, "index"), "wb") as file:
        file.write(make_index(sizes))
