#!/usr/bin/env python3
"""How fast clusters of 1, 2, 4 nodes take events, and one server without a cluster: scale.py --help.

Each node has processors of its own, so that a node more is a machine more. Publishers send to all
nodes, each a file of its own, as fast as they are taken. The time counts from the first publication
until all partitions together have had every event.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

RULES = """event Temp(area: string, value: float);
event Smoke(area: string);
rule fire: define Fire(area: string, mean: float)
  from Smoke(area = $a) and last Temp(area = $a, value > 49.9) within 5 min from Smoke
  and $mean = Avg(Temp(area = $a).value within 5 min from Smoke)
  where area = $a, mean = $mean;
"""

# Evaluated for each event, without a composite.
WATCHES = """rule watch{0}: define Watch{0}(area: string, mean: float)
  from Temp(area = $a) as now and $mean = Avg(Temp(area = $a).value within {0} min from now)
  and $mean > 1000 where area = $a, mean = $mean;
"""


class Place:
    """Where processes run, and the processors that are still free for them."""

    def __init__(self, folder, shared):
        self.folder = Path(folder)
        self.shared = shared
        self.free = sorted(os.sched_getaffinity(0))
        self.started = []

    def take(self, count):
        if self.shared:
            return self.free
        if len(self.free) < count:
            sys.exit(f"too few processors: {count} more wanted, {len(self.free)} left; see --cores, --nodes and --shared")
        taken, self.free = self.free[:count], self.free[count:]
        return taken

    def start(self, processors, *command, lines=0):
        process = subprocess.Popen(
            [str(part) for part in command], cwd=self.folder, text=True,
            stdout=subprocess.PIPE if lines else subprocess.DEVNULL, stderr=open(self.folder / "errors", "a"),
            preexec_fn=lambda: os.sched_setaffinity(0, processors))
        self.started.append(process)
        return process, [process.stdout.readline() for _ in range(lines)]

    def end(self):
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def write_events(path, count, areas, smokes, seed):
    """Repeats some, which takes less time than making as many."""
    chosen = random.Random(seed)
    lines = []
    for _ in range(min(count, 250_000)):
        area = f"area{chosen.randrange(areas)}"
        if chosen.random() < smokes:
            lines.append(json.dumps({"type": "Smoke", "attrs": {"area": area}}) + "\n")
        else:
            value = round(chosen.uniform(10, 50), 2)
            lines.append(json.dumps({"type": "Temp", "attrs": {"area": area, "value": value}}) + "\n")
    with open(path, "w") as out:
        for first in range(0, count, 250_000):
            out.writelines(lines[:count - first])


def metric(address, name):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
    return sum(float(value) for value in values)


def processor_seconds(processes):
    """What they have taken since they began."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])  # for the program and for the system
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_by_thread(processes):
    """What threads of each kind have taken since they began; digits in their names are left out."""
    taken = collections.Counter()
    for process in processes:
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            head, fields = (task / "stat").read_text().rsplit(")", 1)
            fields = fields.split()
            kind = re.sub(r"\s*\d+", "", head.split("(", 1)[1])
            taken[kind] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return taken


def ports_of(lines):
    found = dict(re.findall(r"(listening|http) on (\S+)", "".join(lines)))
    return found["listening"], found["http"]


def start_server(place, options, name, rules="", section=""):
    config = place.folder / f"{name}.toml"
    config.write_text(f'rules = [{rules}]\n[journal]\npath = "{name}"\nbacklog_policy = "refuse"\n'
                      f"[engine]\nmax_late_ms = 600000\n{section}")
    process, lines = place.start(place.take(options.cores), options.gorgo, "serve", "--config", config,
                                 "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", lines=2)
    return process, *ports_of(lines)


def start_broker(place, options):
    port = 4200 + random.randrange(1000)
    (place.folder / "broker.conf").write_text(
        f"server_name: broker\nlisten: 127.0.0.1:{port}\njetstream {{ store_dir: store }}\n")
    process, _ = place.start(place.take(options.broker_cores), options.nats, "-c", "broker.conf")
    time.sleep(1)  # it announces nothing that could be waited for
    return process, f"127.0.0.1:{port}"


def deploy(place, options, rules, node):
    command = [options.gorgo, "cluster", "deploy", rules, "--config", place.folder / f"{node}.toml"]
    for _ in range(100):
        done = subprocess.run([str(part) for part in command], cwd=place.folder, capture_output=True, text=True)
        if done.returncode == 0:
            return
        time.sleep(0.2)
    sys.exit("not deployed: " + done.stderr)


def wait_until_owned(servers, partitions):
    while sum(metric(http, "gorgo_cluster_partition_owned") for _, _, http in servers) < partitions:
        time.sleep(0.1)


def publish_and_wait(place, options, servers, files, counted, brokers=()):
    """Seconds until `counted`, a metric summed over the servers, has grown by all events, and what
    servers and brokers take meanwhile."""
    processors = place.take(len(place.free))
    wanted = options.events + sum(metric(http, counted) for _, _, http in servers)
    groups = [[process for process, _, _ in servers], brokers]
    before = [processor_seconds(group) for group in groups]
    start = time.monotonic()
    publishers = []
    for number, file in enumerate(files):
        _, native, _ = servers[number % len(servers)]
        publishers.append(place.start(processors, options.gorgo, "pub", file, "--to", native)[0])
    while sum(metric(http, counted) for _, _, http in servers) < wanted:
        if any(publisher.poll() not in (None, 0) for publisher in publishers):
            sys.exit("a publisher failed: " + (place.folder / "errors").read_text()[-2000:])
        time.sleep(0.1)  # asking costs the servers time, too
    seconds = time.monotonic() - start
    taken = (processor_seconds(group) - then for group, then in zip(groups, before))
    return seconds, *taken, seconds_by_thread(groups[0])


def start_nodes(place, options, broker, names):
    """A node of each of these clusters; those of one name are one cluster."""
    nodes = []
    for number, cluster in enumerate(names):
        section = (f'[cluster]\nname = "{cluster}"\nnode = "node{number + 1}"\nbrokers = "{broker}"\n'
                   f"partitions = {options.partitions}\nstandby = false\n")
        nodes.append(start_server(place, options, f"node{number + 1}", section=section))
    return nodes


def measured(options, rules, files, nodes, apart):
    """One run: of that many nodes, or of a server without a cluster with 0. `apart`: each node is a cluster by itself."""
    folder = tempfile.mkdtemp(prefix="gorgo-scale-", dir=options.folder)
    place = Place(folder, options.shared)
    try:
        if nodes == 0:
            servers = [start_server(place, options, "server", rules=f'"{rules}"')]
            return publish_and_wait(place, options, servers, files, "gorgo_events_accepted_total")
        broker_process, broker = start_broker(place, options)
        clusters = nodes if apart else 1
        servers = start_nodes(place, options, broker, [f"scale{number % clusters}" for number in range(nodes)])
        for number in range(clusters):
            deploy(place, options, rules, f"node{number + 1}")
        wait_until_owned(servers, options.partitions * clusters)
        return publish_and_wait(place, options, servers, files, "gorgo_cluster_partition_events_total",
                                [broker_process])
    finally:
        place.end()
        shutil.rmtree(folder, ignore_errors=True)


def runs(options):
    """Numbers of nodes, and whether each of them is a cluster by itself."""
    for nodes in map(int, options.nodes.split(",")):
        yield nodes, False
        if options.apart and nodes > 1:
            yield nodes, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gorgo", default="build/release/gorgo")
    parser.add_argument("--nats", default="/usr/sbin/nats-server")
    parser.add_argument("--nodes", default="0,1,2,4", help="numbers of nodes; 0 is a server without a cluster (0,1,2,4)")
    parser.add_argument("--cores", type=int, default=2, help="processors of each node (2)")
    parser.add_argument("--broker-cores", type=int, default=4, help="processors of the broker (4)")
    parser.add_argument("--shared", action="store_true", help="let all processes share all processors")
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--publishers", type=int, default=4)
    parser.add_argument("--areas", type=int, default=1000, help="different keys (1000)")
    parser.add_argument("--smokes", type=float, default=0.01,
                        help="share of events that make a composite, which every node gets (0.01)")
    parser.add_argument("--watches", type=int, default=0, help="rules that each event has evaluated, too (0)")
    parser.add_argument("--rules", help="a file of rules in place of the built-in one, for Temp and Smoke")
    parser.add_argument("--apart", action="store_true",
                        help="also measure as many clusters of one node each, at the same time: what one broker and one machine for all allow")
    parser.add_argument("--threads", action="store_true", help="also print what threads of nodes take")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, in turns (3)")
    parser.add_argument("--folder", help="for journals and streams (the system's for temporary files)")
    options = parser.parse_args()
    options.gorgo = Path(options.gorgo).resolve()
    with tempfile.TemporaryDirectory(dir=options.folder) as inputs:
        rules = Path(options.rules).resolve() if options.rules else Path(inputs) / "rules.tesla"
        if not options.rules:
            rules.write_text(RULES + "".join(WATCHES.format(i + 1) for i in range(options.watches)))
        files = [Path(inputs) / f"events{i}.ndjson" for i in range(options.publishers)]
        options.events -= options.events % options.publishers
        for seed, file in enumerate(files):
            write_events(file, options.events // options.publishers, options.areas, options.smokes, seed)
        print(f"{options.events} events, {options.partitions} partitions, {options.cores} processors for each node, "
              f"{options.broker_cores} for the broker")
        print("round  nodes  seconds  events/s  nodes us  broker us")
        for number in range(options.rounds):
            for nodes, apart in runs(options):
                seconds, *taken, by_thread = measured(options, rules, files, nodes, apart)
                each = [1e6 * one / options.events for one in taken]
                print(f"{number + 1:5}  {nodes:5}  {seconds:7.2f}  {options.events / seconds:8.0f}"
                      f"  {each[0]:8.2f}  {each[1]:9.2f}{'  apart' if apart else ''}", flush=True)
                if options.threads:
                    shares = (f"{kind} {1e6 * one / options.events:.2f}" for kind, one in by_thread.most_common(8))
                    print("       us by thread: " + ", ".join(shares), flush=True)


if __name__ == "__main__":
    main()
