#!/usr/bin/env python3
"""Holds `auto` to the best engine, cell by cell, as docs/gpu/targets.md promises.

Each cell is measured under `auto` and under the engine that proved best for it, in one process and in turns, or only the
cells of some sweeps; then some loads with 100 000 events from a cold start. Medians are compared: a single run of two
seconds can differ by more than a tenth from the next.
Prints tables in Markdown. Exit code 1 when more than three cells take more than 1.10 times what the
best engine takes, a cold start more than 1.15 times, or a cell was not measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

# Sweep, x, the best engine of earlier records, and ns an event it took there.
CELLS = """
heavy/distance 100000 cuda 222
home/disordered 1000 cuda 1267
home/disordered 100 cuda 582
fire/sorted 1000 column 251
stocks/sorted 1000 column 365
base/states/last 8 column 172
linear_road/sorted 10000 column 377
base/rules/last 100 column 253
base/window/each 100000 column 184
base/aggregates/last 3 column 205
base/window/last 1000 column 166
base/window/each 16000 column 201
linear_road/sorted 1000 column 328
taxi/disordered 1000 column 730
taxi/sorted 1000 column 583
heavy/band 100000 cuda 239
heavy/inequality 100000 column 367
cards/sorted 1000 column 350
home/sorted 1000 column 495
heavy/mixed 100 cuda 453
heavy/mixed 10000 cuda 2852
heavy/band 1000000 column 240
fire/disordered 1000 column 287
heavy/words 100000 cuda 371
auctions/sorted 1000 column 1460
base/window/last 100000 cuda 229
base/parameters/last 0 column 172
base/consuming/last 1 column 413
base/own-types/last 500 cuda 1010
base/states/each 5 column 261
base/selectivity/each 90 column 543
base/more-rules/last 100 column 492
base/more-rules/last 1000 column 820
base/negations/last 2 column 226
base/values/last 10 column 237
base/attributes/last 50 column 739
base/window/each 1000 column 166
tanks/sorted 1000 column 438
heavy/filtered-average 100000 cuda 943
linear_road/disordered 1000 column 409
base/constraints 10000 column 1390
heavy/text 100000 cuda 5448
"""
COLD_STARTS = ["tanks/sorted", "fire/sorted", "stocks/sorted", "cards/sorted"]
MOST, MOST_CELLS, MOST_COLD = 1.10, 3, 1.15


def measure(gorgo, sweep, x, engines, events, repetitions):
    """The results of a cell by engine; none of an engine that was not measured."""
    report = tempfile.NamedTemporaryFile(suffix=".json", delete=False)
    report.close()
    command = [gorgo, "bench", sweep, "--at", str(x), "--grid", "full", "--threads", "0", "--batch", "4096"]
    command += ["--events", str(events), "--repetitions", str(repetitions)]
    command += ["--engine", ",".join(engines), "--json", report.name]
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=100)
        with open(report.name, encoding="utf-8") as file:
            results = json.load(file)["results"]
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        print(f"{sweep} at {x}: {problem}", file=sys.stderr)
        results = []
    finally:
        os.unlink(report.name)
    return {result["engine"]: result["ns_per_event"] for result in results if "ns_per_event" in result}


def text_of(times):
    return f"{times['median']:.0f} ({times['min']:.0f} .. {times['max']:.0f})"


def compare(gorgo, sweep, x, best, events, repetitions):
    """Prints a line; returns what `auto` takes by what the best engine takes, None if unknown."""
    times = measure(gorgo, sweep, x, [best, "auto"], events, repetitions)
    if best not in times or "auto" not in times:
        print(f"| `{sweep}` | {x} | `{best}` | not measured | | | |", flush=True)
        return None
    ratio = times["auto"]["median"] / times[best]["median"]
    fastest = times["auto"]["min"] / times[best]["min"]
    print(
        f"| `{sweep}` | {x} | `{best}` | {text_of(times[best])} | {text_of(times['auto'])} | "
        f"{ratio:.2f} | {fastest:.2f} |",
        flush=True,
    )
    return ratio


def print_head():
    print("\n| | x | best engine | its time | `auto` | of the best | fastest runs |\n|---|---|---|---|---|---|---|")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gorgo")
    parser.add_argument("sweep", nargs="*", help="only the cells of these")
    parser.add_argument("--seconds", type=float, default=2, help="of a run of the best engine (2)")
    parser.add_argument("--repetitions", type=int, default=3, help="of each cell (3)")
    parser.add_argument("--part", default="1/1", help="K/N: each N-th cell from the K-th on, so that a part ends sooner")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    gorgo = arguments.gorgo
    first, step = map(int, arguments.part.split("/"))
    print_head()
    ratios = []
    for line in CELLS.split("\n")[1:-1][first - 1 :: step]:
        sweep, x, best, nanoseconds = line.split()
        if arguments.sweep and sweep not in arguments.sweep:
            continue
        events = round(arguments.seconds * 1e9 / float(nanoseconds))
        ratios.append(compare(gorgo, sweep, x, best, events, arguments.repetitions))
    print("\nFrom a cold start, 100 000 events:")
    print_head()
    cold = [compare(gorgo, sweep, 1000, "column", 100_000, 15) for sweep in COLD_STARTS]
    slow = sum(1 for ratio in ratios if ratio is not None and ratio > MOST)
    late = sum(1 for ratio in cold if ratio is not None and ratio > MOST_COLD)
    unknown = (ratios + cold).count(None)
    kept = slow <= MOST_CELLS and late == 0 and unknown == 0
    print(
        f"\n{'promise kept' if kept else '**PROMISE MISSED**'}: {slow} of {len(ratios)} cells above {MOST}, "
        f"{late} cold starts above {MOST_COLD}, {unknown} not measured"
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
