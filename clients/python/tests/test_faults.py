"""Lost connections, dead servers, slow readers: no publication is doubled or lost, and no stream is silent."""

import asyncio
import os
import tempfile
import unittest
import zlib
from array import array

from support import Proxy, Server

import gorgo

QUICK = {"reconnect_least": 0.001, "reconnect_most": 0.05, "timeout": 20.0}


def note(session, number):
    return gorgo.Event("Note", {"session": session, "number": number})


async def following(stream, kind):
    """The items up to the first one of a kind, which is the last of the list."""
    items = []
    async for item in stream:
        items.append(item)
        if item.kind == kind:
            return items
    raise AssertionError(f"the stream ended without {kind}: {items}")


async def numbers(stream, last):
    """The numbers of the events up to `last`, without notices."""
    found = []
    async for item in stream:
        if isinstance(item, gorgo.Event):
            found.append(item["number"])
            if item["number"] == last:
                return found


class RestartTest(unittest.TestCase):
    def test_a_server_that_is_killed_and_restarted_gets_each_publication_once(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note")
                sent = [await client.send(note("restart", n)) for n in range(2000)]
                await client.publish(note("restart", 2000))
                sent += [await client.send(note("restart", n)) for n in range(2001, 4000)]
                server.kill()
                before = await following(stream, "disconnected")
                got = [item["number"] for item in before[:-1]]
                self.assertEqual(got, list(range(len(got))))
                self.assertGreater(len(got), 0)
                known = sum(publication.done for publication in sent) + 1
                server.start()
                await following(stream, "reconnected")
                gap = await following(stream, "gap")
                self.assertEqual((len(gap), gap[0].lost), (1, None))
                await client.flush()
                self.assertEqual([p.published.accepted for p in sent], [1] * 3999)
                # The second server has what the first one had not acknowledged, once.
                self.assertEqual((await client.statistics())["events_accepted"], 4000 - known)
                await client.publish(note("restart", 4000))
                rest = await numbers(stream, 4000)
                self.assertEqual(rest, list(range(4001 - len(rest), 4001)))

        with Server() as server:
            asyncio.run(work(server))

    def test_a_server_that_stops_says_so_in_the_stream(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note")
                server.end()
                lost = await following(stream, "disconnected")
                self.assertEqual(lost[-1].code, "stopping")
                server.start()
                await following(stream, "gap")
                await client.publish(note("stopped", 1))
                self.assertEqual(await numbers(stream, 1), [1])

        with Server() as server:
            asyncio.run(work(server))

    def test_the_synchronous_client_survives_a_restart_as_well(self):
        with Server() as server, gorgo.connect(server.address, **QUICK) as client:
            stream = client.subscribe("Note")
            client.publish(note("sync", 0))
            self.assertEqual(stream.next(timeout=20)["number"], 0)
            server.kill()
            server.start()
            kinds = [stream.next(timeout=20).kind for _ in range(3)]
            self.assertEqual(kinds, ["disconnected", "reconnected", "gap"])
            self.assertEqual(client.publish(note("sync", 1)).accepted, 1)
            self.assertEqual(stream.next(timeout=20)["number"], 1)

    def test_a_text_that_the_next_server_refuses_ends_the_stream_with_the_reason(self):
        async def work(server, rules):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Later(number > 1)")
                server.kill()
                server.arguments += ("--rules", rules)
                server.start()
                await following(stream, "disconnected")
                with self.assertRaisesRegex(gorgo.InvalidText, "cannot compare"):
                    await stream.next()

        with Server() as server, tempfile.TemporaryDirectory() as folder:
            rules = os.path.join(folder, "later.tesla")
            with open(rules, "w") as file:
                file.write("event Later(number: string);")
            asyncio.run(work(server, rules))


class CutTest(unittest.TestCase):
    """Connections are cut after each number of bytes that a session has, both ways counted together."""

    async def publish(self, server, name, cut):
        with Proxy(server.port, lambda connection: cut if connection == 0 else None) as proxy:
            async with gorgo.connect(proxy.address, **QUICK) as client:
                await client.publish(note(name, 0))
                await client.send(note(name, 1))
                await client.publish_columns({"Note": {"session": [name], "number": [2]}})
            return proxy.most

    async def follow(self, server, name, cut):
        """The subscription's connection is the second one."""
        with Proxy(server.port, lambda connection: cut if connection == 1 else None) as proxy:
            async with gorgo.connect(proxy.address, **QUICK) as client:
                stream = await client.subscribe(f'Note(session = "{name}")')
                await client.publish([note(name, n) for n in range(3)])
                got, gaps = [], 0
                while got[-1:] != [2] and not gaps:
                    item = await stream.next()
                    gaps += item.kind == "gap"
                    got += [item["number"]] if item.kind == "event" else []
                self.assertEqual(got, sorted(set(got)))
                self.assertTrue(gaps or got == [0, 1, 2], f"{got} without a gap, cut after {cut}")
                await client.publish(note(name, 3))
                while got[-1:] != [3]:
                    item = await stream.next()
                    if item.kind == "gap":
                        await client.publish(note(name, 3))
                    got += [item["number"]] if item.kind == "event" else []
            return proxy.most

    async def sweep(self, session, server):
        whole = await session(server, "whole", None)
        self.assertGreater(whole, 200)
        gate = asyncio.Semaphore(8)

        async def one(cut):
            async with gate:
                await session(server, f"cut{cut}", cut)

        await asyncio.gather(*[one(cut) for cut in range(1, whole + 1)])
        return whole

    def test_a_publisher_cut_anywhere_publishes_each_event_once_and_in_order(self):
        async def work(server):
            async with gorgo.connect(server.address) as watcher:
                stream = await watcher.subscribe("Note")
                whole = await self.sweep(self.publish, server)
                await watcher.publish(note("end", -1))
                found = {}
                async for event in stream:
                    if event["number"] == -1:
                        break
                    found.setdefault(event["session"], []).append(event["number"])
                self.assertEqual(found, {name: [0, 1, 2] for name in ["whole", *[f"cut{n}" for n in range(1, whole + 1)]]})

        with Server() as server:
            asyncio.run(work(server))

    def test_a_subscriber_cut_anywhere_has_all_events_or_a_gap_and_goes_on(self):
        with Server() as server:
            asyncio.run(self.sweep(self.follow, server))


class SilenceTest(unittest.TestCase):
    def test_a_connection_that_is_dead_without_a_word_is_noticed_and_replaced(self):
        async def work(server, proxy):
            async with gorgo.connect(server.address) as watcher, \
                    gorgo.connect(proxy.address, heartbeat=0.1, **QUICK) as client:
                seen = await watcher.subscribe("Note")
                stream = await client.subscribe("Note")
                await client.publish(note("dead", 0))
                proxy.freeze()
                under_way = [await client.send(note("dead", n)) for n in range(1, 50)]
                lost = await following(stream, "disconnected")
                self.assertIn("no sign of life", lost[-1].reason)
                # What was frozen reaches the server late, beside what is sent again.
                proxy.thaw()
                await following(stream, "gap")
                await client.flush()
                self.assertTrue(all(p.published.accepted + p.published.duplicates == 1 for p in under_way))
                await client.publish(note("dead", 50))
                self.assertEqual(await numbers(seen, 50), list(range(51)))

        with Server() as server, Proxy(server.port) as proxy:
            asyncio.run(work(server, proxy))


class SlowReaderTest(unittest.TestCase):
    TEXT = "x" * 1000

    async def flood(self, client, count):
        for first in range(0, count, 1000):
            await client.publish_columns({"Note": {
                "session": [self.TEXT] * 1000, "number": array("q", range(first, first + 1000))}})

    def test_events_that_a_slow_reader_missed_are_counted_in_its_stream(self):
        async def work(server):
            async with gorgo.connect(server.address, receive_bytes=1 << 20) as client:
                stream = await client.subscribe("Note")
                await self.flood(client, 30000)
                metrics = stream.metrics()
                self.assertLess(metrics["waiting_bytes"], (1 << 20) + (2 << 20))
                self.assertGreater(metrics["pauses"], 0)
                received = lost = 0
                while received + lost < 30000:
                    item = await stream.next()
                    received += item.kind == "event"
                    lost += item.lost if item.kind == "gap" else 0
                self.assertEqual(received + lost, 30000)
                self.assertGreater(lost, 0)
                self.assertEqual(stream.metrics()["lost"], lost)

        with Server(GORGO__LIMITS__MAX_FRAME="1048576", GORGO__LIMITS__OUTBOUND_BYTES="2097152",
                    GORGO__LIMITS__SLOW_CONSUMER="drop") as server:
            asyncio.run(work(server))

    def test_a_slow_reader_that_was_disconnected_is_told_why_and_goes_on(self):
        async def work(server):
            async with gorgo.connect(server.address, receive_bytes=1 << 20, **QUICK) as client:
                stream = await client.subscribe("Note")
                await self.flood(client, 30000)
                lost = await following(stream, "disconnected")
                self.assertIn(lost[-1].code, ("overloaded", "connect"))
                await following(stream, "gap")
                await client.publish(note("end", -1))
                self.assertEqual((await numbers(stream, -1))[-1], -1)

        with Server(GORGO__LIMITS__MAX_FRAME="1048576", GORGO__LIMITS__OUTBOUND_BYTES="2097152") as server:
            asyncio.run(work(server))


class MillionTest(unittest.TestCase):
    def test_a_million_events_arrive_with_the_checksum_that_they_were_sent_with(self):
        async def work(server):
            async with gorgo.connect(server.address) as client:
                stream = await client.subscribe("Note")

                async def send():
                    checksum = 0
                    for first in range(0, 1_000_000, 1000):
                        values = array("q", [n * 7919 % 1_000_003 for n in range(first, first + 1000)])
                        checksum = zlib.crc32(values, checksum)
                        await client.send_columns({"Note": {"number": values, "session": ["million"] * 1000}})
                    self.assertEqual((await client.flush()).accepted, 1_000_000)
                    return checksum

                async def receive():
                    checksum = count = 0
                    async for batch in stream.batches():
                        self.assertIsInstance(batch, gorgo.Batch)
                        for table in batch.tables:
                            columns = {column.name: column for column in table.columns}
                            checksum = zlib.crc32(columns["number"].view, checksum)
                            self.assertEqual(set(table["session"]), {"million"})
                        count += len(batch)
                        if count == 1_000_000:
                            return checksum

                sent, received = await asyncio.gather(send(), receive())
                self.assertEqual(sent, received)

        with Server() as server:
            asyncio.run(work(server))


if __name__ == "__main__":
    unittest.main()
