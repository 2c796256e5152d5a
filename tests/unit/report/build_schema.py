#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the JSON of every model of a build against docs/build.schema.json, and the schema against damaged ones."""
import json
import subprocess
import sys

import jsonschema
from schema import check_strict, load


def check_values(models):
    built, check = models["built"], models["check"]
    unit = built["units"][1]
    assert unit["kernels"][1]["shared_bytes"] is None and unit["kernels"][1]["spill_load_bytes"] == 12
    assert unit["kernels"][0]["stack_bytes"] == 0
    assert [file["kind"] for file in unit["inputs"]] == ["source", "header"]
    assert built["units"][0]["inputs"][0]["sha256"] == "ab" * 32
    assert unit["cubin"] == {"path": "u.sm_90.cubin", "bytes": 4832, "sha256": "0" * 64}
    assert built["units"][0]["ptx"] is None and unit["ptx"]["path"] == "u.sm_90a.ptx"
    assert check["units"][1]["cubin"]["path"] is None and check["units"][1]["ptx"]["bytes"] == 1700
    assert built["libraries"]["nvrtc"] == {"path": "/cuda/lib64/libnvrtc.so.13", "version": "13.0", "build": None}
    assert models["empty"]["libraries"] == {"nvrtc": None, "nvjitlink": None}
    assert models["trouble"]["summary"] == {"units": 7, "built": 1, "failed": 5, "not_tried": 1, "left_out": 0,
                                            "seconds": 2.1}
    assert models["early"]["ended_by"] == "the deadline passed" and models["early"]["exit_code"] == 75
    assert len(models["many"]["units"]) == 1000
    hostile = models["hostile"]
    unit = hostile["units"][0]
    assert unit["module"] == '\\x1b[31mred\\xffé"\\\n\tend', unit["module"]
    assert unit["inputs"][0]["path"] == "/i\\xff\\x01" and unit["inputs"][0]["bytes"] == 2**63 - 1
    assert unit["arguments"] == ["-D\\xff\\x1b"] and unit["warnings"] == ["w\\xff\\x1b\n"]
    assert unit["ms"] is None and hostile["units"][1]["ms"] is None and hostile["summary"]["seconds"] is None


def main():
    emit, schema_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    names = subprocess.run([emit, "build"], check=True, capture_output=True, text=True, timeout=60).stdout.split()
    models = {name: load(emit, "build", name) for name in names}
    for name, report in models.items():
        for error in validator.iter_errors(report):
            sys.exit(f"model {name}: {error.json_path}: {error.message}")
    check_values(models)
    check_strict(validator, models["built"], 150)
    print(f"{len(models)} models keep to the schema")


if __name__ == "__main__":
    main()
