"""The cases of test/text/*.test: text_test.py says how they are written, and runs them."""
import os
import subprocess

from harness.running import BIN, DEADLINE, ROOT

FOLDER = os.path.join(ROOT, "test", "text")


class Command:
    """A command that ends at a line of its file, the files that it is given, and the lines that it must print."""

    def __init__(self, text, case, number, files):
        self.text, self.case, self.number, self.files, self.expected = text, case, number, dict(files), []

    @property
    def goes_on(self):
        """Whether the next line belongs to the command."""
        return self.text.endswith("\\")

    def add(self, line):
        self.text += "\n" + line
        self.number += 1

    def run(self, folder):
        """Returns what it prints, in the form of the expectation."""
        for name, content in self.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(content)
        env = dict(
            os.environ,
            PATH=":".join((BIN, FOLDER, os.environ["PATH"])),
            TESTDATA=os.path.join(ROOT, "test", "testdata"),
            COLUMNS="80",
        )
        done = subprocess.run(
            ["bash", "-c", self.text],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=DEADLINE,
        )
        lines = done.stdout.splitlines() + ["! " + line for line in done.stderr.splitlines() if line]
        return [line.rstrip() for line in lines if line] + (["exit %d" % done.returncode] if done.returncode else [])


def parse(lines):
    """Returns the commands of a file, with their expectations."""
    commands, shared, given, case, name = [], {}, None, "", None
    for number, line in enumerate(lines, 1):
        if line.startswith("---- "):
            name = line[5:]
            (shared if given is None else given)[name] = ""
        elif line == "----":
            name = None
        elif name:
            (shared if given is None else given)[name] += line + "\n"
        elif line.startswith("== "):
            case, given = line[3:], dict(shared)
        elif commands and commands[-1].goes_on:
            commands[-1].add(line)
        elif line.startswith("$ "):
            assert given is not None, f"line {number}: a command before the first case"
            commands.append(Command(line[2:], case, number, given))
        elif line and commands and commands[-1].case == case:
            commands[-1].expected.append(line)
    assert name is None, f"the file {name} has no end, which is a line ----"
    return commands
