"""Dataclasses of the server's types, as source text."""

from __future__ import annotations

import keyword
from typing import Dict, Iterable, List

from .replies import RuleInfo, TypeInfo

_HEAD = '''"""The event types of a Gorgo server, written by `python3 -m gorgo types --python`."""

from dataclasses import dataclass, field
from typing import Optional

import gorgo
'''


def _word(name: str) -> str:
    """The name as Python may use it."""
    return name + "_" if keyword.iskeyword(name) else name


def _field(name: str, of: str, inferred: bool) -> str:
    written = f"Optional[{of}]" if inferred else of
    arguments = ["default=None"] if inferred else []
    if _word(name) != name:
        arguments.append(f'metadata={{"attribute": "{name}"}}')
        return f"    {_word(name)}: {written} = field({', '.join(arguments)})"
    return f"    {name}: {written} = None" if inferred else f"    {name}: {written}"


def _class(name: str, attributes: Dict[str, str], inferred: bool) -> str:
    lines = [f'@gorgo.event_type("{name}")', "@dataclass", f"class {_word(name)}:"]
    lines += [_field(attribute, of, inferred) for attribute, of in attributes.items()]
    lines.append("    timestamp: Optional[int] = None  # nanoseconds since the Unix epoch")
    return "\n".join(lines) + "\n"


def dataclasses_of(types: Iterable[TypeInfo], rules: Iterable[RuleInfo]) -> str:
    """A module with a class for each type that rules read or bring about, in the order of their names."""
    classes: Dict[str, str] = {rule.type: _class(rule.type, rule.attributes, False) for rule in rules}
    classes.update({of.name: _class(of.name, of.attributes, of.inferred) for of in types if of.name})
    parts: List[str] = [_HEAD, *[classes[name] for name in sorted(classes)]]
    return "\n\n".join(parts)
