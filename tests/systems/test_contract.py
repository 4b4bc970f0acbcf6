"""What every system keeps to, whichever it is; a registered one without an example here fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.contract import (
    MANY,
    POSTS,
    ContractError,
    check_kind,
    check_names,
    check_neighbours,
    check_nothing,
    check_posts,
    check_rankings,
    check_saving,
    check_system,
    check_visuals,
    visuals,
)
from mathamr.systems.models import OF_OTHERS, load_system, system_of
from mathamr.systems.models import model_folder as encoder
from mathamr.systems.system import SYSTEMS, Encoded, Item, System
from mathamr.systems.text.system import TextSystem
from tests.systems.encoders.examples import (
    embeddings_server,
    tiny_late_interaction,
    tiny_sentence_transformer,
)
from tests.systems.formulamodels import tiny_formula_graph, tiny_ssemb
from tests.systems.tiny import TINY, NodeSystem, WordSystem
from tests.systems.tinytext import tiny_base, tiny_marf, tiny_mathamr, tiny_published_marf
from tests.text.small import small_text_encoder

PARSER = "tests.amr.rule_parser:RuleParser"


@pytest.fixture(autouse=True)
def _tiny_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TINY.items():
        monkeypatch.setitem(SYSTEMS._built_in, name, place)


Folders = dict[str, Callable[[Path], Path]]


def _saved(system: System, folder: Path) -> Path:
    system.save(folder)
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with embeddings_server() as found:
        yield found.address


@pytest.fixture(scope="session")
def folders(model_folder: Path, server: str, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A model folder of every kind of system."""
    base = tiny_base(tmp_path_factory.mktemp("text") / "base")
    return {
        "sentence-transformers": lambda folder: encoder(f"st:{tiny_sentence_transformer(folder / 'st')}"),
        "late-interaction": lambda folder: encoder(f"pylate:{tiny_late_interaction(folder / 'late')}"),
        "embeddings": lambda folder: encoder(f"{server}#words"),
        "mathamr": lambda folder: _saved(tiny_mathamr(base), folder),
        "marf": lambda folder: _saved(tiny_marf(base), folder),
        "marf-paper": lambda folder: _saved(tiny_published_marf(base), folder),
        "mathamrplus": lambda folder: model_folder,
        "text": lambda folder: _saved(TextSystem(small_text_encoder(projection=8)), folder),
        "formula-graph": lambda folder: _saved(tiny_formula_graph(), folder),
        "ssemb": lambda folder: _saved(tiny_ssemb(base), folder),
        "tiny-words": lambda folder: _saved(WordSystem(), folder),
        "tiny-nodes": lambda folder: _saved(NodeSystem(), folder),
    }


KINDS = [*SYSTEMS, *TINY]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, folders: Folders, tmp_path: Path) -> Path:
    assert request.param in folders, f"give the contract an example of the system {request.param}"
    return folders[request.param](tmp_path / "model")


@pytest.fixture
def system(folder: Path) -> System:
    return load_system(folder, "cpu")


def test_a_system_says_what_it_is_before_weights_are_loaded(folder: Path) -> None:
    check_kind(system_of(folder))


def test_rankings_read_fields_that_the_system_has(system: System) -> None:
    check_rankings(system)


def test_posts_come_back_in_order_with_rows_as_the_fields_say(system: System) -> None:
    check_posts(system, PARSER)


def test_visuals_come_back_in_order_with_rows_as_the_fields_say(system: System) -> None:
    check_visuals(system)
    assert len(list(system.encode_visuals(visuals((*POSTS, MANY))))) > 300


def test_what_stands_beside_a_post_does_not_change_it(system: System) -> None:
    check_neighbours(system, PARSER)


def test_the_same_text_under_another_id_has_the_same_vectors(system: System) -> None:
    check_names(system, PARSER)


def test_a_saved_system_loads_to_an_equal_one(system: System, tmp_path: Path) -> None:
    check_saving(system, tmp_path / "again", PARSER)
    if system.kind in OF_OTHERS:
        with pytest.raises(MathAMRError, match=r"which only you can choose.* name it yourself"):
            load_system(tmp_path / "again", "cpu")


def test_nothing_is_encoded_to_nothing(system: System) -> None:
    check_nothing(system)


class Reversed(WordSystem):
    """Yields posts in the wrong order."""

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        yield from reversed(list(super().encode(items)))


class Long(WordSystem):
    """Yields rows of another length than one."""

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        for each in super().encode(items):
            rows = {name: replace(found, vectors=2 * found.vectors) for name, found in each.post.items()}
            yield replace(each, post=rows)


class Placed(WordSystem):
    """Yields vectors that depend on how many posts there are."""

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        found = list(super().encode(items))
        for each in found:
            rows = {
                name: replace(one, vectors=np.roll(one.vectors, len(found), 1))
                for name, one in each.post.items()
            }
            yield replace(each, post=rows)


class Forgetful(WordSystem):
    """Is not the same after it was saved."""

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} {id(self)}"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Reversed, "posts come back once each, in order"),
        (Long, "must have length one"),
        (Placed, "differs"),
        (Forgetful, "another fingerprint|another kind"),
    ],
)
def test_a_system_that_breaks_the_contract_is_told_what_does_not_hold(
    kind: type[System], message: str
) -> None:
    check_system(WordSystem())
    with pytest.raises(ContractError, match=message):
        check_system(kind())
