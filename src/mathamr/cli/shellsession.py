"""`ShellSession`: the state of `mathamr shell` and its answer to each line."""

from __future__ import annotations

from dataclasses import replace

from rich.text import Text

from mathamr.cli.hitdisplay import show_hits
from mathamr.cli.safeconsole import SafeConsole
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.engines.entry import Filter
from mathamr.posts.postkind import KINDS
from mathamr.search.searcher import Index
from mathamr.systems.ranking import TASKS, Task

HELP = """A line is a query: text with $latex$, a formula alone, or a label; it may have conditions: "exact phrase", -word,
title:word, tag:name, kind:name, in:folder. Lines that begin with a colon:
  :kind theorem lemma    only these kinds; :kind alone for all
  :folder chapters       only files in these folders; :folder alone for all
  :tag analysis          only posts with all of these tags
  :task formulas         search for formulas; :task answers for posts
  :strategy maxsim       rank by another strategy
  :k 5                   number of hits
  :more                  the next hits
  :help                  this help; :quit or Ctrl-D ends the session
"""


class ShellSession:
    """Filters, task, strategy and number of hits, and the last query for `:more`."""

    def __init__(self, index: Index, editor: str | None = None, console: SafeConsole | None = None) -> None:
        self._index, self._editor = index, editor
        self._console = console or SafeConsole()
        self._where = Filter()
        self._folders: tuple[str, ...] = ()
        self._task: Task = index.tasks[0]
        self._strategy: str | None = None
        self._k = 10
        self._query, self._offset = "", 0

    def take(self, line: str) -> bool:
        """Answer one line; False ends the session."""
        words = line.split()
        if not words:
            return True
        try:
            if words[0] in (":quit", ":q", ":exit"):
                return False
            if words[0].startswith(":"):
                self._change(words[0][1:], words[1:])
            else:
                self._query, self._offset = line.strip(), 0
                self._search()
        except MathAMRError as error:
            self._console.print(Text(str(error), style="red"))
        return True

    def _change(self, name: str, values: list[str]) -> None:
        if name == "kind":
            for value in values:
                if value not in KINDS:
                    raise UnknownNameError("kind of post", value, list(KINDS))
            self._where = replace(self._where, kinds=tuple(values))
        elif name == "tag":
            self._where = replace(self._where, tags=tuple(values))
        elif name == "folder":
            self._index.within(values)
            self._folders = tuple(values)
        elif name == "task":
            wanted = values[0] if values else self._index.tasks[0]
            if wanted not in TASKS:
                raise UnknownNameError("task", wanted, list(TASKS))
            self._task = next(each for each in TASKS if each == wanted)
        elif name == "strategy":
            self._index.ranking(self._task, values[0] if values else None)
            self._strategy = values[0] if values else None
        elif name == "k":
            if not (values and values[0].isdecimal() and 0 < int(values[0]) <= 1000):
                raise MathAMRError(":k takes a number from 1 to 1000")
            self._k = int(values[0])
        elif name == "more" and self._query:
            self._offset += self._k
            self._search()
        elif name == "help":
            self._console.print(HELP, markup=False)
        else:
            raise UnknownNameError(
                "command",
                f":{name}",
                [":kind", ":folder", ":tag", ":task", ":strategy", ":k", ":more", ":help", ":quit"],
            )

    def _search(self) -> None:
        where = self._index.within(self._folders, self._where)
        hits = self._index.search(
            self._query,
            self._task,
            self._strategy,
            self._k,
            offset=self._offset,
            where=where,
            group="document" if self._task == "answers" else None,
        )
        show_hits(hits, self._console, self._editor)
