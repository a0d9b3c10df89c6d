#!/usr/bin/env python3
"""The pages of docs/ say what is there: files and functions that docs/flow.md names, links, titles that comments cite, the index."""
import glob
import os
import re
import unittest

FLOORS = ("base", "costmodel", "engines", "results", "dse")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchor(title):
    """The name that a heading has in a link."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


PAGES = {path: read(path) for path in sorted(glob.glob("docs/**/*.md", recursive=True)) + ["README.md", "CONTRIBUTING.md"]}
TITLES = {path: re.findall(r"^#+ (.*)$", text, re.M) for path, text in PAGES.items()}
SOURCES = {path: read(path) for folder in (*FLOORS, "tests") for end in ("c", "h")
           for path in glob.glob(f"{folder}/**/*.{end}", recursive=True)}


class Docs(unittest.TestCase):
    def test_flow_names_what_exists(self):
        text = PAGES["docs/flow.md"]
        code = "\n".join(code for path, code in SOURCES.items() if not path.startswith("tests/"))
        names = set(re.findall(r"`(\w+_\w+)`", text))
        self.assertGreater(len(names), 30)
        self.assertEqual([], sorted(name for name in names if not re.search(rf"^[^\s#/*][^;{{}}]*\b{name}\b", code, re.M)))
        paths = set(re.findall(r"`([\w.]+/[\w./]+)`", text))
        self.assertGreater(len(paths), 25)
        self.assertEqual([], sorted(path for path in paths if not os.path.exists(path)))

    def test_flow_names_the_file_of_a_function(self):
        """`name` (`path`): the path is where the function is defined."""
        pairs = re.findall(r"`(\w+)`,?\s+\(?`([\w./]+\.c)`", PAGES["docs/flow.md"])
        self.assertGreater(len(pairs), 15)
        for name, path in pairs:
            self.assertTrue(re.search(rf"(?m)^[a-zA-Z].*\b{name}\b", SOURCES[path]), f"{name} in {path}")

    def test_named_files_exist(self):
        """Capitals and stars stand for any name: tests/ROOM/test_NAME.c."""
        for path, text in PAGES.items():
            for name in re.findall(rf"(?<![\w/.-])((?:{'|'.join(FLOORS)}|tests|plotting|scripts)/[a-z0-9_./-]*\w\.(?:[ch]|py|sh|gp|csv|yaml))\b", text):
                self.assertTrue(os.path.exists(name), f"{path}: {name}")

    def test_links_lead_somewhere(self):
        for path, text in PAGES.items():
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                target, _, part = link.partition("#")
                if re.match(r"\w+:", target):
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
                self.assertTrue(os.path.exists(target), f"{path}: {link}")
                if part and target in TITLES:
                    self.assertIn(part, [anchor(title) for title in TITLES[target]], f"{path}: {link}")

    def test_cited_titles_exist(self):
        n = 0
        for path, text in SOURCES.items():
            text = re.sub(r"\s*\n\s*\* ?", " ", text)
            for page, title in re.findall(r'(docs/[\w-]+\.md), "([^"]+)"', text):
                self.assertIn(page, TITLES, path)
                # a paragraph may begin with its title in bold
                self.assertIn(title, TITLES[page] + re.findall(r"\*\*([^*]+?)[.:]?\*\*", PAGES[page]), f"{path}: {page}")
                n += 1
        self.assertGreater(n, 30)

    def test_index_has_every_page(self):
        listed = re.findall(r"^\| \[([\w./-]+\.md)\]", PAGES["docs/README.md"], re.M)
        pages = {path[len("docs/"):] for path in PAGES if path.startswith("docs/")} - {"README.md"}
        self.assertEqual(sorted(pages | {"CONTRIBUTING.md"}), sorted(listed))


if __name__ == "__main__":
    unittest.main()
