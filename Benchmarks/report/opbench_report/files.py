"""Files are written beside their place and renamed: whoever reads one sees the old one or the new one, whole."""

import os


def replace(path, content):
    """Puts bytes or text into a file."""
    fresh = f"{path}.new"
    try:
        with open(fresh, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        os.replace(fresh, path)
    except OSError:
        if os.path.exists(fresh):
            os.remove(fresh)
        raise
