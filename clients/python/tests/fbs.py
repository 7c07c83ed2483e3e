"""Reads src/protocol/gorgo.fbs, as far as it goes: tables, enums, the union."""

import re

SCALARS = {"ubyte": "B", "bool": "B", "ushort": "H", "uint": "I", "ulong": "Q", "long": "q", "double": "d"}


def _plain(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"//.*", "", file.read())


def read(path):
    """(tables, enums, members of the union). A table is a list of (name, type, default, required)."""
    text = _plain(path)
    enums = {}
    for name, base, body in re.findall(r"enum (\w+) : (\w+) \{(.*?)\}", text, re.S):
        SCALARS[name] = SCALARS[base]
        enums[name] = {n: int(v) for n, v in re.findall(r"(\w+) = (\d+)", body)}
    tables = {}
    for name, body in re.findall(r"table (\w+) \{(.*?)\}", text, re.S):
        fields = re.findall(r"(\w+): (\[?\w+\]?)(?: = (\w+))?( \(required\))?;", body)
        tables[name] = [(f, of, default, bool(required)) for f, of, default, required in fields]
    union = re.search(r"union Body \{(.*?)\}", text, re.S).group(1)
    return tables, enums, [n.strip() for n in union.split(",")]
