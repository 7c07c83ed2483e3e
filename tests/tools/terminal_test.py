"""What `top` and `doctor` show in terminals of 80 and of 200 columns. tmux is the terminal.

With RECORDINGS=FOLDER, what was seen is written there.
"""

import os
import re
import subprocess
import tempfile
import time
import unittest

BINARY = os.environ["GORGO_BINARY"]
RULES = os.path.join(os.environ["GORGO_SOURCE"], "rules/fire.tesla")
EVENTS = "".join('{"type":"Temp","attrs":{"area":"a%d","value":50.0}}\n{"type":"Smoke","attrs":{"area":"a%d"}}\n' % (i, i)
                 for i in range(100))
PATIENCE = 60  # seconds


class Terminal:
    """A terminal in which a command runs."""

    def __init__(self, command, width):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.folder.name, "tmux")
        self.tmux("new-session", "-d", "-x", str(width), "-y", "40", "-s", "gorgo",
                  f"{command}; echo ended with $?; read wait")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "gorgo").rstrip("\n")

    def until(self, pattern):
        """The screen once it shows the pattern."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.screen(), re.M):
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern} in\n{self.screen()}")
        return self.screen()

    def press(self, key):
        self.tmux("send-keys", "-t", "gorgo", key)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")
        self.folder.cleanup()


class TerminalTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--rules", RULES],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.address = cls.server.stdout.readline().split()[-1]
        subprocess.run([BINARY, "pub", "--to", cls.address], input=EVENTS, text=True, check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()

    def record(self, name, screen):
        folder = os.environ.get("RECORDINGS")
        if folder:
            with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
                file.write(screen + "\n")

    def test_top_fits_is_ordered_by_keys_and_ends(self):
        for width in (80, 200):
            with self.subTest(width), Terminal(f"{BINARY} top --to {self.address} --interval 100ms", width) as terminal:
                terminal.until("evacuate")
                terminal.press("n")
                screen = terminal.until(r"COMP/S.*\n.* evacuate\n.* fire\n.* fire_report\n.* fire_risk$")
                self.record(f"top-{width}", screen)
                lines = screen.split("\n")
                self.assertTrue(lines[0].startswith(f"gorgo top {self.address}"))
                for words in ("events/s", "latency p50", "ENGINE", "CONNECTION"):
                    self.assertEqual(sum(line.startswith(words) for line in lines), 1, words)
                self.assertLessEqual(max(map(len, lines)), width)
                terminal.press("q")
                terminal.until("^ended with 0$")

    def test_top_waits_for_a_server_that_has_gone(self):
        server = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        address = server.stdout.readline().split()[-1]
        with Terminal(f"{BINARY} top --to {address} --interval 100ms", 80) as terminal:
            terminal.until("^events/s")
            server.kill()
            server.wait()
            server.stdout.close()
            terminal.until("^no answer, trying again")
            with subprocess.Popen([BINARY, "serve", "--listen", address], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as again:
                terminal.until("^events/s")
                again.kill()

    def test_what_others_have_written_moves_no_cursor(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tesla") as rules:
            rules.write('rule evil: define Evil() from Temp(area = "\x1b[2Ja\x07\x7f\x9b");\n')
            rules.flush()
            subprocess.run([BINARY, "rules", "deploy", rules.name, "--to", self.address], check=True,
                           capture_output=True)
        show = f"{BINARY} rules show evil --to {self.address}"
        with Terminal(show, 120) as terminal:
            screen = terminal.until("^ended with 0$")
            self.assertIn(r"\x1b[2Ja\x07\x7f\x9b", screen)
        # A file has what was written.
        piped = subprocess.run(show.split(), check=True, capture_output=True, text=True).stdout
        self.assertIn("\x1b[2Ja", piped)
        subprocess.run([BINARY, "rules", "remove", "evil", "--to", self.address], check=True, capture_output=True)

    def test_doctor_breaks_its_sentences_between_words(self):
        for width in (80, 200):
            with self.subTest(width), Terminal(f"{BINARY} doctor --to {self.address}", width) as terminal:
                screen = terminal.until("^ended with 0$")
                self.record(f"doctor-{width}", screen.replace("\nended with 0", ""))
                sentence = "No event of type Rain has come since rules read it (fire): is it published under another name?"
                self.assertIn(sentence, re.sub(r"\n +", " ", screen))
                if width == 80:
                    self.assertNotIn(sentence, screen)


if __name__ == "__main__":
    unittest.main()
