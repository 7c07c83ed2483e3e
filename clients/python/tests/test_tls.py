"""The client over TLS, with the certificates that docs/security.md tells how to make."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import REPOSITORY, Server

import gorgo


def make_certificates(folder):
    with open(os.path.join(REPOSITORY, "docs/security.md"), encoding="utf-8") as file:
        commands = re.findall(r"^(openssl .*)$", file.read(), re.M)
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        make_certificates(cls.folder.name)
        cls.server = Server(
            GORGO__TLS__CERTIFICATE=cls.path("server.pem"), GORGO__TLS__KEY=cls.path("server.key"),
            GORGO__TLS__CLIENT_CA=cls.path("ca.pem"), GORGO__TLS__REQUIRE_CLIENT_CERTIFICATE="true")

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def address(self, **options):
        query = "&".join(f"{key}={value}" for key, value in options.items())
        return f"gorgo://localhost:{self.server.port}?timeout=5&{query}"

    def test_a_client_with_a_certificate_publishes_and_subscribes(self):
        address = self.address(tls=self.path("ca.pem"), cert=self.path("monitor.pem"), key=self.path("monitor.key"))
        with gorgo.connect(address) as client, client.subscribe("Temp") as temps:
            client.publish([gorgo.Event("Temp", {"area": "tls", "value": float(i)}) for i in range(1000)])
            self.assertEqual([temps.next(timeout=10)["value"] for _ in range(1000)], [float(i) for i in range(1000)])

        async def work():
            async with gorgo.connect(address) as client:
                return await client.rules()

        self.assertTrue(asyncio.run(work()))

    def test_a_server_of_another_authority_is_not_trusted(self):
        with self.assertRaisesRegex(gorgo.ConnectError, "certificate"):
            gorgo.connect(self.address(tls="true"), timeout=0.5).open()

    def test_a_certificate_of_another_name_is_refused(self):
        options = {"ca": self.path("ca.pem"), "cert": self.path("monitor.pem"), "key": self.path("monitor.key")}
        with self.assertRaisesRegex(gorgo.ConnectError, "127.0.0.2"):
            gorgo.connect(f"gorgo://127.0.0.2:{self.server.port}", timeout=0.5, **options).open()

    def test_without_a_certificate_of_its_own_or_without_tls_there_is_no_connection(self):
        for address in (self.address(ca=self.path("ca.pem")), self.address(tls="false")):
            with self.assertRaises(gorgo.ConnectError):
                gorgo.connect(address, timeout=0.5).open()

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(gorgo.AddressError, "missing.pem"):
            gorgo.connect(self.address(ca=self.path("missing.pem"))).open()
        with self.assertRaisesRegex(gorgo.AddressError, "missing.txt"):
            gorgo.connect(self.address(ca=self.path("ca.pem"), token_file=self.path("missing.txt"))).open()


if __name__ == "__main__":
    unittest.main()
