"""Durable subscriptions and publications, credit, and what a server says before it stops."""

import asyncio
import os
import shutil
import signal
import tempfile
import unittest

from support import Server

import gorgo

QUICK = {"reconnect_least": 0.001, "reconnect_most": 0.05, "timeout": 30.0}


def notes(numbers):
    return [gorgo.Event("Note", {"number": n, "text": f"n{n}"}) for n in numbers]


async def take(stream, count):
    """The next events, whatever notices stand between them; a gap fails the test."""
    found = []
    while len(found) < count:
        item = await stream.next(timeout=30)
        assert item is not None, f"nothing came behind {found[-1:]}"
        assert not isinstance(item, gorgo.Gap), item
        if isinstance(item, gorgo.Event):
            found.append(item)
    return found


def numbers(events):
    return [event["number"] for event in events]


class DurableTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.journal = os.path.join(self.folder, "journal")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def server(self, *arguments, **environment):
        return Server("--journal", self.journal, *arguments, **environment)

    def test_each_event_comes_once_through_kills_of_the_server(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", durable="billing")
                got = []
                for kill in range(3):
                    for n in range(100):
                        await client.send(notes([kill * 100 + n]), durable=True)
                    await client.flush()
                    events = await take(stream, 60)
                    got += events
                    stream.acknowledge(events[29])
                    server.kill()
                    server.start()
                got += await take(stream, 120)
                self.assertEqual(numbers(got), list(range(300)))
                self.assertEqual([event["text"] for event in got], [f"n{n}" for n in range(300)])
                stream.acknowledge(got[279])
                await stream.drain()
                self.assertEqual(stream.acknowledged, got[279].place)
                (durable,) = await client.durables()
                self.assertEqual((durable.name, durable.text, durable.rows), ("billing", "Note", 20))
                self.assertEqual(durable.acknowledged, got[279].place)
                again = await client.subscribe("Note", durable="billing")
                self.assertEqual(numbers(await take(again, 20)), list(range(280, 300)))
                await again.close()
                later = await client.subscribe("Note", durable="billing", seen=got[289].place)
                self.assertEqual(numbers(await take(later, 10)), list(range(290, 300)))
                await later.close()
                await client.end_durable("billing")
                self.assertEqual(await client.durables(), [])

        with self.server() as server:
            asyncio.run(work(server))

    def test_a_server_with_another_journal_begins_the_subscription_anew_and_says_so(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", durable="billing")
                await client.publish(notes([1, 2]), durable=True)
                former = (await take(stream, 2))[-1]
                stream.acknowledge(former)
                while not stream.acknowledged.root:
                    await client.statistics()
                server.kill()
                shutil.rmtree(self.journal)
                server.start()
                kinds = [(await stream.next(timeout=30)).kind for _ in range(3)]
                self.assertEqual(kinds, ["disconnected", "reconnected", "gap"])
                await client.publish(notes([3]), durable=True)
                event = (await take(stream, 1))[0]
                self.assertEqual(numbers([event]), [3])
                self.assertLess(event.place, former.place)
                stream.acknowledge(former)  # by a program that is late with it
                stream.acknowledge(event)
                await stream.drain()
                self.assertEqual(stream.acknowledged, event.place)

        with self.server() as server:
            asyncio.run(work(server))

    def test_who_takes_a_durable_subscription_over_keeps_it(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                first = await client.subscribe("Note", durable="billing")
                second = await client.subscribe("Note", durable="billing")
                with self.assertRaises(gorgo.ServerError) as caught:
                    await first.next(timeout=30)
                self.assertEqual(caught.exception.code, "not_found")
                self.assertIn("taken over", caught.exception.message)
                await client.publish(notes([1]))
                self.assertEqual(numbers(await take(second, 1)), [1])
                await client.end_durable("billing")
                with self.assertRaises(gorgo.ServerError):
                    await second.next(timeout=30)

        with self.server() as server:
            asyncio.run(work(server))

    def test_the_synchronous_client_acknowledges_as_well(self):
        with self.server() as server, gorgo.connect(server.address, **QUICK) as client:
            stream = client.subscribe("Note", durable="billing")
            client.publish(notes([1, 2]), durable=True)
            stream.acknowledge(stream.next(timeout=30))
            stream.drain()
            self.assertGreater(stream.acknowledged.root, 0)
            again = client.subscribe("Note", durable="billing")
            self.assertEqual(again.next(timeout=30)["number"], 2)
            with self.assertRaises(ValueError):
                client.subscribe("Note").acknowledge(gorgo.Place(1, 0))

    def test_a_program_that_repeats_its_publications_doubles_none(self):
        async def program(server, first, last):
            async with gorgo.connect(server.address, producer=7, **QUICK) as client:
                return [await client.publish(notes([n]), durable=True, sequence=n) for n in range(first, last)]

        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", durable="all")
                done = await program(server, 1, 11)
                self.assertEqual([p.accepted for p in done], [1] * 10)
                server.kill()
                server.start()
                again = await program(server, 1, 16)
                self.assertEqual([p.duplicates for p in again], [1] * 10 + [0] * 5)
                self.assertEqual(numbers(await take(stream, 15)), list(range(1, 16)))

        with self.server() as server:
            asyncio.run(work(server))

    def test_who_names_a_producer_names_the_numbers_of_its_publications(self):
        with self.server() as server, gorgo.connect(server.address, producer=7, **QUICK) as client:
            columns = {"Note": {"number": [1]}}
            for unnumbered in (lambda: client.publish(notes([1])), lambda: client.send(notes([1])),
                               lambda: client.publish_columns(columns), lambda: client.send_columns(columns)):
                with self.assertRaises(gorgo.EventError) as caught:
                    unnumbered()
                self.assertIn("sequence", caught.exception.message)
            client.send(notes([2]), sequence=2)
            client.send_columns(columns, sequence=3)
            self.assertEqual(client.flush().accepted, 2)

    def test_sequence_numbers_rise_and_stand_for_one_frame(self):
        with self.server() as server, gorgo.connect(server.address, producer=7, **QUICK) as client:
            client.publish(notes([1]), sequence=5)
            with self.assertRaises(gorgo.EventError):
                client.publish(notes([1]), sequence=5)
            with self.assertRaises(gorgo.EventError):
                client.publish(notes(range(100_000)), sequence=6)
            self.assertEqual(client.publish(notes([2]), sequence=6).accepted, 1)

    def test_what_is_lost_is_told_once(self):
        with self.server(GORGO__JOURNAL__BACKLOG_BYTES="1048576") as server:
            with gorgo.connect(server.address, **QUICK) as client:
                client.subscribe("Note", durable="audit").close()
                for first in range(0, 4000, 100):
                    client.publish(gorgo.Event("Note", {"number": n, "text": "x" * 500}) for n in range(first, first + 100))
                lost = client.durables()[0].lost
                self.assertGreater(lost, 0)
                stream = client.subscribe("Note", durable="audit")
                got = [item for item in iter(lambda: stream.next(timeout=2), None)]
                self.assertEqual([item.lost for item in got if item.kind == "gap"], [lost])
                self.assertEqual(sum(item.kind == "event" for item in got), 4000 - lost)
                server.kill()
                server.start()
                again = [item for item in iter(lambda: stream.next(timeout=5), None)]
                self.assertNotIn("event", [item.kind for item in again])
                self.assertEqual(stream.metrics()["reconnections"], 1)
                self.assertEqual(stream.metrics()["lost"], lost)

    def test_a_server_without_a_journal_says_what_it_cannot_do(self):
        with Server() as server, gorgo.connect(server.address, **QUICK) as client:
            with self.assertRaises(gorgo.ServerError) as caught:
                client.subscribe("Note", durable="billing")
            self.assertIn("--journal", caught.exception.hint)
            with self.assertRaises(gorgo.ServerError):
                client.publish(notes([1]), durable=True)


    def test_what_the_server_has_no_room_for_is_sent_again_and_applied_once(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", durable="slow")
                published, got = 0, []

                async def publish(timeout):
                    nonlocal published
                    published += 100
                    try:
                        await client.publish(notes(range(published - 100, published)), timeout=timeout)
                    except gorgo.OutcomeUnknown:
                        pass  # the client goes on with it

                async def read(until):
                    while len(got) < until:
                        events = await take(stream, 100)
                        got.extend(numbers(events))
                        stream.acknowledge(events[-1])

                while client.metrics()["repeated"] == 0:
                    await publish(timeout=0.2)
                    self.assertLess(published, 1_000_000)
                await read(published - 100)
                await publish(timeout=30)
                await read(published)
                self.assertEqual((await client.flush()).duplicates, 0)
                self.assertEqual(sorted(got), list(range(published)))

        with self.full_server() as server:
            asyncio.run(work(server))

    def full_server(self):
        """One that has no room while a megabyte waits for a durable subscription."""
        return Server("--journal", self.journal, GORGO__JOURNAL__BACKLOG_BYTES="1048576",
                      GORGO__JOURNAL__BACKLOG_POLICY="refuse")

    def test_what_was_put_off_gets_its_turn_while_the_publisher_never_pauses(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", durable="slow")
                sent, got = 0, []

                async def send():
                    nonlocal sent
                    sent += 100
                    return await client.send(notes(range(sent - 100, sent)))

                async def read():
                    while len(got) < sent:
                        events = await take(stream, 100)
                        got.extend(numbers(events))
                        stream.acknowledge(events[-1])

                waiting = []
                while client.metrics()["repeated"] == 0:  # until the first ones were put off
                    waiting.append(await send())
                    await asyncio.sleep(0.001)
                    self.assertLess(sent, 1_000_000)
                reading = asyncio.get_running_loop().create_task(read())
                while not all(publication.done for publication in waiting):
                    for _ in range(3):
                        await send()
                    await asyncio.sleep(0)
                    self.assertLess(sent, 10_000_000)
                self.assertEqual((await client.flush()).duplicates, 0)
                await reading
                self.assertEqual(sorted(got), list(range(sent)))

        with self.full_server() as server:
            asyncio.run(work(server))


class FlowTest(unittest.TestCase):
    def test_the_server_keeps_what_goes_beyond_the_credit(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note", credit=10)
                for n in range(100):
                    await client.publish(notes([n]), processed=True)
                # The answer comes behind all that the server may deliver.
                self.assertLessEqual(stream.metrics()["received"], 10)
                self.assertEqual(numbers(await take(stream, 100)), list(range(100)))

        with Server() as server:
            asyncio.run(work(server))

    def test_a_server_that_is_about_to_stop_says_so_in_the_stream(self):
        async def work(server):
            async with gorgo.connect(server.address, **QUICK) as client:
                stream = await client.subscribe("Note")
                server.process.send_signal(signal.SIGTERM)
                leaving = await stream.next(timeout=30)
                self.assertEqual(leaving.kind, "leaving")
                self.assertTrue(0 < leaving.grace <= 3600)
                await client.publish(notes([1]))
                self.assertEqual(numbers(await take(stream, 1)), [1])

        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "gorgo.toml")
            with open(config, "w", encoding="utf-8") as file:
                file.write("[operations]\ngrace_ms = 3600000\n")
            with Server("--config", config) as server:
                asyncio.run(work(server))


if __name__ == "__main__":
    unittest.main()
