#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds reports against the schema and prints one line for each: what it says in short."""
import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    status = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            report = json.load(file, parse_constant=refuse)
        problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(report)]
        if "error" in report:
            print(f"{path}: {report['command']} exit {report['exit_code']}: {report['error']['code']}")
            status |= bool(problems)
            continue
        jobs = report.get("jobs") or [{"id": f"{unit['module']}@{unit['target']}", **unit} for unit in report.get("units", [])]
        verdicts = [f"{job['id']}={job['verdict'] or '-'}" for job in jobs]
        print(f"{path}: {report.get('command', 'build')} exit {report['exit_code']}: {' '.join(verdicts)}")
        for problem in problems:
            print(f"    {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
