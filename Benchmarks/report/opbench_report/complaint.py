"""What went wrong in one line, with the exit code of sysexits.h that a script can act on."""

import os
import sys

USAGE = 64
BAD_INPUT = 65
NO_INPUT = 66
UNAVAILABLE = 69
SOFTWARE = 70
CANNOT_CREATE = 73


class Complaint(Exception):
    """Ends the program with one line and a code."""

    def __init__(self, code, message):
        super().__init__(" ".join(str(message).split()))
        self.code = code


def exit_code(name, run):
    """Runs a program and returns its exit code. What goes wrong is one line, which begins with the program's name."""
    try:
        return run() or 0
    except Complaint as complaint:
        print(f"{name}: {complaint}", file=sys.stderr)
        return complaint.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python writes what is left once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
