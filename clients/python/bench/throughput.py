"""Events a second through the clients in all languages, each way, in one run.

    cmake --build --preset release --target gorgo_cli client_load
    python3 clients/python/bench/throughput.py

The server, the publisher and the subscriber share the machine. Each figure is the best of `--rounds`. An event has a
string and a float. columns: batches of 1000 in columns; lists: of 1000 events; single: `send`, one by one; batches and
each: received, while a process publishes columns.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import time
from array import array

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.dirname(HERE))

import gorgo  # noqa: E402

WAYS = ("columns", "lists", "single", "batches", "each")
AREAS = [f"area{i % 10}" for i in range(1000)]
VALUES = array("d", [20.0 + i % 20 for i in range(1000)])
EVENTS = [gorgo.Event("Reading", {"area": area, "value": value}) for area, value in zip(AREAS, VALUES)]


async def publish(address, how, count):
    """Seconds until `count` events are accepted."""
    async with gorgo.connect(address) as client:
        begin = time.perf_counter()
        for _ in range(count // 1000):
            if how == "columns":
                await client.send_columns({"Reading": {"area": AREAS, "value": VALUES}})
            elif how == "lists":
                await client.send(EVENTS)
            else:
                for event in EVENTS:
                    await client.send(event)
        await client.flush()
        return time.perf_counter() - begin


def publish_sync(address, count):
    with gorgo.connect(address) as client:
        begin = time.perf_counter()
        for _ in range(count // 1000):
            for event in EVENTS:
                client.send(event)
        client.flush()
        return time.perf_counter() - begin


def feed(address, count):
    """Another process that publishes columns."""
    code = (f"import sys, asyncio; sys.path[:0] = [{os.path.dirname(HERE)!r}, {HERE!r}]; import throughput; "
            f"asyncio.run(throughput.publish({address!r}, 'columns', {count}))")
    return subprocess.Popen([sys.executable, "-c", code])


async def receive(address, how, count):
    """Seconds from the first batch to the last."""
    async with gorgo.connect(address) as client:
        stream = await client.subscribe("Reading")
        feeder = feed(address, count)
        total = begin = 0
        if how == "columns":
            async for batch in stream.batches():
                begin = begin or time.perf_counter()
                for table in batch.tables:
                    sum(table["value"])
                total += len(batch)
                if total == count:
                    break
        else:
            async for event in stream:
                begin = begin or time.perf_counter()
                event["value"]
                total += 1
                if total == count:
                    break
        seconds = time.perf_counter() - begin
        feeder.wait()
        return seconds


def receive_sync(address, count):
    with gorgo.connect(address) as client, client.subscribe("Reading") as stream:
        feeder = feed(address, count)
        total = begin = 0
        for event in stream:
            begin = begin or time.perf_counter()
            event["value"]
            total += 1
            if total == count:
                break
        seconds = time.perf_counter() - begin
        feeder.wait()
        return seconds


def program(command, address, count, way):
    """Seconds that a client in another language took; it prints them, behind "ready" where it subscribes first."""
    with subprocess.Popen([*command, str(count), way], stdout=subprocess.PIPE, text=True) as client:
        if way in ("batches", "each"):
            if client.stdout.readline().strip() != "ready":
                raise RuntimeError(f"{command[0]} did not subscribe")
            feed(address, count).wait()
        said = client.stdout.readline()
        if client.wait() or not said:
            raise RuntimeError(f"{command[0]} failed")
        return float(said)


def best_of(rounds, measure, count):
    """Events a second by the clock, the best of several rounds."""
    return max(count / measure() for _ in range(rounds))


def find_node():
    """Node with its WebSocket, or None. Node 20 has it behind a flag."""
    node = shutil.which("node")
    if node is None:
        return None
    flagged = subprocess.run([node, "--experimental-websocket", "-e", ""], capture_output=True).returncode == 0
    return [node, "--experimental-websocket"] if flagged else [node]


def start(binary):
    server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ports = [server.stdout.readline().rsplit(":", 1)[1].strip() for _ in range(2)]
    return server, f"gorgo://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"


def clients(options, address, http):
    """For each client, by the way: a function that returns seconds."""
    count = options.count
    python = {way: lambda way=way: asyncio.run(publish(address, way, count)) for way in ("columns", "lists", "single")}
    python["batches"] = lambda: asyncio.run(receive(address, "columns", count))
    python["each"] = lambda: asyncio.run(receive(address, "single", count))
    found = {"Python, asyncio": python, "Python, synchronous": {
        "single": lambda: publish_sync(address, count), "each": lambda: receive_sync(address, count)}}
    node = find_node()
    others = {}
    if node:
        others["JavaScript"] = ([*node, os.path.join(REPOSITORY, "clients/js/bench/throughput.mjs"), http], WAYS[1:])
    if os.path.exists(options.cpp):
        others["C++"] = ([options.cpp, address.split("//")[1]], WAYS)
    for name, (command, ways) in others.items():
        found[name] = {way: lambda way=way, command=command: program(command, address, count, way) for way in ways}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gorgo", default=os.path.join(REPOSITORY, "build/release/gorgo"))
    parser.add_argument("--cpp", default=os.path.join(REPOSITORY, "build/release/bench/load/client_load"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=300_000)
    options = parser.parse_args()
    server, address, http = start(options.gorgo)
    try:
        all_clients = clients(options, address, http)
        for way in WAYS:
            rates = {name: best_of(options.rounds, ways[way], options.count)
                     for name, ways in all_clients.items() if way in ways}
            of_cpp = rates.get("C++")
            for name, rate in rates.items():
                ratio = f"{rate / of_cpp:6.2f} of C++" if of_cpp else ""
                print(f"{way:8} {name:20} {rate:12,.0f} events/s {ratio}", flush=True)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
