#!/usr/bin/env python3
"""Writes what `gorgo lsp` answers into recorded sessions: record_lsp.py GORGO SESSION...

What is sent, and the comments, stay. Look at the difference before you commit it."""

import json
import subprocess
import sys


def answers(program, sent):
    """What the program answers to these messages, in order."""
    frames = [text.encode() for text in sent]
    request = b"".join(b"Content-Length: %d\r\n\r\n" % len(frame) + frame for frame in frames)
    rest = subprocess.run([program, "lsp"], input=request, capture_output=True, check=False, timeout=60).stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        yield json.loads(rest[:length])
        rest = rest[length:]


def in_order_of(old, new):
    """The new value with the members of objects in the order that the old value has."""
    if isinstance(new, dict):
        old = old if isinstance(old, dict) else {}
        names = [name for name in old if name in new] + [name for name in new if name not in old]
        return {name: in_order_of(old.get(name), new[name]) for name in names}
    if isinstance(new, list):
        old = old if isinstance(old, list) and old else [None]
        return [in_order_of(old[min(i, len(old) - 1)], value) for i, value in enumerate(new)]
    return new


def record(program, path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    received = list(answers(program, [line[2:] for line in lines if line.startswith("> ")]))
    places = [i for i, line in enumerate(lines) if line.startswith("< ")]
    if len(places) != len(received):
        sys.exit(f"{path} has {len(places)} answers and the program gives {len(received)}: add or remove lines `< {{}}`")
    for place, answer in zip(places, received):
        old = json.loads(lines[place][2:])
        if answer != old:
            lines[place] = "< " + json.dumps(in_order_of(old, answer), ensure_ascii=False)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


for session in sys.argv[2:]:
    record(sys.argv[1], session)
