"""The lints find what they are there for: each case is a tiny tree with one fault, and one without."""
import os
import subprocess
import tempfile
import unittest

ROOT = os.getcwd()
HEADER = "/* One. */\n#ifndef BASE_A_H\n#define BASE_A_H\n\nint a_one(void);\n\n#endif\n"
SOURCE = '/* One. */\n#include "base/a.h"\n\n#include <stddef.h>\n#include <stdio.h>\n\nint a_one(void)\n{\n    return 1;\n}\n'
ROOMS = "".join(f"| `{room}/` | one subject |\n" for room in ("base", "costmodel/low", "costmodel/high", "results", "dse"))


class Lints(unittest.TestCase):
    def lint(self, name, files, **env):
        """Exit status and output of scripts/check-NAME in a tree that holds base/a.h, base/a.c and `files`."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {"base/a.h": HEADER, "base/a.c": SOURCE, "CONTRIBUTING.md": ROOMS, **files}.items():
                path = os.path.join(folder, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            if name in ("globals", "unused"):
                subprocess.run("for f in base/*.c; do gcc -fopenmp -I. -c $f || exit; done && ar rcs lib.a *.o", shell=True, check=True,
                               cwd=folder)
            done = subprocess.run([f"{ROOT}/scripts/check-{name}"], cwd=folder, check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "LIBRARY": "lib.a", **env})
        return done.returncode, done.stdout

    def expect(self, name, files, message, **env):
        code, output = self.lint(name, files, **env)
        self.assertEqual(code != 0, message is not None, output)
        if message:
            self.assertIn(message, output)

    def test_includes(self):
        bad = SOURCE.replace
        self.expect("includes", {}, None)
        self.expect("includes", {"base/a.c": bad("<stdio.h>", '"costmodel/b.h"')}, "base/ must not include costmodel/b.h")
        low, high = {"costmodel/low/l.h": "#define L\n"}, {"costmodel/high/h.h": "#define H\n"}
        self.expect("includes", {**low, "costmodel/high/h.c": '#include "costmodel/low/l.h"\n'}, None)
        self.expect("includes", {**high, "costmodel/low/l.c": '#include "costmodel/high/h.h"\n'},
                    "costmodel/low/ must not include costmodel/high/h.h: costmodel/high/ comes after it")
        self.expect("includes", {"costmodel/cellar/c.c": "int c;\n"}, "costmodel/cellar/: not in the table of rooms")
        self.expect("includes", {f"base/f{i}.c": "int f;\n" for i in range(39)}, "base/: 41 files; at most 40")
        self.expect("includes", {"dse/a.c": "int a;\n"}, "dse/a.c: base/a.c has the same name")
        self.expect("includes", {"results/r.c": '#include "costmodel/b.h"\n'}, "results/ must not include")
        self.expect("includes", {"base/a.c": bad("<stdio.h>", '"base/no.h"')}, "base/no.h does not exist")
        self.expect("includes", {"base/a.c": bad("<stdio.h>", '"base/a.h"')}, "mixed")
        self.expect("includes", {"base/a.c": bad('#include "base/a.h"\n\n', "")}, "comes first")
        self.expect("includes", {"base/b.c": '#include "base/a.h"\n\n#include <stdio.h>\n'}, None)
        self.expect("includes", {"dse/b.c": '#include "base/a.h"\n\n#include <stdio.h>\n'}, "come before project")
        self.expect("includes", {"base/b.c": '#include <stdio.h>\n\n#include <stddef.h>\n'}, "one block each")
        self.expect("includes", {"tests/base/test_a.c": '#include <stdio.h>\n\n#include "base/a.h"\n'}, None)
        self.expect("includes", {"base/a.c": SOURCE + "#ifdef X\n#include <omp.h>\n#endif\n"}, None)

    def test_globals(self):
        def with_line(line):
            return {"base/a.c": SOURCE.replace("int a_one(void)\n{", f"{line}\n\nint a_one(void)\n{{")}
        self.expect("globals", {}, None)
        self.expect("globals", with_line("extern const char *const names[];\nconst char *const names[] = {\"a\"};"), None)
        self.expect("globals", with_line("int counter;"), "counter is mutable")
        self.expect("globals", with_line("int counter = 3;"), "counter is mutable")
        self.expect("globals", with_line("_Thread_local int counter;"), "counter is mutable")
        in_function = SOURCE.replace("return 1;", "static int calls;\n    return ++calls;")
        self.expect("globals", {"base/a.c": in_function}, "is mutable (.bss)")

    def test_unused(self):
        main = {"dse/main.c": "int main(void)\n{\n    return a_one();\n}\n"}
        two = SOURCE + "\nint two(void)\n{\n    return 2;\n}\n"
        test = {"tests/base/test_a.c": "int main(void)\n{\n    return two() - 2;\n}\n"}
        self.expect("unused", main, None)
        self.expect("unused", {}, "base/a.c: a_one is used by nobody")
        self.expect("unused", {"dse/main.c": "/* a_one */\n"}, "a_one is used by nobody")
        self.expect("unused", {**main, "base/a.c": two, **test}, "base/a.c: two is used by tests only")
        self.expect("unused", {**main, "base/a.c": two, "base/b.c": "int two(void);\nint b(void)\n{\n    return two() + b();\n}\n"},
                    "base/b.c: b is used here only: make it static")
        own = {"base/a.c": "int two(void);\n" + two.replace("return 1;", "return two();")}
        self.expect("unused", {**main, **own}, "two is used here only: make it static")
        self.expect("unused", {**main, **own, **test}, None)

    def test_headers(self):
        self.expect("headers", {}, None, COMPILE="gcc -I.")
        self.expect("headers", {"base/a.h": HEADER.replace("int a", "size_t a")}, "size_t", COMPILE="gcc -I.")
        self.expect("headers", {"base/b.h": HEADER}, "the guard should be BASE_B_H", COMPILE="gcc -I.")

    def test_tests(self):
        own = {"tests/base/test_a.c": "/* One. */\n"}
        self.expect("tests", own, None)
        self.expect("tests", {}, "base/a.c: no test in tests/base/ is its own")
        self.expect("tests", {**own, "base/b.c": SOURCE, "tests/base/test_c.sh": "#!/bin/sh\n# What\n# for. Tests: a.c,\n# b.c.\n"}, None)
        self.expect("tests", {"tests/base/test_c.py": '#!/usr/bin/python3\n"""For.\nTests: a.c."""\n'}, None)
        self.expect("tests", {**own, "tests/base/test_c.c": "/* C. */\n"}, "test_c.c: whose test is it?")
        self.expect("tests", {"tests/base/test_a.c": "/* Tests: b.c. */\n"}, "Tests: base/b.c does not exist")

    def test_text(self):
        self.expect("text", {}, None)
        self.expect("text", {"base/a.c": SOURCE + "/* TO" + "DO: more */\n"}, "left-over marker")
        for path, text in ("base/a.c", SOURCE), ("base/a.h", HEADER):
            self.expect("text", {path: text.replace("/* One. */\n", "")}, f"{path}:1: a comment in the first line")
        self.expect("text", {"base/a.c": SOURCE + "\tint x;\n"}, "tab")
        self.expect("text", {"base/a.c": SOURCE + "int x; \n"}, "white space at the end")
        self.expect("text", {"base/a.c": SOURCE + "int x;\n" * 600}, "at most 600")
        self.expect("text", {"base/a.c": SOURCE + "/* " + "x" * 110 + " */\n"}, "116 columns; at most 110")
        self.expect("text", {"base/a.c": SOURCE.rstrip()}, "no newline")


if __name__ == "__main__":
    unittest.main()
