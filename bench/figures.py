#!/usr/bin/env python3
"""Measures the figures of docs/performance.md on this machine and prints them as Markdown: figures.py --help."""
import argparse
import contextlib
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELP = "FOLDER has the programs gorgo, server_load, http_load, trex_load and crowd_load, or is a folder of a build with them."
ALL = sorted(os.sched_getaffinity(0))
TWO = ALL[:2]


def duration(nanoseconds):
    """Three digits, in the unit that people would take."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def title(text):
    print(f"### {text}\n", flush=True)


class Programs:
    """Where the programs are, and how much each of them does."""

    def __init__(self, folder, is_brief):
        self.folder = Path(folder).resolve()
        self.is_brief = is_brief
        self.seconds = 0.2 if is_brief else 5  # that a generator of load runs

    def path(self, name):
        for place in (self.folder / name, self.folder / "bench/load" / name):
            if place.exists():
                return str(place)
        sys.exit(f"{self.folder} has no {name}: build it, or see --help")

    def run(self, name, *arguments, processors=None, limit=300):
        """Its output. A program that fails ends this one, because its figure would be missing."""
        command = [self.path(name), *[str(argument) for argument in arguments]]
        done = subprocess.run(command, text=True, capture_output=True, timeout=limit,
                              preexec_fn=lambda: processors and os.sched_setaffinity(0, processors))
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    @contextlib.contextmanager
    def server(self, *arguments, processors=None):
        """A server of its own: its addresses by protocol, and its process."""
        with tempfile.TemporaryDirectory(prefix="gorgo-figures-", dir=os.environ.get("TMPDIR")) as folder:
            command = [self.path("gorgo"), "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--trex", "127.0.0.1:0",
                       "--log-level", "error", "--engine", "column", *arguments]
            command = [part.replace("FOLDER", folder) for part in command]
            server = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      env={**os.environ, "GORGO__LIMITS__MAX_SESSIONS": "10100"},  # for `crowd`
                                      preexec_fn=lambda: processors and os.sched_setaffinity(0, processors))
            lines = [server.stdout.readline().split() for _ in range(3)]
            if not all(lines):
                sys.exit(f"the server has ended: {shlex.join(command)}")
            try:
                yield dict(zip(("native", "http", "trex"), (line[-1] for line in lines))), server.pid
            finally:
                server.kill()
                server.wait()


def bench(programs, text, sweeps, engines, *options):
    """A table of `gorgo bench` with a line for each sweep and value, and a column for each engine. `options` are for figures alone."""
    arguments = [*sweeps.split(), "--engine", engines, "--grid", "quick"]
    if not programs.is_brief:
        arguments = [*arguments[:-1], "full", *options]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        programs.run("gorgo", "bench", *arguments, "--json", report, limit=590)
        found = json.loads(report.read_text(encoding="utf-8"))
    if found["mismatches"]:
        sys.exit(f"engines differ: {found['mismatches']}")
    title(text)
    print("    gorgo bench " + shlex.join(arguments) + "\n")
    engines = list(dict.fromkeys(result["engine"] for result in found["results"]))
    axes = {sweep["sweep"]: sweep["axis"] for sweep in found["sweeps"]}
    lines = dict.fromkeys((result["sweep"], result["x"]) for result in found["results"])
    rows = []
    for sweep, x in lines:
        cells = {result["engine"]: result for result in found["results"] if (result["sweep"], result["x"]) == (sweep, x)}
        rows.append([f"`{sweep}`", f"{x:,.0f} {axes[sweep]}", *[time_of(cells.get(engine)) for engine in engines]])
    print_table(["sweep", "", *engines], rows)


def time_of(result):
    if result is None or "ns_per_event" not in result:
        return ""
    times = result["ns_per_event"]
    return f"{duration(times['median'])} ({duration(times['min'])} to {duration(times['max'])})"


def run_base(programs):
    bench(programs, "The base scenario, one thread", "base/window", "column,handwritten", "--at", "4000,100000,1000000")
    bench(programs, "What else is in a rule, one thread", "base/plain base/aggregates/last base/negations/last base/consuming/last "
          "base/disorder/last base/attributes/last", "column")


def run_heavy(programs):
    bench(programs, "Bands, distances and inequalities, one thread", "heavy/band heavy/distance heavy/inequality heavy/halfspace "
          "heavy/filtered-average", "column,handwritten", "--at", "100000,1000000", "--repetitions", "2")


def run_rules(programs):
    bench(programs, "Many rules, one thread", "base/constraints", "column")


def run_reports(programs):
    bench(programs, "Reports at regular times, one thread, batches of 16384", "reports", "column", "--batch", "16384",
          "--events", "1000000", "--repetitions", "2")


def run_workloads(programs):
    bench(programs, "The rules of `rules/` over generated events, one thread", "fire tanks stocks cards home auctions",
          "column,automaton", "--at", "1000")


def run_threads(programs):
    bench(programs, "Threads", "base/threads-rules/each base/own-types/last", "column", "--threads", "0")
    bench(programs, "A rule that searches much, all threads", "heavy/distance", "column,column-scan", "--at", "1000000",
          "--threads", "0", "--repetitions", "2")


def event_lines(path, count, as_csv):
    """Three types with three ints each, a millisecond apart."""
    with open(path, "w", encoding="utf-8") as file:
        if as_csv:
            file.write("type,ts,a,b,c\n")
        for i in range(count):
            name, values = "ABC"[i % 3], (i % 997, i * 7 % 1009, i % 13)
            if as_csv:
                file.write(f"{name},{i},{values[0]},{values[1]},{values[2]}\n")
            else:
                file.write(f'{{"type":"{name}","ts":{i},"attrs":{{"a":{values[0]},"b":{values[1]},"c":{values[2]}}}}}\n')


FILE_RULES = """event A(a: int, b: int, c: int); event B(a: int, b: int, c: int); event C(a: int, b: int, c: int);
rule found: define Found(a: int, sum: int) from A(a = $a) and last B(a = $a) within 100 s from A
  and $sum = Sum(C(a = $a).b within 100 s from A) where a = $a, sum = $sum;
"""


def run_files(programs):
    count, rows = 10_000 if programs.is_brief else 1_000_000, []
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tesla"
        rules.write_text(FILE_RULES, encoding="utf-8")
        for ending in ("ndjson", "csv"):
            events = Path(folder) / f"events.{ending}"
            event_lines(events, count, ending == "csv")
            run = ("run", rules, "--events", events, "--format", ending)
            rows.append([f"`gorgo run`, {ending}", rate_of(count, lambda run=run: programs.run("gorgo", *run))])
            with programs.server() as (addresses, _):
                publish = ("pub", events, "--format", ending, "--to", addresses["native"], "--stamp", "server")
                rows.append([f"`gorgo pub`, {ending}", rate_of(count, lambda publish=publish: programs.run("gorgo", *publish))])
    title(f"Event files, {count:,} events of three ints each")
    print_table(["", "events/s, three runs"], rows)


def rate_of(count, run):
    rates = []
    for _ in range(3):
        start = time.monotonic()
        run()
        rates.append(count / (time.monotonic() - start))
    return million(rates)


def million(rates):
    return ", ".join(f"{rate / 1e6:.3g}" for rate in rates) + " M"


LOADS = [
    ("256 events a publication, 64 in flight, 1 connection", "server_load", ["--connections", "1"]),
    ("the same, 4 connections", "server_load", ["--connections", "4"]),
    ("the same, 8 connections", "server_load", ["--connections", "8"]),
    ("one event a publication, 16 connections, 64 in flight", "server_load", ["--connections", "16", "--batch", "1"]),
    ("the same, 1 in flight", "server_load", ["--connections", "16", "--batch", "1", "--in-flight", "1"]),
    ("50 000 events/s, one a publication, 1 connection", "server_load", ["--rate", "50000", "--batch", "1"]),
    ("the same, 4 connections", "server_load", ["--rate", "50000", "--batch", "1", "--connections", "4"]),
    ("200 subscribers, 2 million events/s", "server_load", ["--rate", "2000000", "--connections", "4", "--subscribers", "200"]),
    ("HTTP, 1000 lines of NDJSON a body, 4 connections", "http_load", []),
    ("T-Rex, 4 publishers, one event a write", "trex_load", []),
]


def load_of(programs, name, arguments, seconds, processors, *server):
    """Events a second, and p50, p99 and p99.9 of the composites in microseconds where the generator measures them."""
    protocol = {"server_load": "native", "http_load": "http", "trex_load": "trex"}[name]
    with programs.server(*server, processors=processors) as (addresses, _):
        to = [addresses[protocol]] if name == "trex_load" else ["--to", addresses[protocol], "--seconds", seconds]
        output = programs.run(name, *to, *arguments, processors=processors)
    rate = float(re.search(r"([\d.]+) events/s", output)[1])
    line = re.search(r"^composites.*$", output, re.M)
    late = re.findall(r"(p50|p99|p99.9) +([\d.]+) us", line[0]) if line else []
    return rate, [float(microseconds) for _, microseconds in late]


def run_server(programs):
    rows, places = [], [ALL] if len(ALL) <= 2 else [ALL, TWO]
    for text, name, arguments in LOADS:
        cells = []
        for processors in places:
            rate, late = load_of(programs, name, arguments, programs.seconds, processors)
            cells += [f"{rate / 1e6:.3g} M", " / ".join(duration(value * 1e3) for value in late)]
        rows.append([text, *cells])
    title(f"The server, {programs.seconds:g} seconds each")
    header = [text for place in places for text in (f"events/s, {len(place)} cores", "composites, p50 / p99 / p99.9")]
    print_table(["", *header], rows)


JOURNALS = [
    ("no journal", [], ["--connections", "4"]),
    ("`buffered`", ["--journal", "FOLDER"], ["--connections", "4"]),
    ("`durable`, 16 connections, 4 in flight", ["--journal", "FOLDER"], ["--durable", "--connections", "16", "--in-flight", "4"]),
    ("`durable`, one event a publication, 1000 in flight in all", ["--journal", "FOLDER"],
     ["--durable", "--connections", "16", "--batch", "1", "--in-flight", "63"]),
]


def run_journal(programs):
    rows = []
    for text, server, arguments in JOURNALS:
        measured = [load_of(programs, "server_load", arguments, 2 * programs.seconds, TWO, *server)
                    for _ in range(3)]
        rows.append([text, million([rate for rate, _ in measured]), ", ".join(duration(late[1] * 1e3) for _, late in measured)])
    title(f"The journal, on 2 cores, batches of 256, {2 * programs.seconds:g} seconds each, three runs")
    print_table(["", "events/s", "composites, p99"], rows)


def run_crowd(programs):
    with programs.server(processors=None) as (addresses, pid):
        connections = 100 if programs.is_brief else 10_000
        output = programs.run("crowd_load", "--to", addresses["native"], "--server", pid, "--connections", connections)
    title("Many connections and subscriptions")
    print("```\n" + output.strip() + "\n```\n", flush=True)


PARTS = {"base": run_base, "heavy": run_heavy, "rules": run_rules, "reports": run_reports, "workloads": run_workloads,
         "threads": run_threads, "files": run_files, "server": run_server, "journal": run_journal, "crowd": run_crowd}


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=HELP)
    parser.add_argument("folder", help="of the programs, such as build/release")
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; all without it")
    parser.add_argument("--brief", action="store_true", help="do little: whether it works, and no figures")
    options = parser.parse_args()
    unknown = [part for part in options.part if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    programs = Programs(options.folder, options.brief)
    version = " ".join(re.sub(r"^\w+: +", "", line) for line in programs.run("gorgo", "--version").splitlines()[:3])
    print(f"{datetime.date.today()}, {version}, {len(ALL)} cores\n")
    for part in options.part or PARTS:
        start = time.monotonic()
        PARTS[part](programs)
        print(f"{part}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
