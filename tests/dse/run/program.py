"""What tests share that run the program and look at its files: checks that are counted, the program, files as bytes."""
import os
import shutil
import subprocess
import sys
import tempfile

DSE = os.path.abspath(os.environ["DSE"])
failed = []
count = [0]


def check(name, fine, more=""):
    count[0] += 1
    if not fine:
        failed.append(name)
        print(f"not ok: {name}: {more}")


def dse(*args):
    """Run the program; returns its exit code and what it said."""
    done = subprocess.run([DSE, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)
    return done.returncode, done.stderr.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    """Texts or bytes; returns the path."""
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    return path


def run_parts(*parts):
    """Each part in a folder of its own; ends the test."""
    for part in parts:
        folder = tempfile.mkdtemp()
        try:
            part(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{count[0]} checks, {len(failed)} failed")
    sys.exit(1 if failed else 0)
