# SPDX-License-Identifier: GPL-2.0-only
"""What is expected of IGT's subtests, and the judgement of what was found."""

import collections

DEFECTS = ("check_differences", "oracle_violations", "failsafes", "kernel", "host")
ORDER = ("pass", "skip", "fail", "timeout", "lost", "invalid")


class ListError(Exception):
    pass


def load_expected(path):
    """Maps "program@subtest" to (status or "?", reason), in the order of the file."""
    expected = {}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split(None, 2)
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 2 or words[1] not in (*ORDER, "?") or words[0] in expected:
                raise ListError(f"{path}:{number}: not a new NAME with a status: {line.strip()}")
            if words[1] not in ("pass", "?") and len(words) < 3:
                raise ListError(f"{path}:{number}: {words[1]} without a reason")
            expected[words[0]] = (words[1], words[2].strip() if len(words) > 2 else "")
    return expected


def update_expected(path, results):
    """Writes what was found for subtests with "?"."""
    with open(path) as file:
        lines = file.read().splitlines()
    for index, line in enumerate(lines):
        words = line.split()
        if len(words) == 2 and words[1] == "?" and words[0] in results:
            found = results[words[0]]
            lines[index] = f"{words[0]} {found['status']} {found.get('reason', '')}".rstrip()
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def judge(result, expected):
    """Returns why a result counts as failed, or None."""
    for name in DEFECTS:
        if result.get(name):
            return f"{name}: {result[name]} {result.get('last_error', '')}"
    wanted = expected.get(result["name"], ("?", ""))[0]
    if wanted in ("?", result["status"]) or (result["status"] == "pass" and wanted != "skip"):
        return None
    return f"expected {wanted}: {result.get('reason', '')}"


def table(results, expected):
    """Prints the number of subtests of each program by status."""
    rows = collections.defaultdict(collections.Counter)
    for name, result in results.items():
        rows[name.partition("@")[0]][result["status"]] += 1
        rows["all"][result["status"]] += 1
    rows["all"] = rows.pop("all", collections.Counter())
    print(f"{'program':32}" + "".join(f"{status:>9}" for status in ORDER))
    for program, counts in rows.items():
        print(f"{program:32}" + "".join(f"{counts[status] or '-':>9}" for status in ORDER))
    checks = sum(result.get("checks", 0) for result in results.values())
    differences = sum(result.get("check_differences", 0) for result in results.values())
    violations = sum(result.get("oracle_violations", 0) for result in results.values())
    rejects = sum(result.get("audit_rejects", 0) for result in results.values())
    print(f"{checks} checks, {differences} differences; {violations} violations; {rejects} commands rejected; "
          f"{sum(name not in results for name in expected)} subtests of the list not run")
