#!/usr/bin/env python3
"""Keeps a server under load for an hour, at a share of what it can take, and checks that nobody misses an event:
publishers and subscribers of all kinds, 100 000 rules, 100 000 subscriptions, slow readers, a rule that explodes."""
import argparse
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from figures import Programs, duration, print_table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients/python"))
import gorgo  # noqa: E402

LISTENERS, SUBSCRIPTIONS = 100, 1000  # of each listener
ROUND_S = 50  # in which each of those subscriptions gets an event
SLOW_READERS = 4
READ_NOTHING_S = 120  # the server disconnects after 30 s, and then comes the next one
RULES_OF_A_FILE = 10_000
EXPLOSION_S = 30  # from one to the next
EXPLODING = """event Spark(n: int); event Fuel(n: int); event Air(n: int);
rule explode: define Flame(fuel: int, air: int) from Spark() and each Fuel() within 60 s from Spark
  and each Air() within 60 s from Spark where fuel = Fuel.n, air = Air.n;
"""


def write_rules(folder, count):
    """Rules that differ in a constant: two readings of a sensor within two minutes, a sensor for each rule."""
    rules = folder / "rules"
    rules.mkdir()
    (rules / "explode.tesla").write_text(EXPLODING, encoding="utf-8")
    for first in range(0, count, RULES_OF_A_FILE):
        lines = [f"rule again{i}: define Again(sensor: int) from Reading(sensor = {i}) as now and last Reading(sensor = {i}) as before"
                 f" within 2 min from now where sensor = now.sensor;\n" for i in range(first, min(count, first + RULES_OF_A_FILE))]
        (rules / f"sensors{first}.tesla").write_text("event Reading(sensor: int);\n" + "".join(lines), encoding="utf-8")


class Server:
    def __init__(self, programs, folder):
        command = [programs.path("gorgo"), "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--journal", folder / "journal",
                   "--rules", folder / "rules", "--log-level", "warning"]
        self.log = open(folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=self.log)
        lines = [self.process.stdout.readline().split() for _ in range(2)]
        if not all(lines):
            sys.exit(f"the server has ended: {(folder / 'log').read_text()}")
        self.native, self.http = (line[-1] for line in lines)

    def metrics(self):
        """Those without labels, by name."""
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=60) as reply:
            lines = reply.read().decode().splitlines()
        return {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("gorgo_") and "{" not in line}

    def megabytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def end(self):
        self.process.terminate()
        return self.process.wait(timeout=120)


class Background:
    """What goes on beside the load: readers that read nothing, and the rule that explodes."""

    def __init__(self, server):
        self.server, self.is_over = server, threading.Event()
        self.published, self.failure = 0, None
        self.threads = [threading.Thread(target=self.guard, args=(work,), daemon=True)
                        for work in [self.read_nothing] * SLOW_READERS + [self.explode]]
        for thread in self.threads:
            thread.start()

    def guard(self, work):
        try:
            work()
        except Exception as failure:  # told at the end, where the program fails for it
            self.failure = failure

    def read_nothing(self):
        host, port = self.server.http.split(":")
        while not self.is_over.is_set():
            with socket.create_connection((host, int(port))) as reader:
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.sendall(b"GET /v1/events?subscribe=Fire HTTP/1.1\r\nHost: x\r\n\r\n")
                self.is_over.wait(READ_NOTHING_S)  # a closed connection looks open where what came before its end is not read

    def explode(self):
        with gorgo.connect("gorgo://" + self.server.native) as client:
            for second in range(1_000_000):
                if self.is_over.wait(1):
                    return
                events = [gorgo.Event(name, {"n": i}) for i in range(8) for name in ("Fuel", "Air")]
                if second % EXPLOSION_S == EXPLOSION_S - 1:
                    events.append(gorgo.Event("Spark", {"n": second}))
                self.published += client.publish(events).accepted

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        if self.failure:
            raise self.failure


class Crowd:
    """The 100 000 subscriptions, each of which gets an event in each round, and no other."""

    def __init__(self, programs, server, seconds):
        self.process = subprocess.Popen(
            [programs.path("crowd_load"), "--to", server.native, "--connections", str(LISTENERS), "--subscriptions", str(SUBSCRIPTIONS),
             "--seconds", str(seconds), "--batch", str(LISTENERS * SUBSCRIPTIONS // ROUND_S), "--rate",
             str(LISTENERS * SUBSCRIPTIONS / ROUND_S)],
            text=True, stdout=subprocess.PIPE)
        self.process.stdout.readline()  # all are open

    def rounds(self):
        """Waits until it has ended."""
        output = self.process.stdout.read()
        if self.process.wait() != 0:
            sys.exit("crowd_load failed")
        return output.count("its own event")


def load(programs, server, options, rate, seconds):
    """A line of the table of what `server_load` found. It fails where a subscriber misses a composite."""
    output = programs.run("server_load", "--to", server.native, "--connections", options.publishers, "--subscribers", options.subscribers,
                          "--threads", 1, "--batch", options.batch, "--composite-every", 1000, "--rate", rate, "--seconds", seconds,
                          limit=seconds + 300)
    found = re.search(r"([\d.]+) events/s \((\d+) accepted, (\d+) refused", output)
    times = {line.split()[0]: [float(value) for value in re.findall(r"([\d.]+) us", line)] for line in output.splitlines()[1:]}
    return float(found[1]), int(found[2]), int(found[3]), times


def row(name, server, found):
    rate, _, _, times = found
    cells = [" / ".join(duration(value * 1e3) for value in times[kind]) for kind in ("acknowledged", "composites")]
    return [name, f"{rate / 1e6:.3g} M", *cells, f"{server.megabytes():.0f}"]


def measure(programs, server, options):
    minutes, part_s = options.minutes, min(300, options.minutes * 60)
    parts = max(1, round(minutes * 60 / part_s))
    background, crowd = Background(server), Crowd(programs, server, max(0, minutes * 60 - ROUND_S))
    rows = []
    most = load(programs, server, options, 0, min(20, part_s))
    rows.append(row("all that go", server, most))
    founds = [most]
    for part in range(parts):
        founds.append(load(programs, server, options, options.share * most[0], part_s))
        rows.append(row(f"{(part + 1) * part_s / 60:g} min", server, founds[-1]))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    rounds = crowd.rounds()
    background.end()
    # Each run publishes an event before it counts.
    accepted = sum(found[1] + 1 for found in founds) + rounds * LISTENERS * SUBSCRIPTIONS + background.published
    refused = sum(found[2] for found in founds)
    return rows, rounds, background, accepted, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="FOLDER is that of a release build.")
    parser.add_argument("folder", help="of the programs, such as build/release")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.8, help="of the throughput that was measured before")
    parser.add_argument("--publishers", type=int, default=100)
    parser.add_argument("--subscribers", type=int, default=100)
    parser.add_argument("--batch", type=int, default=256, help="events of a publication")
    parser.add_argument("--rules", type=int, default=100_000)
    options = parser.parse_args()
    programs = Programs(options.folder, False)
    with tempfile.TemporaryDirectory(prefix="gorgo-endurance-") as name:
        folder = Path(name)
        write_rules(folder, options.rules)
        server = Server(programs, folder)
        try:
            rows, rounds, background, accepted, refused = measure(programs, server, options)
            metrics = server.metrics()
        finally:
            code = server.end()
            log = (folder / "log").read_text(encoding="utf-8")
    print_table(["", "events/s", "acknowledged, p50 / p99 / p99.9 / most", "composites, the same", "memory, MB"], rows)
    print(f"{options.rules} rules, {options.publishers} publishers, {options.subscribers} subscribers, "
          f"{LISTENERS * SUBSCRIPTIONS} other subscriptions that got {rounds} events each, {SLOW_READERS} readers that read nothing; "
          f"readers were disconnected {metrics['gorgo_slow_consumers_total']:.0f} times.")
    print(f"Accepted: {metrics['gorgo_events_accepted_total']:.0f} by the server, {accepted} by its clients; refused: {refused}.")
    print(f"Composites: {metrics['gorgo_composites_total']:.0f}; dropped {metrics['gorgo_composites_dropped_total']:.0f}. "
          f"The server ended with {code}; its warnings:")
    print(log)
    if metrics["gorgo_events_accepted_total"] != accepted or refused or code != 0:
        sys.exit("the accounts differ, or the server failed")


if __name__ == "__main__":
    main()
