"""A real server, and a proxy that treats connections badly.

GORGO_BINARY is the server's program; without it, that of the release build.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(HERE)
REPOSITORY = os.path.dirname(os.path.dirname(PACKAGE))
sys.path.insert(0, PACKAGE)
BINARY = os.environ.get("GORGO_BINARY") or os.path.join(REPOSITORY, "build/release/gorgo")


class Server:
    """`gorgo serve` with the rules of rules/fire.tesla. It keeps its port when it is started again."""

    def __init__(self, *arguments, **environment):
        self.arguments = arguments
        self.environment = {**os.environ, **environment}
        self.port = 0
        self.process = None
        self.start()

    @property
    def address(self):
        return f"gorgo://127.0.0.1:{self.port}"

    def start(self):
        command = [BINARY, "serve", "--listen", f"127.0.0.1:{self.port}", "--rules",
                   os.path.join(REPOSITORY, "rules/fire.tesla"), *self.arguments]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=self.environment, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait()
            self.log.seek(0)
            raise RuntimeError(f"the server did not start: {line} {self.log.read().decode()}")
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        self.end(signal.SIGKILL)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Proxy:
    """Forwards connections to a port, in a loop of its own thread.

    cut: called with the number of a connection, from 0; returns after how many bytes, both ways together, the
    connection is to be cut, or None. While `frozen`, nothing is forwarded and nothing closed.
    """

    def __init__(self, port, cut=lambda connection: None):
        self.target = port
        self.cut = cut
        self.connections = 0
        self.most = 0  # bytes of one connection, both ways together
        self.loop = asyncio.new_event_loop()
        self.thawed = None
        self.writers = []
        self.ended = threading.Semaphore(0)  # released for each connection that has ended
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    @property
    def address(self):
        return f"gorgo://127.0.0.1:{self.port}"

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        ready.set()
        self.loop.run_forever()
        self.loop.run_until_complete(self._end())
        self.loop.close()

    async def _end(self):
        self.server.close()
        await self.server.wait_closed()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _listen(self):
        self.thawed = asyncio.Event()
        self.thawed.set()
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        number = self.connections
        self.connections += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self.writers += [writer, far_writer]
        count = {"bytes": 0, "left": self.cut(number)}
        ways = [asyncio.ensure_future(self._forward(reader, far_writer, count)),
                asyncio.ensure_future(self._forward(far_reader, writer, count))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass
        for way in ways:
            way.cancel()
        for end in (writer, far_writer):
            # What was forwarded last still arrives, but the reader may see a reset in its place.
            end.close()
        self.ended.release()

    async def _forward(self, reader, writer, count):
        try:
            while True:
                data = await reader.read(1 << 16)
                await self.thawed.wait()
                if not data:
                    return
                left = count["left"]
                if left is not None:
                    data = data[: left - count["bytes"]]
                writer.write(data)
                count["bytes"] += len(data)
                self.most = max(self.most, count["bytes"])
                await writer.drain()
                if left is not None and count["bytes"] >= left:
                    return
        except (OSError, asyncio.CancelledError):
            return

    def freeze(self):
        self.loop.call_soon_threadsafe(self.thawed.clear)

    def thaw(self):
        self.loop.call_soon_threadsafe(self.thawed.set)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def free_port():
    """Of which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
