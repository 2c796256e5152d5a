#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds JSON of prejit against its schema and prints one line for each file: what it says in short."""
import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def in_short(report):
    """Command, exit status, and each job, unit, finding or entry with what became of it."""
    if "entries" in report:
        return f"cache ls exit {report['exit_code']}: {' '.join(entry['state'] for entry in report['entries'])}".rstrip()
    if "findings" in report:
        rows = [f"{finding['code']}={finding['severity']}" for finding in report["findings"]]
        return f"doctor exit {report['exit_code']}: {' '.join(rows)}"
    if "kinds" in report:
        rows = [f"{kind['kind']}={'proven' if kind['proven'] else 'not-proven'}" for kind in report["kinds"]]
        return f"profile exit {report['exit_code']}: {' '.join(rows)}"
    jobs = report.get("jobs") or [{"id": f"{unit['module']}@{unit['target']}", **unit} for unit in report.get("units", [])]
    rows = [f"{job['id']}={job['verdict'] or '-'}" for job in jobs]
    return f"{report['command']} exit {report['exit_code']}: {' '.join(rows)}"


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    status = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            report = json.load(file, parse_constant=refuse)
        problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(report)]
        if report.get("error"):
            print(f"{path}: {report['command']} exit {report['exit_code']}: {report['error']['code']}")
        else:
            print(f"{path}: {in_short(report)}")
        for problem in problems:
            print(f"    {problem}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
