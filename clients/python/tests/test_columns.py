"""Events to columns and back."""

import random
import unittest
from array import array
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import support  # noqa: F401 (finds the package)

import gorgo
from gorgo import schema
from gorgo.batch import Batch
from gorgo.columns import Columns, batch_of_events
from gorgo.events import to_event


def delivered(batch, rows):
    """The batch as a subscriber gets it."""
    for table in batch["tables"]:
        table.setdefault("timestamps", array("q", [0] * table["rows"]))
    frame = schema.encode(0, schema.DELIVER, {
        "subscriptions": array("I", [1]), "roots": array("Q", range(rows)), "ordinals": array("I", [0] * rows),
        "batch": batch})
    return Batch(schema.decode(frame)[2], len(frame))


class ColumnsTest(unittest.TestCase):
    def test_events_of_any_shape_come_back_as_they_were(self):
        chance = random.Random(3)
        values = [lambda: chance.randint(-2**63, 2**63 - 1), chance.random, lambda: chance.random() < 0.5,
                  lambda: "".join(chance.choice("aé€😀") for _ in range(chance.randrange(5)))]
        for rows in [1, 7, 8, 9, 63, 64, 65, 200]:
            events = [gorgo.Event(chance.choice("AB"),
                                  {name: chance.choice(values)() for name in "xyz" if chance.random() < 0.7},
                                  chance.choice([None, 5])) for _ in range(rows)]
            back = delivered(batch_of_events(events)[0], rows).events()
            for event, found in zip(events, back):
                self.assertEqual((event.type, event.attributes, event.timestamp or 0),
                                 (found.type, found.attributes, found.timestamp))
                self.assertEqual({n: type(v) for n, v in event.attributes.items()},
                                 {n: type(v) for n, v in found.attributes.items()})

    def test_columns_take_lists_arrays_and_views(self):
        columns = Columns("T", {
            "a": [1, 2, None], "b": array("d", [0.5, 1.5, 2.5]), "c": memoryview(array("i", [7, 8, 9])),
            "d": array("f", [1, 2, 3]), "e": memoryview(bytes([1, 0, 1])).cast("?"), "f": ["x", None, "é"],
            "g": [1, 2.5, "three"], "timestamp": [10, datetime(1970, 1, 1, tzinfo=timezone.utc), 30]})
        batch = delivered({"tables": [columns.cut(0, 3).table]}, 3)
        self.assertEqual([e.attributes for e in batch], [
            {"a": 1, "b": 0.5, "c": 7, "d": 1.0, "e": True, "f": "x", "g": 1},
            {"a": 2, "b": 1.5, "c": 8, "d": 2.0, "e": False, "g": 2.5},
            {"b": 2.5, "c": 9, "d": 3.0, "e": True, "f": "é", "g": "three"}])
        self.assertEqual(list(batch.tables[0].timestamps), [10, 0, 30])
        self.assertEqual(batch.tables[0]["a"], [1, 2, None])
        self.assertEqual(batch.tables[0]["g"], [1, 2.5, "three"])
        self.assertEqual([c.view.tolist() for c in batch.tables[0].columns if c.name == "b"], [[0.5, 1.5, 2.5]])

    def test_what_cannot_be_sent_is_named(self):
        for values, words in [([1, 2**63], "64 bits"), ([1, [2]], "row 1, attribute 'x': list"), (["\ud800"], "Unicode"),
                              ([1, b"x"], "bytes")]:
            with self.assertRaisesRegex(gorgo.EventError, words):
                batch_of_events([gorgo.Event("T", {"x": v}) for v in values])
        for name in ["", "x" * 1025, None, 1, "\ud800"]:
            for event in [gorgo.Event("T", {name: 1}), gorgo.Event(name, {"x": 1})]:
                with self.assertRaisesRegex(gorgo.EventError, "is no name of"):
                    batch_of_events([event])
            for types in [("T", {name: [1]}), ("T", {name: array("q", [1])}), (name, {"x": [1]})]:
                with self.assertRaisesRegex(gorgo.EventError, "is no name of"):
                    Columns(*types).cut(0, 1)
        for event, words in [(gorgo.Event("*", {}), "all types"), (gorgo.Event("T", [1]), "no mapping"),
                             (gorgo.Event("T", {f"a{i}": i for i in range(4097)}), "4097 attributes")]:
            with self.assertRaisesRegex(gorgo.EventError, words):
                batch_of_events([event])
        for columns, words in [({"x": 1}, "no list"), ([1], "no mapping")]:
            with self.assertRaisesRegex(gorgo.EventError, words):
                Columns("T", columns).cut(0, 1)
        for columns, words in [({"x": [1], "y": []}, "'y' of T has 0 values"), ({"x": "text"}, "one text"),
                               ({"x": array("Q", [2**63])}, "64 bits"), ({"x": [1], "timestamp": ["noon"]}, "timestamp")]:
            with self.assertRaisesRegex(gorgo.EventError, words):
                Columns("T", columns).cut(0, 1)
        for event in [3, {"attrs": {}}, {"type": "T", "value": 1}, gorgo.Event]:
            with self.assertRaises(gorgo.EventError):
                to_event(event)

    def test_times_are_exact(self):
        moment = datetime(2026, 11, 23, 12, 0, 0, 123457, tzinfo=timezone(timedelta(hours=2)))
        event = to_event(gorgo.Event("T", {}, gorgo.events.nanoseconds(moment)))
        self.assertEqual((event.timestamp, event.time), (1795428000123457000, moment))
        self.assertEqual(to_event({"type": "T", "ts": 1000.5}).timestamp, 1000500000)
        for text, then in [("2026-11-29T19:22:00.123456789Z", 1795980120123456789), ("2026-11-29T21:22:00+02:00", 1795980120000000000)]:
            self.assertEqual(to_event({"type": "T", "ts": text}).timestamp, then)
        for wrong in ["noon", "2026-13-01T00:00:00Z", float("nan"), 1e400, [1]]:
            with self.assertRaisesRegex(gorgo.EventError, "no point in time"):
                to_event({"type": "T", "ts": wrong})
        for wrong in [1.5, "noon", None]:
            with self.assertRaisesRegex(gorgo.EventError, "no timestamp"):
                gorgo.events.nanoseconds(wrong)
        with self.assertRaisesRegex(gorgo.EventError, "no timestamp"):
            batch_of_events([gorgo.Event("T", {}, 1.5)])
        with self.assertRaisesRegex(gorgo.EventError, "time zone"):
            gorgo.events.nanoseconds(datetime(2026, 1, 1))

    def test_dataclasses_are_events(self):
        @gorgo.event_type("Temp")
        @dataclass
        class Reading:
            area: str
            value: "float | None" = None
            timestamp: "int | None" = None

        event = to_event(Reading("A1", timestamp=5))
        self.assertEqual(event, gorgo.Event("Temp", {"area": "A1"}, 5))
        self.assertEqual(event.to(Reading), Reading("A1", None, 5))

    def test_arrays_of_numpy_travel_without_a_loop(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        columns = Columns("T", {"i": numpy.arange(3), "f": numpy.array([1, 2, 3], "float32"), "b": numpy.array([True] * 3),
                                "s": numpy.array(["a", "b", "c"]),
                                "timestamp": numpy.array([1, 2, 3], "datetime64[s]")})
        table = delivered({"tables": [columns.cut(0, 3).table]}, 3).tables[0]
        self.assertEqual(table.numpy()["i"].tolist(), [0, 1, 2])
        self.assertEqual(table["s"], ["a", "b", "c"])
        self.assertEqual(list(table.timestamps), [10**9, 2 * 10**9, 3 * 10**9])


if __name__ == "__main__":
    unittest.main()
