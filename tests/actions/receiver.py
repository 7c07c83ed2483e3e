#!/usr/bin/env python3
"""A receiver of webhooks: receiver.py FOLDER [PORT]. It writes its port into FOLDER/port, what it gets into
FOLDER/received, one line each, and answers with the status in FOLDER/status. With FOLDER/secret it checks signatures
as Standard Webhooks says; with FOLDER/endless its answers have no end."""
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
lock = threading.Lock()
received = open(os.path.join(folder, "received"), "a", buffering=1)


def content(name, otherwise):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().strip() or otherwise
    except FileNotFoundError:
        return otherwise


def verdict(headers, body):
    secret = content("secret", "")
    if not secret:
        return "unsigned"
    signed = headers["webhook-id"].encode() + b"." + headers["webhook-timestamp"].encode() + b"." + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    is_now = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return "signed" if is_now and hmac.compare_digest(wanted, headers["webhook-signature"]) else "forged"


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = int(content("status", "200"))
        json.loads(body)
        with lock:
            received.write(f"{self.headers['webhook-id']} {status} {verdict(self.headers, body)} {body.decode()}\n")
        self.send_response(status)
        if content("endless", ""):
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # servers that are killed leave connections behind


server = Server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Receiver)
with open(os.path.join(folder, "port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
