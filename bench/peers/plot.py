#!/usr/bin/env python3
"""Draws what an event costs each system: plot.py [--check FILE | -o FILE] (bench/peers/README.md).

--check compares with a file instead of writing one.
"""
import argparse
import csv
import math
import sys
from pathlib import Path

WINDOW, SELECTION = 100_000, "each"
LEFT, RIGHT, ROW, TOP = 250, 640, 30, 66
LEAST, MOST = 0.1, 10_000.0

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2330; }
.title { font-weight: 600; font-size: 15px; } .quiet { fill: #5b6472; font-size: 12px; }
.bar { fill: #9aa7bd; } .ours { fill: #2458c6; } .grid { stroke: #d5dae3; }
.back { fill: #fff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e9ef; } .quiet { fill: #9aa4b2; } .bar { fill: #66718a; } .ours { fill: #6d9bff; }
  .grid { stroke: #333b49; } .back { fill: #14181f; }
}
"""


def x_of(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * math.log10(value / LEAST) / math.log10(MOST / LEAST)


def spelt(value: float) -> str:
    return f"{value:,.0f} µs" if value >= 100 else f"{value:.3g} µs"


def bar(row: dict[str, str], index: int) -> str:
    y, value = TOP + ROW * index, float(row["us_per_event"])
    kind = "ours" if row["system"] == "Gorgo" else "bar"
    how = f'<tspan class="quiet"> {row["how"]}</tspan>' if row["how"] else ""
    return (
        f'<text x="{LEFT - 10}" y="{y + 16}" text-anchor="end">{row["system"]}{how}</text>'
        f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{x_of(value) - LEFT:.1f}" height="18" rx="2"/>'
        f'<text x="{x_of(value) + 6:.1f}" y="{y + 16}">{spelt(value)}</text>'
    )


def draw(rows: list[dict[str, str]]) -> str:
    chosen = [row for row in rows if int(row["window"]) == WINDOW and row["selection"] == SELECTION]
    chosen.sort(key=lambda row: float(row["us_per_event"]))
    bottom = TOP + ROW * len(chosen)
    ticks = [10.0**power for power in range(-1, 5)]
    grid = "".join(
        f'<line class="grid" x1="{x_of(tick):.1f}" x2="{x_of(tick):.1f}" y1="{TOP - 4}" y2="{bottom}"/>'
        f'<text class="quiet" x="{x_of(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick:,g}</text>'
        for tick in ticks
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {bottom + 44}" role="img" '
        f'aria-label="Time for an event in T-Rex, GTRex, CORE, Esper and Gorgo">\n<style>{STYLE}</style>\n'
        f'<rect class="back" width="720" height="{bottom + 44}"/>\n'
        '<text class="title" x="16" y="24">Time for one event (less is better; each step of the axis is ten times)</text>\n'
        f'<text class="quiet" x="16" y="44">A pattern of three events with the same key, {WINDOW:,} events in the window, one thread</text>\n'
        + grid + "\n" + "\n".join(bar(row, i) for i, row in enumerate(chosen))
        + f'\n<text class="quiet" x="{(LEFT + RIGHT) / 2}" y="{bottom + 34}" text-anchor="middle">microseconds for an event</text>\n</svg>\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=Path)
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args()
    with open(Path(__file__).with_name("figures.csv"), newline="") as file:
        svg = draw(list(csv.DictReader(file)))
    if options.check:
        same = options.check.read_text() == svg
        print("as drawn" if same else f"{options.check} is not what {sys.argv[0]} draws")
        return 0 if same else 1
    if options.output:
        options.output.write_text(svg)
    else:
        sys.stdout.write(svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
