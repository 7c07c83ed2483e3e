"""Events a second through the Python client, each way, beside the C++ client in the same run.

    python3 clients/python/bench/throughput.py [--gorgo build/release/gorgo] [--load build/release/bench/load/server_load]

The server, the publisher and the subscriber share the machine. Each figure is the best of `--rounds`.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import time
from array import array

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.dirname(HERE))

import gorgo  # noqa: E402

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


def load(program, address, batch):
    """Events a second that the C++ load generator publishes; it encodes nothing while it runs."""
    done = subprocess.run([program, "--to", address.split("//")[1], "--batch", str(batch), "--seconds", "3",
                           "--subscribers", "0"], capture_output=True, text=True)
    found = re.search(r"^(\d+) events/s", done.stdout, re.M)
    if not found:
        raise RuntimeError(f"server_load said: {done.stdout}{done.stderr}")
    return float(found.group(1))


def best_of(rounds, measure, count):
    """Events a second by the clock, and by the processor time of this process: the best of several rounds."""
    rates = []
    for _ in range(rounds):
        begin = time.process_time()
        seconds = measure()
        rates.append((count / seconds, count / (time.process_time() - begin)))
    return max(rate for rate, _ in rates), max(rate for _, rate in rates)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gorgo", default=os.path.join(REPOSITORY, "build/release/gorgo"))
    parser.add_argument("--load", default=os.path.join(REPOSITORY, "build/release/bench/load/server_load"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=300_000)
    options = parser.parse_args()
    server = subprocess.Popen([options.gorgo, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    address = "gorgo://127.0.0.1:" + server.stdout.readline().rsplit(":", 1)[1].strip()
    count = options.count
    measures = {
        "publish, columns of 1000": lambda: asyncio.run(publish(address, "columns", count)),
        "publish, lists of 1000 events": lambda: asyncio.run(publish(address, "lists", count)),
        "publish, one by one": lambda: asyncio.run(publish(address, "single", count)),
        "publish, one by one, synchronous": lambda: publish_sync(address, count),
        "receive, batches": lambda: asyncio.run(receive(address, "columns", count)),
        "receive, one by one": lambda: asyncio.run(receive(address, "single", count)),
        "receive, one by one, synchronous": lambda: receive_sync(address, count),
    }
    try:
        for name, measure in measures.items():
            by_clock, by_processor = best_of(options.rounds, measure, count)
            print(f"{name:34} {by_clock:12,.0f} events/s {by_processor:12,.0f} per second of processor time", flush=True)
        if os.path.exists(options.load):
            for batch in (1000, 1):
                print(f"C++ publisher, batches of {batch:<9} {load(options.load, address, batch):12,.0f} events/s")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
