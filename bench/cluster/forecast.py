#!/usr/bin/env python3
"""What clusters of more nodes than were measured would take, calculated from what was: forecast.py [--check PAGE].

Prints a table for a page of the documentation; with --check, whether the page has it.
"""
import argparse
import sys
from pathlib import Path

# Measured, see docs/decisions/0047-cluster.md. A million events took a node and a broker these seconds of processor time,
# where a message had so many of them.
FEW, MANY = 45, 1420
NODE = {FEW: 4.74, MANY: 1.02}
BROKER = {FEW: 3.07, MANY: 0.82}
STREAM, STREAM_ROWS = 1.3e6, 512  # events a second: the most that one stream has taken, with so many in a message
GATHERED = 131_072  # events that a gateway divides among the partitions at a time, at most

NODE_PROCESSORS, BROKER_PROCESSORS = 2, 4  # of each, as in that measurement
CLUSTERS = (1, 4, 10, 100, 1000)


def cost(seconds):
    """Microseconds for an event, and for a message."""
    message = (seconds[FEW] - seconds[MANY]) / (1 / FEW - 1 / MANY)
    return seconds[MANY] - message / MANY, message


def each(seconds, rows):
    """Microseconds for an event that has so many others beside it in its message."""
    event, message = cost(seconds)
    return event + message / rows


def million(events):
    return f"{events / 1e6:.1f} M"


def count(number):
    return f"{number:,.0f}".replace(",", " ")


def line(nodes):
    partitions = max(64, 4 * nodes)  # so that the dead node's are divided among some
    rows = GATHERED / partitions
    by_nodes = nodes * NODE_PROCESSORS * 1e6 / each(NODE, rows)
    by_stream = STREAM * each(BROKER, STREAM_ROWS) / each(BROKER, rows)
    clocks = nodes * partitions
    clock_processors = clocks * cost(BROKER)[1] / 1e6
    if clock_processors > BROKER_PROCESSORS:
        first = "clock messages"
    elif by_nodes > by_stream:
        first = "the stream"
    else:
        first = "the nodes"
    return [count(nodes), count(partitions), count(rows), million(by_nodes), million(by_stream), count(clocks), count(nodes * nodes), first]


def table():
    head = ["nodes", "partitions", "events a message", "nodes take", "a stream takes", "clock messages", "leases read", "breaks first"]
    rows = [head, ["---:"] * 7 + ["---"]] + [line(nodes) for nodes in CLUSTERS]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", metavar="PAGE", help="whether this page has the table")
    page = options.parse_args().check
    print(table(), end="")
    if page is not None and table() not in Path(page).read_text():
        sys.exit(f"{page} has another table: replace it by this one")


if __name__ == "__main__":
    main()
