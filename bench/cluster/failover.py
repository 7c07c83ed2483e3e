#!/usr/bin/env python3
"""How long partitions are silent when the node that owns them is killed: failover.py --help.

Two nodes share a broker. All events stay in the windows of the rule. While a probe a moment comes to
each partition by the second node, the first one is killed, and the time counts until each of its
partitions has answered a probe that was published afterwards. Every answer says how many events its
window has, which is checked. Then the first node comes back, and is ready when it has its partitions.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import scale

RULES = """event Temp(area: string, value: float);
event Probe(area: string, n: int);
rule answer: define Answer(area: string, n: int, events: int)
  from Probe(area = $a) and $events = Count(Temp(area = $a) within 12 h from Probe)
  where area = $a, n = Probe.n, events = $events;
"""


def partition_of(key, partitions):
    """FNV-1a of 32 bits, as the cluster has it."""
    hash_ = 2166136261
    for byte in key.encode():
        hash_ = (hash_ ^ byte) * 16777619 % 2**32
    return hash_ % partitions


def one_key_each(partitions):
    keys = {}
    number = 0
    while len(keys) < partitions:
        keys.setdefault(partition_of(f"area{number}", partitions), f"area{number}")
        number += 1
    return [keys[i] for i in range(partitions)]


def write_events(path, count, areas):
    with open(path, "w") as out:
        out.write("type,area,value\n")
        for i in range(count):
            out.write(f"Temp,{areas[i % len(areas)]},{10 + i % 997 / 16}\n")


class Probes:
    """Publishes a probe for each area, again and again, and notes what is answered and when."""

    def __init__(self, options, address, areas, expected):
        self.areas, self.expected = areas, expected
        self.published = {}  # number of a probe: when
        self.answered = {}   # area: the number of the last probe that was answered, and when
        self.wrong = []
        self.ended = False
        self.into = subprocess.Popen([options.gorgo, "pub", "-", "--to", address], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.out = subprocess.Popen([options.gorgo, "sub", "Answer", "--to", address], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self.publish, self.read)]
        for thread in self.threads:
            thread.start()

    def publish(self):
        number = 0
        while not self.ended:
            number += 1
            self.published[number] = time.monotonic()
            for area in self.areas:
                self.into.stdin.write(json.dumps({"type": "Probe", "attrs": {"area": area, "n": number}}) + "\n")
            self.into.stdin.flush()
            time.sleep(0.1)

    def read(self):
        for line in self.out.stdout:
            found = json.loads(line)["attrs"]
            if found["events"] != self.expected:
                self.wrong.append(found)
            self.answered[found["area"]] = (found["n"], time.monotonic())

    def await_answers(self, since):
        """By area, the seconds until a probe was answered that was published later than `since`."""
        took = {}
        while len(took) < len(self.areas):
            for area, (number, when) in list(self.answered.items()):
                if area not in took and self.published[number] > since:
                    took[area] = when - since
            time.sleep(0.002)
        return took

    def end(self):
        self.ended = True
        self.threads[0].join()
        for process in (self.into, self.out):
            process.terminate()
            process.wait()


def cluster_state(http):
    with urllib.request.urlopen(f"http://{http}/v1/cluster", timeout=10) as answer:
        return json.load(answer)["partitions"]


def owned(http):
    return int(scale.metric(http, "gorgo_cluster_partition_owned"))


def wait_until(what, holds, seconds=600):
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            sys.exit("waited in vain " + what)
        time.sleep(0.05)


def all_caught_up(http, partitions):
    return sum(1 for one in cluster_state(http) if one["here"] and one["here"]["caught_up"]) >= partitions


def measure(options, folder, standby):
    place = scale.Place(folder, shared=True)
    _, broker = scale.start_broker(place, options)

    def start(number):
        return scale.start_server(
            place, options, f"node{number}",
            section=f'[cluster]\nname = "failover"\nnode = "node{number}"\nbrokers = "{broker}"\n'
                    f"partitions = {options.partitions}\nstandby = {str(standby).lower()}\n"
                    f"snapshot_bytes = {options.snapshot_bytes}\n")

    probes = None
    try:
        victim, witness = start(1), start(2)
        rules = folder / "rules.tesla"
        rules.write_text(RULES)
        scale.deploy(place, options, rules)
        wait_until("for owners", lambda: owned(victim[2]) > 0 and owned(victim[2]) + owned(witness[2]) == options.partitions)
        areas = one_key_each(options.partitions)
        write_events(folder / "events.csv", options.events, areas)
        subprocess.run([options.gorgo, "pub", folder / "events.csv", "--format", "csv", "--to", witness[1]], check=True,
                       stdout=subprocess.DEVNULL)
        probes = Probes(options, witness[1], areas, options.events // options.partitions)
        probes.await_answers(time.monotonic())
        mine = owned(victim[2])
        time.sleep(3)
        killed = time.monotonic()
        victim[0].kill()
        victim[0].wait()
        took = max(probes.await_answers(killed).values())
        print(f"{'warm' if standby else 'cold'}: {mine} of {options.partitions} partitions killed, {options.events} events "
              f"in windows: all answer after {took:.2f} s", flush=True)
        begun = time.monotonic()
        victim = start(1)
        listening = time.monotonic() - begun
        ready = options.partitions if standby else mine
        wait_until("for the node that came back", lambda: all_caught_up(victim[2], ready))
        print(f"      back: listens after {listening:.2f} s, has caught up with {ready} partitions after "
              f"{time.monotonic() - begun:.2f} s", flush=True)
        if probes.wrong:
            sys.exit(f"{len(probes.wrong)} answers counted another window, such as {probes.wrong[0]}")
    finally:
        if probes:
            probes.end()
        place.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gorgo", default="build/release/gorgo")
    parser.add_argument("--nats", default="/usr/sbin/nats-server")
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--events", type=int, default=10_000_000, help="a multiple of the partitions is published (10 000 000)")
    parser.add_argument("--snapshot-bytes", type=int, default=16 << 20, help="0: no snapshots (16 MiB)")
    parser.add_argument("--standby", choices=["both", "warm", "cold"], default="both")
    parser.add_argument("--folder", help="for journals and streams (the system's for temporary files)")
    options = parser.parse_args()
    options.gorgo = Path(options.gorgo).resolve()
    options.cores, options.broker_cores = 1, 1
    options.events -= options.events % options.partitions
    for standby in (True, False):
        if options.standby in ("both", "warm" if standby else "cold"):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                measure(options, Path(folder), standby)


if __name__ == "__main__":
    main()
