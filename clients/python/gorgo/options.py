"""Where the server is and how to reach it: addresses, TLS, credentials, limits."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, replace
from typing import Any, Dict, Mapping, Optional, Union
from urllib.parse import parse_qsl, unquote, urlsplit

from .errors import AddressError

PORT = 7450
_FORM = "write gorgo://HOST:PORT, as gorgo://127.0.0.1:7450"
_ON = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


@dataclass(frozen=True)
class Options:
    """What `gorgo.connect` takes, beside the address. Files are read at each connection, so they may change.

    tls: True, False, or a context of one's own.
    ca, cert, key: PEM files: who may sign the server's certificate; the client's own certificate and its key.
    user, password_file, token_file: who the client is. Secrets stand in files, so that no process list shows them.
    name: for the server's log.
    timeout: seconds for connecting, for an answer, and for the outcome of a publication.
    heartbeat: seconds of silence after which the client asks whether the server is there. After as many more without
        a sign of life, it connects anew. 0: never.
    producer: a number that a program always takes, so that it may repeat publications by their `sequence`, which each
        then names. 0: a random one.
    reconnect_least, reconnect_most: seconds between two attempts to connect; they grow, and vary by chance.
    publish_bytes: publications without an outcome; beyond, `publish` waits.
    receive_bytes: deliveries that wait for the reader of a subscription; beyond, the client stops reading, and the
        server takes it for slow.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    tls: Union[bool, ssl.SSLContext] = False
    ca: Optional[str] = None
    cert: Optional[str] = None
    key: Optional[str] = None
    user: Optional[str] = None
    password_file: Optional[str] = None
    token_file: Optional[str] = None
    name: str = "gorgo-python"
    timeout: float = 30.0
    heartbeat: float = 15.0
    producer: int = 0
    reconnect_least: float = 0.05
    reconnect_most: float = 5.0
    publish_bytes: int = 16 << 20
    receive_bytes: int = 16 << 20

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def context(self) -> Optional[ssl.SSLContext]:
        """The TLS context of a new connection; None: it is not encrypted."""
        if isinstance(self.tls, ssl.SSLContext):
            return self.tls
        if not self.tls:
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            if self.cert:
                context.load_cert_chain(self.cert, self.key)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(f for f in (self.ca, self.cert, self.key) if f)
            raise AddressError(f"TLS cannot be set up with {files}: {error}", "name PEM files that can be read") from None
        return context

    def credentials(self) -> Dict[str, Optional[str]]:
        return {"user": self.user, "password": _secret(self.password_file), "token": _secret(self.token_file)}


def _secret(path: Optional[str]) -> Optional[str]:
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise AddressError(f"{path} cannot be read: {error}", "it holds the secret and nothing else") from None


def _tls(text: str) -> Dict[str, Any]:
    on = _ON.get(text.lower())
    return {"tls": True, "ca": text} if on is None else {"tls": on}


def _of_query(query: str) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key == "tls":
            found.update(_tls(value))
        elif key in ("ca", "cert", "key"):
            found.update({key: value, "tls": found.get("tls", True)})
        elif key in ("password_file", "token_file", "name"):
            found[key] = value
        elif key in ("timeout", "heartbeat"):
            found[key] = _number(key, value)
        elif key in ("token", "password"):
            raise AddressError(f"an address holds no secret, so '{key}' cannot stand in it", f"name a file: {key}_file=..")
        else:
            raise AddressError(f"an address has no option '{key}'",
                               "there are tls, ca, cert, key, password_file, token_file, name, timeout, heartbeat")
    return found


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise AddressError(f"'{value}' is no number of seconds for '{key}'", f"as {key}=30") from None


def _of_address(address: str) -> Dict[str, Any]:
    try:
        url = urlsplit(address if "://" in address else f"gorgo://{address}")
        port = url.port
    except ValueError:
        raise AddressError(f"'{address}' is no address", _FORM) from None
    if url.scheme != "gorgo" or url.path not in ("", "/") or url.fragment or not url.hostname:
        raise AddressError(f"'{address}' is no address", _FORM)
    if url.password is not None:
        raise AddressError("an address holds no password, as others may see it", "name a file: ?password_file=..")
    found: Dict[str, Any] = {"host": url.hostname, "port": PORT if port is None else port, **_of_query(url.query)}
    if url.username:
        found["user"] = unquote(url.username)
    return found


def parse(address: Optional[str], overrides: Mapping[str, Any]) -> Options:
    """The options of an address, or of GORGO_SERVER where there is none. Keyword arguments come first."""
    if address is None:
        address = os.environ.get("GORGO_SERVER") or f"gorgo://127.0.0.1:{PORT}"
    found = _of_address(address)
    unknown = set(overrides) - set(Options.__dataclass_fields__)
    if unknown:
        raise TypeError(f"gorgo.connect has no option {', '.join(sorted(unknown))}")
    if (overrides.get("ca") or overrides.get("cert")) and "tls" not in overrides:
        found["tls"] = True
    return replace(Options(**found), **overrides)
