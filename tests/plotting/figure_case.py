"""What the tests of the papers' figures share."""
import os
import shutil
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "plotting"))

DSE = os.environ.get("DSE", "")
HAVE_DSE = bool(DSE) and os.path.exists(os.path.join(ROOT, DSE))
HAVE_GNUPLOT = shutil.which("gnuplot") is not None


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)
