"""Reads two callgrind files and compares the costs of a record with their budgets."""

import re
import sys

LIMIT = 1.05  # of the budget
NEWS = 0.90  # below this part of it the budget is out of date


def read(path):
    """Instructions of the program's own code, and calls by the called function's name.

    Those of libc and of the codecs depend on what the processor can do."""
    names, calls, own, callee, objects = {}, {}, 0, None, {}
    in_program = inclusive = False
    for line in open(path, encoding="utf-8", errors="replace"):
        if found := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
            if found[2]:
                names[found[1]] = found[2].strip()
            if line.startswith("cfn="):
                callee = names[found[1]]
        elif found := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
            if found[3]:
                objects[found[2]] = found[3].strip()
            if not found[1]:
                in_program = objects[found[2]].endswith("/record_cost")
        elif line.startswith("calls="):
            calls[callee] = calls.get(callee, 0) + int(line[6:].split()[0])
            inclusive = True  # the next line has what the call cost
        elif re.match(r"[-+*0-9]", line):
            if in_program and not inclusive:
                own += int(line.split()[-1])
            inclusive = False
    return own, calls


def costs(path, said):
    own, calls = read(path)

    def called(pattern):
        return sum(count for name, count in calls.items() if re.search(pattern, name))

    requests = next(int(line.split()[1]) for line in open(said) if line.startswith("requests"))
    return {
        "instructions": own,
        "allocations": called(r"^(malloc|calloc|realloc|aligned_alloc|posix_memalign)(@|$)"),
        "copies": called(r"^_*(memcpy|memmove)[a-z_0-9]*(@|$)"),
        "writes": called(r"simulated_stream::write"),
        "requests": requests,
    }


def main(budget_file, compiler, work, short, long):
    few, many = (costs(f"{work}/out.{n}", f"{work}/said.{n}") for n in (short, long))
    records = int(long) - int(short)
    per_record = {name: (many[name] - few[name]) / records for name in many}
    budgets = {}
    for line in open(budget_file):
        words = line.split("#")[0].split()
        if words and words[0] in ("any", compiler):
            budgets[words[1]] = float(words[2])
    failed = False
    for name, cost in per_record.items():
        budget = budgets.get(name)
        verdict = "no budget for " + compiler
        if budget is not None:
            over = cost > budget * LIMIT + 1e-9
            failed = failed or over
            verdict = f"budget {budget:g}: " + (
                "EXCEEDED" if over else "far below, lower it" if cost < budget * NEWS else "kept"
            )
        print(f"{name:14} {cost:10.5f} per record   {verdict}")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
