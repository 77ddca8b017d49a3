"""A folder in `results/` that has results, a page and pictures which follow from them: what each decision is worth, and
what was simulated. Publishing, writing anew and checking are alike for both."""

import glob
import os
from dataclasses import dataclass
from typing import Callable

from ..command import source_line
from ..complaint import CANNOT_CREATE, Complaint
from ..files import replace
from .kept import keep_all
from .texts import AGAIN

_PAGE = "README.md"


@dataclass(frozen=True)
class Folder:
    name: str
    # From the program and paths to facts, from facts to the text of the page, and from facts and a folder to pictures.
    read: Callable
    page: Callable
    draw: Callable
    # The files of the pictures.
    pictures: tuple

    def publish(self, program, paths, root):
        """Puts results in the place of those that are there, and makes the page and the pictures of them."""
        # Refuses, before anything is written, what the page cannot be made of.
        self.page(self.read(program, paths))
        folder = os.path.join(root, self.name)
        try:
            keep_all(paths, folder)
            self.write(program, root)
        except OSError as error:
            raise Complaint(CANNOT_CREATE, f"cannot write into {folder}: {error.strerror or error}") from None

    def write(self, program, root):
        """The page and the pictures; nothing where there are no such results."""
        if paths := self._kept(root):
            facts = self.read(program, paths)
            text = self.page(facts)
            self.draw(facts, os.path.join(root, self.name), source_line(facts.sources))
            replace(os.path.join(root, self.name, _PAGE), text)

    def disagreements(self, program, root):
        """Returns a line for each; none where all agree, or where there are no such results."""
        paths, folder = self._kept(root), os.path.join(root, self.name)
        if not paths:
            shown = os.path.exists(os.path.join(folder, _PAGE))
            return [f"{self.name}/{_PAGE} shows results, but there is no {self.name}/*.csv.gz"] if shown else []
        facts = self.read(program, paths)
        lines = []
        if _text(os.path.join(folder, _PAGE)) != self.page(facts):
            lines.append(f"{self.name}/{_PAGE} is not what the rows beside it say; {AGAIN}")
        for name in self.pictures:
            drawn = _text(os.path.join(folder, name)) or ""
            if any(source.digest not in drawn for source in facts.sources):
                lines.append(f"{self.name}/{name} was not made from the rows beside it; {AGAIN}")
        return lines

    def _kept(self, root):
        return sorted(glob.glob(os.path.join(glob.escape(root), self.name, "*.csv.gz")))


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
