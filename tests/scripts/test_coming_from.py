#!/usr/bin/env python3
"""The examples of docs/coming-from/: their files are read, their commands do what the page says. A block that begins with ```yaml NAME
is that file, one with ```sh holds the commands."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

DSE = os.path.abspath(os.environ["DSE"])


def blocks(page):
    with open(page, encoding="utf-8") as file:
        return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", file.read(), re.M | re.S)


def run_page(page):
    """Writes the files of a page and runs its commands; what they print."""
    with tempfile.TemporaryDirectory() as folder:
        for _, name, text in blocks(page):
            if name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
        os.symlink(os.path.abspath("experiments"), os.path.join(folder, "experiments"))
        commands = [line[2:] for kind, _, text in blocks(page) if kind == "sh" for line in text.splitlines() if line.startswith("$ ")]
        out = []
        for command in commands:
            done = subprocess.run(["bash", "-c", f'dse() {{ "{DSE}" "$@"; }}; {command}'], cwd=folder, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                raise AssertionError(f"{page}: {command}: exit code {done.returncode}\n{done.stdout}")
            out.append(done.stdout)
    return out


class ComingFrom(unittest.TestCase):
    def test_zigzag(self):
        check, table = run_page("docs/coming-from/zigzag.md")
        self.assertIn("1024 MAC units", check)
        rows = table.splitlines()
        layers = [row for row in rows if re.match(r"(conv\w+|fc) ", row)]
        self.assertEqual(21, len(layers))  # ResNet-18: 20 convolutions and a classifier
        self.assertTrue(all(row.endswith("optimal") for row in layers), table)
        # 64 channels on 32 columns, and 3 inputs on 32 rows: 3/32 of the MACs, 9.4 %
        self.assertIn("9.4 %", layers[0])

    def test_accelforge(self):
        proved, fused = run_page("docs/coming-from/accelforge.md")
        # 512 x 4096 x 4096 MACs on 4 x 128 x 128 units
        self.assertEqual(4, len(re.findall(r"^Matmul. .* 131,072 .*3\.11 mJ.*optimal$", proved, re.M)), proved)
        self.assertIn("80 MiB", proved)  # 4 products of 2 + 2 + 16 MiB
        # weights once, the first input and the last output: 4 x 16 + 2 + 2 MiB
        self.assertIn("for 68 MiB", fused)

    def test_timeloop(self):
        evaluated, best = run_page("docs/coming-from/timeloop.md")
        # published for Timeloop v4 (tests/known/timeloop_v4/expected.csv, spread): 3072 cycles, 720,361.72 pJ
        self.assertIn("3,072 cycles", evaluated)
        self.assertRegex(evaluated, r"energy +720 nJ")
        self.assertRegex(best, r"conv1d_oc .* 456 nJ .*optimal")

    def test_every_page_is_tried(self):
        pages = {os.path.basename(page)[:-3] for page in glob.glob("docs/coming-from/*.md")}
        tried = {name[len("test_"):] for name in dir(self) if name.startswith("test_")}
        self.assertLessEqual(pages, tried)


if __name__ == "__main__":
    unittest.main()
