#!/usr/bin/env python3
"""Holds a ratio of times that `gorgo bench --json` measured to what docs/gpu/targets.md promises.

    promise.py NAME (at-most | at-least) LIMIT TIME OVER

TIME and OVER are FILE:SWEEP:X:ENGINE, the results of one cell each, of the same or of two reports.
Each may be a list of them with commas. Of each the fastest repetition counts. Prints a line; exit
code 1 when the ratio TIME / OVER is not as promised, when one of the two was not measured, or when
terminators of one were declined.
"""

import json
import sys


def result_of(place):
    file, sweep, x, engine = place.split(":")
    with open(file, encoding="utf-8") as report:
        results = json.load(report)["results"]
    for result in results:
        if (result["sweep"], result["x"], result["engine"]) == (sweep, float(x), engine):
            return result
    raise LookupError(f"{sweep} at {x} under {engine} was not measured")


def time_of(place):
    result = result_of(place)
    if "ns_per_event" not in result:
        raise LookupError(f"{place}: {result.get('skipped', 'interrupted')}")
    for declined in result.get("declined", []):
        raise LookupError(
            f"{declined['terminators']} of {declined['of']} terminators were evaluated by "
            f"{declined['by']}: {declined['because']}"
        )
    return result["ns_per_event"]["min"]


def fastest(places):
    return min(time_of(place) for place in places.split(","))


def main():
    name, direction, limit, time, over = sys.argv[1:]
    bound = f"{direction.replace('-', ' ')} {limit}"
    try:
        ratio = fastest(time) / fastest(over)
    except (OSError, LookupError, ValueError) as problem:
        print(f"PROMISE MISSED: {name}: {problem}")
        return 1
    kept = ratio <= float(limit) if direction == "at-most" else ratio >= float(limit)
    print(f"{'promise kept' if kept else 'PROMISE MISSED'}: {name}: {ratio:.2f}, promised is {bound}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
