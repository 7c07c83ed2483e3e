#!/usr/bin/env python3
"""The fire brigade's end of a webhook. It believes a call that its secret has signed (https://www.standardwebhooks.com), and
writes each call once into a file, whatever the number of attempts."""
import base64
import hashlib
import hmac
import http.server
import pathlib
import sys

secret, calls, port = (pathlib.Path(name) for name in sys.argv[1:4])
key = base64.b64decode(secret.read_text().strip().removeprefix('whsec_'))
known = set()


class Brigade(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        wanted = 'v1,' + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if not hmac.compare_digest(wanted, self.headers['webhook-signature'] or ''):
            self.send_error(401)
            return
        if self.headers['webhook-id'] not in known:
            known.add(self.headers['webhook-id'])
            with calls.open('a') as file:
                file.write(body.decode() + '\n')
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Brigade)
port.write_text(f'{server.server_port}\n')
server.serve_forever()
