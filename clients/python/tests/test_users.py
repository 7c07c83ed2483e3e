"""Who the client is, what it may do, and that a refusal of that is told instead of tried again."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import BINARY, Server

import gorgo

QUICK = {"reconnect_least": 0.001, "reconnect_most": 0.05, "timeout": 30.0}


class LastWordsProxy:
    """Hands on what a server says together with the end of the connection."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        self.listener = await asyncio.start_server(self.pass_on, "127.0.0.1", 0)
        return "gorgo://127.0.0.1:%d" % self.listener.sockets[0].getsockname()[1]

    async def __aexit__(self, *failure):
        self.listener.close()

    async def pass_on(self, reader, writer):
        said, server = await asyncio.open_connection("127.0.0.1", self.port)
        server.write(await reader.read(65536))
        writer.write(await said.read())
        writer.close()
        server.close()


class UsersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.users = os.path.join(self.folder, "users.toml")
        self.known, known_hash = self.make_token("known")
        self.leaving, leaving_hash = self.make_token("leaving")
        self.hashes = [known_hash, leaving_hash]
        self.write_users(self.hashes)
        self.server = Server(GORGO__SECURITY__USERS=self.users)

    def tearDown(self):
        self.server.end()
        shutil.rmtree(self.folder)

    def make_token(self, name):
        """A file with a new token, and its hash."""
        made = subprocess.run([BINARY, "user", "token"], capture_output=True, text=True, check=True).stdout
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            file.write(re.search("^token: (.*)$", made, re.M).group(1))
        return path, re.search("^hash: +(.*)$", made, re.M).group(1)

    def write_users(self, hashes):
        with open(self.users, "w", encoding="utf-8", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
            for number, each in enumerate(hashes):
                file.write(f'[[user]]\nname = "user{number}"\ntokens = ["{each}"]\n'
                           'subscribe = ["Note"]\npublish = ["*"]\n')

    def address(self, token_file):
        return f"{self.server.address}?token_file={token_file}"

    def test_who_is_not_known_and_what_is_forbidden_is_told_at_once(self):
        with self.assertRaises(gorgo.Error) as unknown:
            gorgo.connect(self.server.address, **QUICK).open()
        self.assertEqual(unknown.exception.code, "unauthenticated")
        with gorgo.connect(self.address(self.known), **QUICK) as client:
            with self.assertRaises(gorgo.Error) as forbidden:
                client.subscribe("Secret")
            self.assertEqual(forbidden.exception.code, "forbidden")

    def test_why_is_told_where_the_end_comes_with_the_refusal(self):
        async def work():
            async with LastWordsProxy(self.server.port) as address:
                with self.assertRaises(gorgo.Error) as unknown:
                    async with gorgo.connect(address, **QUICK):
                        pass
                self.assertEqual(unknown.exception.code, "unauthenticated")

        asyncio.run(asyncio.wait_for(work(), 60))

    def test_a_stream_ends_with_the_reason_when_its_user_is_gone_as_the_server_comes_back(self):
        async def work():
            async with gorgo.connect(self.address(self.leaving), **QUICK) as client:
                stream = await client.subscribe("Note")
                await client.publish(gorgo.Event("Note", {"number": 1}))
                self.assertEqual((await stream.next(timeout=30))["number"], 1)
                self.server.kill()
                underway = await client.send(gorgo.Event("Note", {"number": 2}))
                self.write_users(self.hashes[:1])
                self.server.start()
                self.assertIsInstance(await stream.next(timeout=30), gorgo.Disconnected)
                with self.assertRaises(gorgo.Error) as ended:
                    await stream.next(timeout=30)
                self.assertEqual(ended.exception.code, "unauthenticated")
                with self.assertRaises(gorgo.OutcomeUnknown):
                    await underway
                with self.assertRaises(gorgo.Error) as refused:
                    await client.publish(gorgo.Event("Note", {"number": 3}))
                self.assertEqual(refused.exception.code, "unauthenticated")

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
