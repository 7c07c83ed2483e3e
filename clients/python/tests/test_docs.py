"""The examples of the README, the package as pip installs it, and its types."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import PACKAGE, Server

COMPOSITES = ("Fire", "FireReport", "FireRisk", "Hot")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class ReadmeTest(unittest.TestCase):
    def test_each_example_runs_by_itself_and_prints_a_composite(self):
        with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertTrue(any("async with" in block for block in blocks))
        self.assertTrue(any("async" not in block for block in blocks))
        for block in blocks:
            with Server() as server:
                environment = {**os.environ, "GORGO_SERVER": server.address, "PYTHONPATH": PACKAGE}
                done = run([sys.executable, "-c", block], env=environment, timeout=30)
            self.assertEqual(done.returncode, 0, block + done.stderr)
            self.assertRegex(done.stdout, "|".join(COMPOSITES), block)


class PackageTest(unittest.TestCase):
    def test_pip_installs_the_package_without_network(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run([sys.executable, "-m", "pip", "--version"])
            if done.returncode:
                self.skipTest("pip is not installed")
            done = run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check",
                        "--target", folder, PACKAGE])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "gorgo", "py.typed")))
            done = run([sys.executable, "-c", "import gorgo, importlib.metadata as m; "
                        "assert m.version('gorgo') == gorgo.__version__; print(gorgo.__file__)"],
                       cwd=folder, env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(folder))

    def test_the_package_imports_nothing_beyond_the_standard_library(self):
        done = run([sys.executable, "-S", "-E", "-c", f"import sys; sys.path.insert(0, {PACKAGE!r}); import gorgo"])
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_types_hold_strictly_for_the_package_and_for_a_program_that_uses_it(self):
        program = (
            "import gorgo\n"
            "with gorgo.connect() as client:\n"
            "    reveal_type(client.publish(gorgo.Event('T', {'x': 1})).accepted)\n"
            "    for item in client.subscribe('T'):\n"
            "        if isinstance(item, gorgo.Event):\n"
            "            reveal_type(item['x'])\n"
            "async def work() -> None:\n"
            "    reveal_type(await gorgo.connect())\n"
            "    client.publish(nothing=1)\n")
        with tempfile.TemporaryDirectory() as folder:
            done = run(["mypy", "--cache-dir", folder], cwd=PACKAGE)
            self.assertEqual(done.returncode, 0, done.stdout)
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            done = run(["mypy", "--strict", "--cache-dir", folder, path], env={**os.environ, "MYPYPATH": PACKAGE},
                       cwd=folder)
            for words in ('"builtins.int"', "Union[builtins.int, builtins.float, builtins.bool, builtins.str]",
                          '"gorgo.client.AsyncClient"', 'Unexpected keyword argument "nothing"'):
                self.assertIn(words, done.stdout)
            self.assertEqual(done.stdout.count(" error: "), done.stdout.count("nothing"), done.stdout)


if __name__ == "__main__":
    unittest.main()
