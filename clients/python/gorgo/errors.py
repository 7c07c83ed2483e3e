"""Every error has a `code` for programs, a message for people, and a `hint` that says what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Sequence


class Error(Exception):
    """The base of all errors of this package."""

    code = "error"

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class AddressError(Error):
    """The address or an option of the connection cannot be used."""

    code = "address"


class ConnectError(Error):
    """There is no connection to the server."""

    code = "connect"


class ProtocolError(Error):
    """Bytes came that are no message of the protocol."""

    code = "protocol"


class EventError(Error):
    """An event cannot be sent as it is, for instance because a value has no type of the server's."""

    code = "event"


class UsageError(Error, ValueError):
    """Arguments that do not go together, or a value that an argument cannot have."""

    code = "usage"


class ServerError(Error):
    """The server answered with an error; `code` is the server's, such as `not_found`."""


class TimeoutError(Error):  # noqa: A001 (the name that users look for)
    """An answer did not come in time. The request may or may not have been carried out."""

    code = "timeout"


class ClosedError(Error):
    """The client or the subscription was closed."""

    code = "closed"


class OutcomeUnknown(Error):
    """It is not known whether the server has carried out what was asked.

    A publication is still being sent again, under the number that lets the server recognise it, until the client
    is closed: do not publish its events a second time.
    """

    code = "unknown"


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong or doubtful about a text. Lines and columns count from 1."""

    severity: str  # "error" or "warning"
    message: str
    hint: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    length: int = 0
    source_line: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.severity}: {self.message}{hint}"


class InvalidText(Error):
    """The text of a rule or of a subscription has errors, which `diagnostics` lists."""

    code = "text"

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        first = next((d for d in diagnostics if d.severity == "error"), None)
        super().__init__(str(first) if first else "the text has errors")
        self.diagnostics = list(diagnostics)


@dataclass(frozen=True)
class Refusal:
    """Why the server refused one event. `row` counts from 0 within the publication."""

    row: int
    reason: str
    hint: str = ""


@dataclass
class Published:
    """What became of a publication, or of several together."""

    accepted: int = 0
    refused: int = 0
    # Events of batches that the server had applied before, when they were sent again after a lost connection. It
    # does not say a second time which of them it refused.
    duplicates: int = 0
    refusals: List[Refusal] = field(default_factory=list)  # of the first refused events of each batch


class Refused(Error):
    """The server refused events. Those that it accepted stay accepted; `published` has all numbers."""

    code = "refused"

    def __init__(self, published: Published) -> None:
        first = published.refusals[0] if published.refusals else Refusal(0, "the server gave no reason")
        total = published.accepted + published.refused + published.duplicates
        super().__init__(f"{published.refused} of {total} events were refused; row {first.row}: {first.reason}",
                         first.hint)
        self.published = published
