"""What went wrong in one line, with the exit code of sysexits.h that a script can act on."""

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
