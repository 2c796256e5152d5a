#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the JSON of every test model against docs/report.schema.json, and the schema against damaged reports."""
import copy
import json
import subprocess
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def load(emit, *model):
    output = subprocess.run([emit, *model], check=True, capture_output=True, timeout=60).stdout
    return json.loads(output.decode("utf-8", errors="strict"), parse_constant=refuse)


def objects(value):
    """Every object inside a JSON value, itself included."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(child)


def check_strict(validator, report, least):
    """Any member that is missing, added or of another type must be noticed, wherever it is."""
    damages = 0
    for index, original in enumerate(objects(report)):
        if original.keys() <= {"max_registers", "generate_line_info", "cache_mode"}:
            continue  # the options: each one may be absent
        for name in original:
            for damage in ("remove", "mistype"):
                damaged = copy.deepcopy(report)
                target = list(objects(damaged))[index]
                if damage == "remove":
                    del target[name]
                else:
                    target[name] = {"no": "such type"}
                if validator.is_valid(damaged):
                    sys.exit(f"schema accepts a report with {damage}d {name!r}")
                damages += 1
        damaged = copy.deepcopy(report)
        list(objects(damaged))[index]["surplus"] = 1
        if validator.is_valid(damaged):
            sys.exit(f"schema accepts a surplus member beside {sorted(original)}")
        damages += 1
    if damages < least:
        sys.exit(f"only {damages} damages were tried")


def check_values(models):
    hostile = models["hostile"]
    job = hostile["jobs"][0]
    assert job["module"] == "\\x1b[31mred\\xffé\"\\\n\tend", job["module"]
    assert job["log"] == "first \\xc0\\xaf line\n\tsecond \\xed\\xa0\\x80 \\x01\\x0d\nthird 😀", job["log"]
    assert job["compile_ms"] is None and job["cold_ms"] is None
    assert job["warm_ms"]["samples"][-1] == 2.0
    assert job["entries"][0]["bytes"] == 2**63 - 1
    assert hostile["jobs"][1]["warm_ms"] is None and hostile["jobs"][1]["cold_ms"]["value"] == 1e300
    assert hostile["cache"]["path"] == "/c\\xff\\x01" and hostile["summary"]["seconds"] is None
    summary = models["trouble"]["summary"]
    assert summary["jobs"] == 14 and summary["failed"] == 5 and models["trouble"]["exit_code"] == 3
    assert [job["planned"] for job in models["plan"]["jobs"]] == ["present", "to-compile", "unknown", None]
    assert len(models["many"]["jobs"]) == 1000
    assert models["bare"]["jobs"] == [] and models["bare"]["command"] is None


def main():
    emit, schema_path = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    names = subprocess.run([emit], check=True, capture_output=True, text=True, timeout=60).stdout.split()
    models = {name: load(emit, name) for name in names}
    for name, report in models.items():
        for error in validator.iter_errors(report):
            sys.exit(f"model {name}: {error.json_path}: {error.message}")
    check_values(models)
    check_strict(validator, models["warm"], 100)
    check_strict(validator, models["against"], 100)
    check_strict(validator, models["offline"], 100)
    check_strict(validator, models["unserved"], 100)
    refusal = load(emit, "refusal")
    for error in validator.iter_errors(refusal):
        sys.exit(f"refusal: {error.json_path}: {error.message}")
    check_strict(validator, refusal, 17)
    receipt = load(emit, "receipt")
    assert receipt["jobs"][0]["module"] == '\x01\udcffé"', receipt["jobs"][0]["module"]
    print(f"{len(models)} models keep to the schema")


if __name__ == "__main__":
    main()
