"""The clients against a real server."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import unittest
import warnings
from unittest import mock

from support import BINARY, Proxy, Server, free_port

import gorgo


def temp(area, value, stamp=None):
    return gorgo.Event("Temp", {"area": area, "value": value}, stamp)


def smoke(area):
    return gorgo.Event("Smoke", {"area": area})


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def connect(self, **options):
        return gorgo.connect(self.server.address, timeout=10, **options)

    def test_a_fire_is_reported_to_its_subscriber(self):
        with self.connect() as client, client.subscribe('Fire(area = "f1")') as fires:
            self.assertEqual(client.publish(temp("f1", 50.0)).accepted, 1)
            client.publish([temp("f1", 20.0), smoke("f1")])
            fire = fires.next(timeout=10)
            self.assertEqual((fire.kind, fire.type, dict(fire.attributes)),
                             ("event", "Fire", {"area": "f1", "measuredTemp": 50.0}))
            self.assertGreater(fire.place.root, 0)
            self.assertGreater(fire.place.ordinal, 0)
            self.assertIsNone(fires.next(timeout=0.01))

    def test_the_same_with_asyncio(self):
        async def work():
            async with self.connect() as client:
                fires = await client.subscribe('Fire(area = "f2")')
                await client.publish([temp("f2", 50.0), smoke("f2")])
                async for fire in fires:
                    return fire

        self.assertEqual(asyncio.run(work())["measuredTemp"], 50.0)

    def test_publications_of_every_way_arrive_in_the_order_of_the_calls(self):
        with self.connect() as client, client.subscribe('Temp(area = "order")') as temps:
            client.send(temp("order", 0.0))
            client.send([temp("order", 1.0), temp("order", 2.0)])
            client.publish(temp("order", 3.0))
            client.send_columns({"Temp": {"area": ["order"] * 100, "value": [4.0 + i for i in range(100)]}})
            client.send([temp("order", 104.0 + i) for i in range(100)])
            client.send(temp("order", 204.0))
            client.publish_columns({"Temp": {"area": ["order"], "value": [205.0]}})
            self.assertEqual(client.flush().accepted, 204)
            self.assertEqual([temps.next(timeout=10)["value"] for _ in range(206)], [float(i) for i in range(206)])

    def test_a_refusal_names_its_row_and_reason(self):
        with self.connect() as client:
            with self.assertRaises(gorgo.Refused) as raised:
                client.publish([temp("r", 1.0), temp(7, 1.0), temp("r", 2.0), gorgo.Event("Temp", {})])
            self.assertEqual(raised.exception.code, "refused")
            published = raised.exception.published
            self.assertEqual((published.accepted, published.refused), (2, 2))
            self.assertEqual([r.row for r in published.refusals], [1, 3])
            self.assertIn("area", published.refusals[0].reason)

    def test_a_refusal_of_what_was_sent_is_raised_by_flush_and_known_to_its_publication(self):
        with self.connect() as client:
            sent = [client.send(temp("s", 1.0) if i % 3 else temp(i, 1.0)) for i in range(300)]
            with self.assertRaisesRegex(gorgo.Refused, "1 of 1 events"):
                client.flush()
            self.assertEqual([p.published.refused for p in sent], [0 if i % 3 else 1 for i in range(300)])
            client.send(temp("s", 1.0))
            self.assertEqual(client.flush().accepted, 1)

    def test_the_end_of_the_block_raises_what_was_refused(self):
        with self.assertRaises(gorgo.Refused):
            with self.connect() as client:
                client.send(temp(7, 1.0))

        async def work():
            async with self.connect() as client:
                refused = await client.send(temp(7, 1.0))
                with self.assertRaises(gorgo.Refused):
                    await refused  # the end of the block does not tell it again

        asyncio.run(work())

    def test_an_event_that_cannot_be_sent_spoils_no_other(self):
        async def work():
            async with self.connect() as client:
                results = await asyncio.gather(client.publish(temp("ok", 1.0)), client.publish(temp("bad", b"")),
                                               client.publish(temp("ok", 2.0)), return_exceptions=True)
                self.assertIsInstance(results[1], gorgo.EventError)
                self.assertEqual([results[0].accepted, results[2].accepted], [1, 1])
                with self.assertRaises(gorgo.EventError):
                    await client.send([temp("bad", 1.0)] * 99 + [temp("bad", b"")])
                self.assertEqual((await client.flush()).accepted, 0)

        asyncio.run(work())

    def test_an_event_whose_names_cannot_be_sent_spoils_no_other(self):
        wrong = [{None: 1}, {1: 1}, {"": 1}, {"k" * 1025: 1}, {"\ud800": 1}, {f"a{i}": i for i in range(4097)}, [1]]
        events = [gorgo.Event("Temp", attributes) for attributes in wrong]
        events += [gorgo.Event(name, {"area": "x"}) for name in (None, 5, "", "*", "T" * 1025, "\ud800")]

        async def work():
            async with self.connect() as client:
                for event in events:
                    results = await asyncio.gather(client.publish(temp("ok", 1.0)), client.publish(event),
                                                   client.publish(temp("ok", 2.0)), return_exceptions=True)
                    self.assertIsInstance(results[1], gorgo.EventError, event)
                    self.assertEqual([results[0].accepted, results[2].accepted], [1, 1])
                    await client.send(temp("ok", 3.0))
                    await client.send(event)
                    with self.assertRaises(gorgo.EventError):
                        await client.flush()
                    self.assertEqual((await client.flush()).accepted, 0)

        asyncio.run(work())

    def test_what_was_sent_may_be_changed(self):
        with self.connect() as client, client.subscribe("Note") as notes:
            attributes, line = {}, {"type": "Note", "attrs": {}}
            event = gorgo.Event("Note", {})
            for n in range(0, 300, 3):
                attributes["n"], event.attributes["n"], line["attrs"]["n"] = n, n + 1, n + 2
                client.send(gorgo.Event("Note", attributes))
                client.send(event)
                client.send(line)
            client.flush()
            self.assertEqual([notes.next(timeout=10)["n"] for _ in range(300)], list(range(300)))

    def test_events_with_many_attributes_do_not_hold_up_each_other(self):
        with self.connect() as client:
            for first in (0, 3000):
                client.send(gorgo.Event("Wide", {f"a{i}": i for i in range(first, first + 3000)}))
            self.assertEqual(client.flush().accepted, 2)

    def test_wrong_arguments_are_errors_of_the_package(self):
        with self.connect() as client:
            for wrong in (lambda: client.declare("Z", {"a": "int"}), lambda: client.subscribe("Fire", credit=0),
                          lambda: client.subscribe("Fire", seen=gorgo.Place(1, 0)), lambda: client.tick("noon"),
                          lambda: client.publish(temp("a", 1.0), processed=True, durable=True),
                          lambda: client.publish_columns([1]), lambda: client.publish_columns({"T": [1]})):
                with self.assertRaises(gorgo.Error):
                    wrong()

    def test_texts_with_errors_say_where(self):
        with self.connect() as client:
            with self.assertRaises(gorgo.InvalidText) as raised:
                client.subscribe("Fire(")
            self.assertEqual(raised.exception.diagnostics[0].line, 1)
            with self.assertRaisesRegex(gorgo.InvalidText, "valu"):
                client.deploy("x", "define Hot(area: string) from Temp(valu > 45) where area = Temp.area;")
            found = client.check("x", "define Hot(area: string) from Temp(valu > 45) where area = Temp.area;")
            self.assertEqual((found[0].severity, found[0].column), ("error", 36))
            self.assertNotIn("x", [rule.name for rule in client.rules()])

    def test_rules_are_deployed_listed_pinned_explained_and_removed(self):
        with self.connect() as client:
            client.declare("Door", {"name": str, "open": bool, "count": int, "angle": float})
            with self.assertRaisesRegex(gorgo.ServerError, "Door") as raised:
                client.declare("Door", {"name": int})
            self.assertEqual(raised.exception.code, "invalid")
            client.deploy("doors", "define Ajar(name: string) from Door(open = true) where name = Door.name;")
            client.pin("doors.Ajar", "column")
            client.publish(gorgo.Event("Door", {"name": "front", "open": True, "count": 1, "angle": 0.5}))
            rule = client.rule("doors.Ajar")
            self.assertEqual((rule.type, rule.engine, rule.automatic, rule.reads), ("Ajar", "column", False, ["Door"]))
            self.assertIn("Ajar(name: string)", rule.text)
            why = client.why("doors.Ajar", last=1)
            self.assertEqual((why.produced, why.funnels[0].steps[0].kind), (1, "terminator"))
            self.assertIn("Door", [of.name for of in client.types()])
            self.assertEqual(client.trace(gorgo.Event("Door", {"name": "back", "open": True, "count": 1, "angle": 0.5}))
                             .composites[0].count("Ajar"), 1)
            self.assertGreater(client.statistics()["events_accepted"], 0)
            client.devices()
            client.tick(1)
            client.remove("doors")
            with self.assertRaises(gorgo.ServerError) as raised:
                client.rule("doors.Ajar")
            self.assertEqual(raised.exception.code, "not_found")

    def test_drain_delivers_what_matched_before(self):
        async def work():
            client = await self.connect()
            temps = await client.subscribe('Temp(area = "drain")')
            for i in range(1000):
                await client.send(temp("drain", float(i)))
            await client.flush()
            sums = await client.drain()
            self.assertEqual(sums.accepted, 0)
            values = [event["value"] async for event in temps]
            self.assertEqual(values, [float(i) for i in range(1000)])
            with self.assertRaises(gorgo.ClosedError):
                await client.publish(temp("drain", 0.0))

        asyncio.run(work())

    def test_a_publication_beyond_the_limits_of_a_frame_is_cut(self):
        with Server(GORGO__LIMITS__MAX_FRAME="1048576", GORGO__LIMITS__MAX_ROWS="1000") as small:
            with gorgo.connect(small.address) as client, client.subscribe("Note") as notes:
                text = "é" * 5000
                events = [gorgo.Event("Note", {"n": i, "text": text}) for i in range(300)]
                self.assertEqual(client.publish(events).accepted, 300)
                self.assertEqual(client.publish_columns(
                    {"Note": {"n": list(range(300, 2800)), "text": ["x"] * 2500}}).accepted, 2500)
                self.assertEqual([notes.next(timeout=10)["n"] for _ in range(2800)], list(range(2800)))
                with self.assertRaisesRegex(gorgo.EventError, "row 0 does not fit"):
                    client.publish(gorgo.Event("Note", {"text": "x" * (1 << 20)}))

    def test_several_threads_share_a_synchronous_client(self):
        with self.connect() as client, client.subscribe('Temp(area = "threads")') as temps:
            def work(first):
                for i in range(500):
                    client.send(temp("threads", float(first + i)))

            threads = [threading.Thread(target=work, args=(500 * n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(client.flush().accepted, 2000)
            self.assertEqual(sorted(temps.next(timeout=10)["value"] for _ in range(2000)), [float(i) for i in range(2000)])

    def test_batches_have_columns(self):
        with self.connect() as client, client.subscribe('Temp(area = "columns")') as temps:
            client.publish_columns({"Temp": {"area": ["columns"] * 3, "value": [1.0, 2.0, 3.0]}})
            table = next(temps.batches()).tables[0]
            self.assertEqual((table.type, table["value"], table["area"][0]), ("Temp", [1.0, 2.0, 3.0], "columns"))

    def test_the_address_comes_from_the_environment(self):
        with mock.patch.dict(os.environ, GORGO_SERVER=self.server.address):
            with gorgo.connect() as client:
                self.assertTrue(client.rules())

    def test_without_a_server_connecting_says_so(self):
        with self.assertRaisesRegex(gorgo.ConnectError, "cannot connect"):
            gorgo.connect(f"gorgo://127.0.0.1:{free_port()}", timeout=0.2).open()

    def test_a_port_of_another_protocol_is_told(self):
        with Server("--http", "127.0.0.1:0") as server:
            port = server.process.stdout.readline().rsplit(":", 1)[1].strip()
            with self.assertRaises((gorgo.ProtocolError, gorgo.ConnectError)):
                gorgo.connect(f"127.0.0.1:{port}", timeout=1).open()

    def test_a_closed_client_refuses_calls_without_warnings(self):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            client = self.connect().open()
            client.close()
            for call in (lambda: client.publish({"type": "Note"}), client.rules, client.flush):
                with self.assertRaises(gorgo.ClosedError):
                    call()
            gc.collect()
        self.assertEqual([str(w.message) for w in warned if w.category is RuntimeWarning], [])

    def test_a_closed_client_leaves_no_connection_behind(self):
        async def work(address):
            client = await gorgo.connect(address)
            await client.subscribe("Temp")
            await client.close()
            return client  # so that nothing is closed because it was forgotten

        for use in (lambda address: asyncio.run(work(address)), self.use_and_close):
            with Proxy(self.server.port) as proxy:
                client = use(proxy.address)
                self.assertTrue(all(proxy.ended.acquire(timeout=20) for _ in range(2)), client)

    def use_and_close(self, address):
        client = gorgo.connect(address).open()
        client.subscribe("Temp")
        client.close()
        return client

    def test_addresses_are_checked(self):
        for address in ["http://x", "gorgo://", "gorgo://h:99999", "gorgo://u:pa55@h", "gorgo://h?token=x",
                        "gorgo://h?colour=red", "gorgo://h/path"]:
            with self.assertRaises(gorgo.AddressError) as raised:
                gorgo.connect(address)
            self.assertNotIn("pa55", str(raised.exception))
            self.assertTrue(raised.exception.hint)
        options = gorgo.connect("gorgo://ann@[::1]:1?tls=/ca.pem&password_file=/p&timeout=2").options
        self.assertEqual((options.user, options.host, options.port, options.tls, options.ca, options.password_file,
                          options.timeout), ("ann", "::1", 1, True, "/ca.pem", "/p", 2.0))
        self.assertEqual(gorgo.connect("example").options.address, "example:7450")
        with self.assertRaisesRegex(AttributeError, "async with"):
            gorgo.connect("example").publish

    def test_every_error_has_a_code_and_prints_its_hint(self):
        kinds = [k for k in vars(gorgo).values() if isinstance(k, type) and issubclass(k, gorgo.Error)]
        self.assertGreater(len(kinds), 8)
        self.assertTrue(all(kind.code for kind in kinds))
        self.assertEqual(str(gorgo.ServerError("a", "b", "c")), "a (b)")


class TypesTest(unittest.TestCase):
    RULES = """event Door(name: string, open: bool, class: int, angle: float);
        define Ajar(from_: string, class: int) from Door(open = true) where from_ = Door.name, class = Door.class;
        define Warm(value: int) from Cat(weight = 3) and last Mouse(weight = 1) within 1 min from Cat where value = 1;"""

    def test_dataclasses_are_written_of_the_types_of_the_server(self):
        with Server() as server, gorgo.connect(server.address) as client:
            client.deploy("doors", self.RULES)
            done = subprocess.run([BINARY, "types", "--python", "--to", f"127.0.0.1:{server.port}"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = {}
            exec(done.stdout, found)
            for name in ("Smoke", "Temp", "Rain", "Fire", "FireReport", "FireRisk", "Evacuate", "Door", "Ajar", "Warm"):
                self.assertIn(name, found)
            with client.subscribe("Ajar") as ajar:
                client.publish([found["Door"]("front", True, 7, 0.5), found["Cat"](weight=3), found["Cat"]()])
                self.assertEqual(ajar.next(timeout=10).to(found["Ajar"]).class_, 7)

    NAMES = """event Odd(__init__: int, __x: int, field: int, str: string, int: int);
        define Optional(field: int) from Odd() where field = Odd.field;
        define Seen(n: float) from Reading(field = "x", str = "y", class = "z", other > 5) where n = Reading.other;"""

    def test_dataclasses_may_be_called_as_what_the_module_uses(self):
        with Server() as server, gorgo.connect(server.address) as client:
            client.deploy("names", self.NAMES)
            done = subprocess.run([BINARY, "types", "--python", "--to", f"127.0.0.1:{server.port}"],
                                  capture_output=True, text=True)
            found = {}
            exec(done.stdout, found)
            with client.subscribe("Optional") as optional, client.subscribe("Seen") as seen:
                client.publish([found["Odd"](1, 2, 3, "4", 5), found["Reading"](field_="x", str_="y", class_="z", other=6.5)])
                self.assertEqual(optional.next(timeout=10).to(found["Optional_"]).field_, 3)
                self.assertEqual(seen.next(timeout=10).to(found["Seen"]).n, 6.5)


class TightLimitsTest(unittest.TestCase):
    def test_a_full_buffer_of_publications_waits_and_then_says_that_nothing_was_sent(self):
        async def work():
            with Server() as server, Proxy(server.port) as proxy:
                client = await gorgo.connect(proxy.address, publish_bytes=20000, timeout=0.5, heartbeat=0)
                proxy.freeze()
                with self.assertRaises(gorgo.TimeoutError) as raised:
                    for i in range(1000):
                        await client.send([temp("full", float(i))] * 64)
                self.assertIn("nothing of this one was sent", str(raised.exception))
                self.assertLess(client.metrics()["outstanding_bytes"], 40000)
                with self.assertRaises(gorgo.OutcomeUnknown):
                    await client.flush(timeout=0.01)
                proxy.thaw()
                self.assertEqual((await client.flush(timeout=10)).accepted, 64 * i)
                await client.close()

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
