"""The encoding against the description of the protocol, against flatc, and against damaged bytes."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from array import array

import fbs
from support import REPOSITORY

import gorgo
from gorgo import flat, schema
from gorgo.batch import Batch

FBS = os.path.join(REPOSITORY, "src/protocol/gorgo.fbs")
TABLES, ENUMS, UNION = fbs.read(FBS)


def kind_in_words(field):
    kind = field.kind
    if isinstance(kind, flat.Scalar):
        return kind.code
    if isinstance(kind, flat.Vector):
        return "[" + kind.element + "]"
    if isinstance(kind, flat.Tables):
        return "[" + kind.of.name + "]"
    if isinstance(kind, flat.Child):
        return kind.of.name
    return {flat.Text: "string", flat.Texts: "[string]"}.get(type(kind), "Body")


def type_in_words(of):
    inner = of.strip("[]")
    inner = fbs.SCALARS.get(inner, inner)
    return "[" + inner + "]" if of.startswith("[") else inner


def random_scalar(chance, code):
    if code == "d":
        return chance.choice([0.0, -1.5, chance.randrange(1000) / 8])  # flatc writes 12 digits
    low, high = {"B": (0, 1), "H": (0, 65535), "I": (0, 2**32 - 1), "Q": (0, 2**53), "q": (-2**53, 2**53)}[code]
    return chance.randint(low, high)


def random_text(chance):
    return "".join(chance.choice('aZ_0 "\\é€😀\n') for _ in range(chance.randrange(9)))


def random_values(chance, table):
    values = {}
    for field in table.fields:
        if not field.required and chance.random() < 0.3:
            continue
        kind = field.kind
        many = range(chance.randrange(4))
        if isinstance(kind, flat.Scalar):
            values[field.name] = random_scalar(chance, kind.code)
        elif isinstance(kind, flat.Text):
            values[field.name] = random_text(chance)
        elif isinstance(kind, flat.Vector):
            values[field.name] = array(kind.element, [random_scalar(chance, kind.element) for _ in many])
        elif isinstance(kind, flat.Tables):
            values[field.name] = [random_values(chance, kind.of) for _ in many]
        elif isinstance(kind, flat.Child):
            values[field.name] = random_values(chance, kind.of)
    return values


def without_texts(table):
    """Vectors of strings are only read here, so there is no encoder for them."""
    fields = [f for f in table.fields if not isinstance(f.kind, flat.Texts)]
    return len(fields) == len(table.fields) and all(
        without_texts(f.kind.of) for f in fields if isinstance(f.kind, (flat.Tables, flat.Child)))


def plain(values):
    """Values as JSON has them."""
    if isinstance(values, dict):
        return {name: plain(v) for name, v in values.items() if v is not None}
    if isinstance(values, (array, memoryview)):
        return values.tolist()
    return [plain(v) for v in values] if isinstance(values, list) else values


def numbers_of_enums(of, values):
    """flatc writes enumerators by name, and bools as true and false."""
    for name, kind, _, _ in TABLES[of]:
        inner = kind.strip("[]")
        if name not in values:
            continue
        if inner in ENUMS and isinstance(values[name], str):
            values[name] = ENUMS[inner][values[name]]
        elif inner in TABLES:
            for child in values[name] if kind.startswith("[") else [values[name]]:
                numbers_of_enums(inner, child)
        elif kind == "bool":
            values[name] = int(values[name])
    return values


class SchemaTest(unittest.TestCase):
    """The description grows at the ends of its tables, lists and union; a client may know the beginning only."""

    def setUp(self):
        self.known = {value.name: value for value in vars(schema).values()
                      if isinstance(value, flat.Table) and value is not schema.UNKNOWN}

    def test_every_table_has_the_fields_of_the_description_in_their_order(self):
        for name, table in self.known.items():
            expected = []
            for field, of, _, required in TABLES[name]:
                if of == "Body":
                    expected.append((field + "_type", "B", False))
                expected.append((field, type_in_words(of), required))
            found = [(f.name, kind_in_words(f), f.required) for f in table.fields]
            self.assertEqual(found, expected[: len(found)], name)
            self.assertFalse([field for field, _, required in expected[len(found):] if required], name)

    def test_defaults_are_those_of_the_description(self):
        for name, table in self.known.items():
            for (field, of, default, _), _ in zip(TABLES[name], table.fields):
                if of not in fbs.SCALARS:
                    continue
                expected = None if default == "null" else ENUMS[of][default] if default in ENUMS.get(of, ()) else 0
                self.assertEqual(table.defaults[field], expected, f"{name}.{field}")

    def test_the_messages_are_numbered_as_in_the_union(self):
        known = [table.name for table in schema.BODY]
        self.assertGreater(len(known), 28)
        self.assertEqual(known, UNION[: len(known)])

    def test_error_codes_have_the_numbers_of_the_description(self):
        words = [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in ENUMS["ErrorCode"]]
        numbers = dict(zip(words, ENUMS["ErrorCode"].values()))
        for number, name in enumerate(schema.ERROR_CODES[1:], 1):
            self.assertEqual(numbers[name], number)


@unittest.skipUnless(shutil.which("flatc"), "flatc is not installed")
class FlatcTest(unittest.TestCase):
    def flatc(self, folder, *arguments):
        done = subprocess.run(["flatc", "--size-prefixed", "--strict-json", "--natural-utf8", *arguments],
                              cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def messages(self):
        chance = random.Random(7)
        for round in range(8):
            for table in schema.BODY:
                if without_texts(table):
                    yield round * 100 + schema.BODY.index(table), table, random_values(chance, table)

    def test_flatc_reads_what_is_written_and_writes_what_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            messages = list(self.messages())
            for number, table, values in messages:
                with open(os.path.join(folder, f"{number}.bin"), "wb") as file:
                    file.write(schema.encode(number, table, values))
            self.flatc(folder, "--json", "--raw-binary", FBS, "--", *[f"{number}.bin" for number, _, _ in messages])
            for number, table, values in messages:
                with open(os.path.join(folder, f"{number}.json"), encoding="utf-8") as file:
                    read = json.load(file)
                self.assertEqual((read.get("id", 0), read["body_type"]), (number, table.name))
                body = numbers_of_enums(table.name, read["body"])
                self.assertEqual(self.told(table, body), self.told(table, values), table.name)
                os.remove(os.path.join(folder, f"{number}.bin"))
            self.flatc(folder, "--binary", FBS, *[f"{number}.json" for number, _, _ in messages])
            for number, table, values in messages:
                with open(os.path.join(folder, f"{number}.bin"), "rb") as file:
                    decoded = schema.decode(file.read())
                self.assertEqual(decoded[:2], (number, table))
                self.assertEqual(self.told(table, decoded[2]), self.told(table, values), table.name)

    def told(self, table, values):
        """What flatc writes of values: scalars that are the default are left out."""
        told = {}
        for field in table.fields:
            value = values.get(field.name)
            if value is None or isinstance(field.kind, flat.Scalar) and value == field.kind.default:
                continue
            if isinstance(field.kind, flat.Child):
                value = self.told(field.kind.of, value)
            elif isinstance(field.kind, flat.Tables):
                value = [self.told(field.kind.of, v) for v in value]
            told[field.name] = plain(value)
        return told

    def test_wide_elements_lie_at_multiples_of_eight(self):
        column = {"name": "x", "type": schema.INT, "ints": array("q", [11, 22])}
        for name in ("T", "Te", "Tem", "Temp", "Temps"):
            table = {"type": name, "rows": 2, "timestamps": array("q", [5, 6]), "columns": [column]}
            frame = schema.encode(1, schema.PUBLISH, {"sequence": 1, "batch": {"tables": [table]}})
            for number in (5, 11):
                self.assertEqual(frame.index(struct.pack("<q", number)) % 8, 0)


class DamagedBytesTest(unittest.TestCase):
    def frames(self):
        chance = random.Random(11)
        frames = [schema.encode(n, table, random_values(chance, table))
                  for n, table in enumerate(schema.BODY) if without_texts(table) for _ in range(2)]
        column = {"name": "x", "type": schema.STRING, "ends": array("I", [1, 3]), "bytes": "aé".encode()}
        table = {"type": "T", "rows": 2, "timestamps": array("q", [5, 6]), "columns": [column]}
        frames.append(schema.encode(0, schema.DELIVER, {
            "subscriptions": array("I", [1]), "roots": array("Q", [1, 2]), "ordinals": array("I", [0, 0]),
            "batch": {"tables": [table], "order": array("H", [0, 0])}}))
        return frames

    def read(self, frame):
        """Reads all that a client would; only ProtocolError may come out of it."""
        try:
            _, table, values = schema.decode(frame)
            if table is schema.DELIVER:
                for event in Batch(values, len(frame)):
                    repr(event)
        except gorgo.ProtocolError:
            return False
        return True

    def test_a_frame_cut_anywhere_raises_nothing_but_protocol_errors(self):
        for frame in self.frames():
            for size in range(len(frame)):
                self.read(frame[:size])
        self.assertTrue(self.read(frame), "the last frame is whole")
        self.assertFalse(self.read(frame[:-40]))

    def test_changed_bytes_raise_nothing_but_protocol_errors(self):
        chance = random.Random(13)
        refused = 0
        for frame in self.frames():
            for _ in range(400):
                damaged = bytearray(frame)
                for _ in range(chance.randrange(1, 4)):
                    damaged[chance.randrange(4, len(damaged))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
                refused += not self.read(bytes(damaged))
        self.assertGreater(refused, 100)

    def test_tables_that_many_references_name_count_for_each(self):
        many = 150
        steps = [{"clause": "c", "losses": [{"test": "t"}] * many}] + [{"clause": "c"}] * (many - 1)
        funnels = [{"event": "e", "steps": steps}] + [{"event": "e"}] * (many - 1)
        frame = bytearray(schema.encode(1, schema.WHY, {"rule": "r", "terminator": "t", "funnels": funnels}))
        reader = flat.Reader(bytes(frame))

        def child(table, slot):
            return reader.target(table + reader.slots(table)[slot])

        vector = child(child(reader.root(), 2), 4)  # of funnels; then of the steps of the first one
        for slot in (4, None):
            first = reader.target(vector + 4)
            for index in range(many):  # every reference names the first table
                place = vector + 4 + 4 * index
                struct.pack_into("<I", frame, place, first - place)
            if slot is not None:
                vector = child(first, slot)
        with self.assertRaisesRegex(gorgo.ProtocolError, "more tables"):
            schema.decode(bytes(frame))

    def test_a_message_of_a_later_version_is_told_apart_from_damage(self):
        frame = bytearray(schema.encode(7, schema.PING, {}))
        reader = flat.Reader(bytes(frame))
        frame[reader.root() + reader.slots(reader.root())[1]] = 250
        self.assertEqual(schema.decode(bytes(frame))[:2], (7, schema.UNKNOWN))

    def test_random_bytes_are_no_message(self):
        chance = random.Random(17)
        for size in list(range(40)) + [1000]:
            self.assertFalse(self.read(bytes(chance.randrange(256) for _ in range(size))))


if __name__ == "__main__":
    unittest.main()
