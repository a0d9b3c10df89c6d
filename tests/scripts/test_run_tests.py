"""scripts/run-tests counts what programs report, and never takes a broken one for a good one."""
import os
import subprocess
import tempfile
import unittest

CASES = {
    # name: (shell text, passed, failed)
    "two-cases-pass": ("echo '[ RUN      ] a'; echo '[       OK ] a'; echo '[ RUN      ] b'; echo '[       OK ] b'", 2, 0),
    "one-of-two-fails": ("echo '[ RUN      ] a'; echo '[       OK ] a'; echo '[ RUN      ] b'; exit 1", 1, 1),
    "crash-at-the-end": ("echo '[ RUN      ] a'; echo '[       OK ] a'; kill -SEGV $$", 1, 1),
    "crash-before-any": ("kill -ABRT $$", 0, 1),
    "fails-with-status-0": ("echo '[ RUN      ] a'; echo '[  FAILED  ] a'", 0, 1),
    "skipped-case": ("echo '[ RUN      ] a'; echo '[  SKIPPED ] a'", 0, 0),
    "plain-script": ("exit 0", 1, 0),
    "plain-script-fails": ("exit 3", 0, 1),
    "plain-script-skips": ("exit 77", 0, 0),
    "unittest": ("echo 'Ran 5 tests in 0.1s'; echo 'FAILED (failures=1, errors=1, skipped=1)'; exit 1", 2, 2),
    "hangs": ("sleep 100", 0, 1),
}


class RunTests(unittest.TestCase):
    def run_programs(self, *paths):
        done = subprocess.run(["scripts/run-tests", "--jobs", "2", "--timeout", "2", *paths],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout, done.returncode

    def test_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            total = [0, 0]
            paths = []
            for name, (text, passed, failed) in CASES.items():
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\n" + text + "\n")
                os.chmod(path, 0o755)
                paths.append(path)
                total = [total[0] + passed, total[1] + failed]
                if name != "hangs":
                    with self.subTest(name):
                        output, code = self.run_programs(path)
                        self.assertEqual(output.splitlines()[-1], f"{passed} passed, {failed} failed")
                        self.assertEqual(code, 1 if failed else 0)
            output, code = self.run_programs(*paths)
            self.assertEqual(output.splitlines()[-1], f"{total[0]} passed, {total[1]} failed")
            self.assertIn("timed out after 2 s", output)
            self.assertIn("killed by SIGSEGV", output)
            self.assertEqual(code, 1)

    def test_a_missing_program_fails(self):
        output, code = self.run_programs("/no/such/program")
        self.assertEqual((output.splitlines()[-1], code), ("0 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
