#!/usr/bin/env python3
"""Six kill -9 at random moments of sweeps and merges; `make hammer` does 200 (tests/hammer/kill.py).
Tests: runner.c, run_resume.c."""
import os
import sys

KILL = os.path.join(os.getcwd(), "tests", "hammer", "kill.py")
os.execv(sys.executable, [sys.executable, "-B", KILL, "6"])
