"""`Variables`: the section variables in force, and those that a statement uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mathamr.posts.formats.lean.brackets import Binder, identifiers

_OWN_NAMES = re.compile(r"[({⦃]([^:(){}\[\]⦃⦄]*):")
"""The names that the binders of a statement bind."""
MOST_BINDERS = 40
"""The largest number of section variables that are written before a statement."""
MOST_CHECKED = 400
"""The largest number of instance binders that are tried for a statement."""


class Variables:
    """Binders of `variable` commands; `mark` and `back_to` open and close a section.

    >>> variables = Variables()
    >>> variables.add([Binder("{", ("G", "H"), "Type*"), Binder("[", (), "Group G"), Binder("[", (), "Group H")])
    >>> [binder.text for binder in variables.used_in("(a : G) : a = a")]
    ['{G : Type*}', '[Group G]']
    >>> variables.add([Binder("{", ("x",), "G")])
    >>> [binder.text for binder in variables.used_in("True")]
    []
    """

    def __init__(self) -> None:
        self._binders: list[Binder] = []
        self._uses: list[set[str]] = []
        """The identifiers of each binder's type."""
        self._places: dict[str, int] = {}
        self._instances: dict[str, list[int]] = {}
        """The numbers of the instance binders whose type contains a name."""
        self._included: dict[str, None] = {}
        self._undo: list[tuple[str, str, int | Binder | None]] = []

    @property
    def names(self) -> Collection[str]:
        """The names of the variables."""
        return self._places.keys()

    def mark(self) -> int:
        """Return the state, for `back_to`."""
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Forget what was added since a mark."""
        while len(self._undo) > mark:
            action, name, old = self._undo.pop()
            if action == "binder":
                self._binders.pop()
                self._uses.pop()
            elif action == "instance":
                self._instances[name].pop()
            elif action == "include":
                self._included.pop(name, None)
            elif action == "replace" and isinstance(old, Binder):
                self._binders[int(name)] = old
            elif isinstance(old, int):
                self._places[name] = old
            else:
                self._places.pop(name, None)

    def add(self, binders: Iterable[Binder]) -> None:
        """Add the binders of a `variable` command; a name without a type changes the brackets of a known one."""
        for binder in binders:
            if not binder.type and binder.names and all(name in self._places for name in binder.names):
                for name in binder.names:
                    place = self._places[name]
                    old = self._binders[place]
                    self._undo.append(("replace", str(place), old))
                    self._binders[place] = Binder(binder.bracket, old.names, old.type)
                continue
            place = len(self._binders)
            self._binders.append(binder)
            uses = identifiers(binder.type)
            self._uses.append(uses)
            self._undo.append(("binder", "", None))
            for name in binder.names:
                self._undo.append(("name", name, self._places.get(name)))
                self._places[name] = place
            if binder.bracket == "[":
                for name in uses:
                    if name in self._places:
                        self._instances.setdefault(name, []).append(place)
                        self._undo.append(("instance", name, None))

    def include(self, names: Iterable[str]) -> None:
        """Let every later statement use these variables."""
        for name in names:
            if name in self._places and name not in self._included:
                self._included[name] = None
                self._undo.append(("include", name, None))

    def used_in(self, statement: str, omitted: frozenset[str] = frozenset()) -> list[Binder]:
        """Return the binders that a statement uses, in order: named ones, what their types need, and instances on those alone."""
        places, uses = self._places, self._uses
        if not places:
            return []
        own = {name for names in _OWN_NAMES.findall(statement) for name in names.split()}
        waiting = [name for name in identifiers(statement) - own if name in places]
        waiting += [name for name in self._included if name in places]
        names: set[str] = set()
        chosen: set[int] = set()
        while waiting and len(chosen) < MOST_BINDERS:
            name = waiting.pop()
            if name not in names:
                names.add(name)
                if places[name] not in chosen:
                    chosen.add(places[name])
                    waiting += [used for used in uses[places[name]] if used in places]
        candidates: dict[int, None] = {}
        for name in sorted(names):
            candidates.update(dict.fromkeys(self._instances.get(name, ())[:MOST_CHECKED]))
        for place in list(candidates)[:MOST_CHECKED]:
            if len(chosen) < MOST_BINDERS and uses[place] & places.keys() <= names:
                chosen.add(place)
        found = (_only(self._binders[place], names) for place in sorted(chosen))
        return [binder for binder in found if binder.text not in omitted]


def _only(binder: Binder, names: set[str]) -> Binder:
    """Return a binder without the names that are not used."""
    if len(binder.names) < 2 or names.issuperset(binder.names):
        return binder
    return Binder(binder.bracket, tuple(name for name in binder.names if name in names), binder.type)
