"""A client of Gorgo, a server for complex event processing.

    with gorgo.connect("gorgo://127.0.0.1:7450") as client:           # or GORGO_SERVER
        client.publish(gorgo.Event("Temp", {"area": "A1", "value": 46.5}))

`async with` gives a client for asyncio.
"""

from .batch import Batch, Column, Table
from .client import AsyncClient
from .connect import Connect, connect
from .errors import (AddressError, ClosedError, ConnectError, Diagnostic, Error, EventError, InvalidText,
                     OutcomeUnknown, ProtocolError, Published, Refusal, Refused, ServerError, TimeoutError,
                     UsageError)
from .events import Disconnected, Event, Gap, Leaving, Notice, Place, Reconnected, event_type
from .options import Options
from .publication import Publication
from .replies import DeviceInfo, DurableInfo, RuleInfo, Trace, TypeInfo, Why
from .subscription import AsyncSubscription
from .sync import Client, Subscription

__version__ = "0.2.0"
__all__ = [
    "AddressError", "AsyncClient", "AsyncSubscription", "Batch", "Client", "ClosedError", "Column", "Connect",
    "ConnectError", "DeviceInfo", "Diagnostic", "Disconnected", "DurableInfo", "Error", "Event", "EventError", "Gap", "InvalidText",
    "Leaving", "Notice", "Options", "OutcomeUnknown", "Place", "ProtocolError", "Publication", "Published", "Reconnected",
    "Refusal", "Refused", "RuleInfo", "ServerError", "Subscription", "Table", "TimeoutError", "Trace", "TypeInfo",
    "UsageError", "Why", "connect", "event_type"]
