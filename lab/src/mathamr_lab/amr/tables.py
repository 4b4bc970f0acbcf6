"""Compiles the tables of the package, of frames and of lemmas: `python -m mathamr_lab.amr.tables`."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

from mathamr.amr.builtin import lemmas
from mathamr.amr.builtin.frames import TABLE, is_frame
from mathamr_lab.amr.corpus import amr_folder
from mathamr_lab.amr.syntax import Analyser

HEADER = (
    "# Compiled from PropBank frame files (CC BY-SA 4.0, github.com/propbank/propbank-frames) and the AMR\n"
    "# verbalisation and relation lists of Ulf Hermjakob, USC/ISI (amr.isi.edu/download.html).\n"
)
LEMMAS_HEADER = "# Irregular forms and base forms of WordNet (Princeton University, WordNet licence), from spaCy's lookup tables (MIT).\n"
SHORT_ADJECTIVE = 8
"""Longer adjectives have no ending for comparison."""
PLURAL_LIKE = ("se", "ve", "xe", "ze", "che", "she", "ie", "man")
"""Endings of the nouns in the table: their plurals look like those of shorter nouns ("house", but "bus")."""
_DESCRIPTION = re.compile(r"  ARG([0-9])(?:-[a-z]+)?:")


def frame_lines(folder: Path) -> list[str]:
    """Return one line per sense: its name, its arguments and the words (with part of speech) that can stand for it."""
    roles: dict[str, str] = {}
    aliases: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "propbank-amr-frames-arg-descr.txt").read_text(encoding="utf-8").splitlines():
        if line.strip():
            name = line.split("  ")[0].strip()
            roles[name] = "".join(sorted(set(_DESCRIPTION.findall(line))))
            stem = name.rpartition("-")[0]
            aliases[name].add(f"{stem}/v")
    with gzip.open(folder / "propbank-frames.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            name = row["roleset"].replace(".", "-").replace("_", "-")
            if not is_frame(name):
                continue
            roles.setdefault(name, "".join(sorted(role for role in row["roles"] if role.isdigit())))
            named = {f"{word.lower().replace('_', '-')}/{letter}" for word, letter in row["aliases"]}
            stem = name.rpartition("-")[0]
            if named and f"{stem}/v" not in named:
                aliases[name].discard(f"{stem}/v")
            aliases[name] |= {alias for alias in named if alias[-1] in "vnjr"}
    return [
        f"F\t{name}\t{roles[name]}\t{' '.join(sorted(aliases[name]))}"
        for name in sorted(roles, key=lambda name: (name.rpartition("-")[0], int(name.rpartition("-")[2])))
    ]


def derivation_lines(folder: Path, known: set[str]) -> list[str]:
    """Return nouns and adjectives that hide a frame, and the nouns of family and company relations."""
    derived: dict[str, str] = {}
    for line in (folder / "morph-verbalization-v1.01.txt").read_text(encoding="utf-8").splitlines():
        pairs = dict(re.findall(r'::(DERIV-[A-Z-]+) "([^"]+)"', line))
        verb = pairs.get("DERIV-VERB", "")
        if f"{verb}-01" in known:
            if "DERIV-NOUN" in pairs:
                derived.setdefault(pairs["DERIV-NOUN"], f"{verb}-01")
            if "DERIV-NOUN-ACTOR" in pairs:
                derived.setdefault(pairs["DERIV-NOUN-ACTOR"], f"person :ARG0-of {verb}-01")
    refused = set()
    for line in (folder / "verbalization-list-v1.06.txt").read_text(encoding="utf-8").splitlines():
        order, _, rest = line.partition(" ")
        word, _, target = rest.partition(" TO ")
        if order == "DO-NOT-VERBALIZE":
            refused.add(word)
        elif order.endswith("VERBALIZE") and len(target.split()) in (1, 3):
            derived[word] = target
    for word in refused:
        derived.pop(word, None)
    lines = [f"D\t{word}\t{target}" for word, target in sorted(derived.items())]
    for line in (folder / "have-rel-role-91-roles-v1.06.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("USE-HAVE-REL-ROLE-91-ARG2 "):
            lines.append(f"R\t{line.split(' ', 1)[1].split(' :')[0].strip()}")
    return lines


def lemma_lines() -> list[str]:
    """Return irregular forms, and the base forms that decide between endings, from the lookup tables of spaCy's model."""
    tables = Analyser().lemma_tables()
    lines = []
    for letter, kind in {"n": "noun", "v": "verb", "j": "adj", "r": "adv"}.items():
        for form, bases in sorted(tables["lemma_exc"].get(kind, {}).items()):
            if form.isalpha() and form.islower() and bases[0] != form:
                lines.append(f"{letter}\t{form}\t{bases[0]}")
    known = tables["lemma_index"]
    kept = {
        "n": [word for word in known["noun"] if word.endswith(PLURAL_LIKE)],
        "v": list(known["verb"]),
        "j": [word for word in known["adj"] if len(word) <= SHORT_ADJECTIVE],
    }
    for letter, words in kept.items():
        lines.append(
            f"={letter}\t{' '.join(sorted(word for word in words if word.isalpha() and word.islower()))}"
        )
    return lines


def write(path: Path, header: str, lines: list[str]) -> None:
    """Write one table."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress((header + "\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0))
    print(f"{len(lines)} lines, {path.stat().st_size / 1e6:.2f} MB: {path}")


def main() -> None:
    """Write the tables."""
    folder = amr_folder()
    frames = frame_lines(folder)
    write(TABLE, HEADER, frames + derivation_lines(folder, {line.split("\t")[1] for line in frames}))
    write(lemmas.TABLE, LEMMAS_HEADER, lemma_lines())


if __name__ == "__main__":
    main()
