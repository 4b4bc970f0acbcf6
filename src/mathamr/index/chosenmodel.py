"""Which model an index is opened with: its own from the box or of our kind, an encoder of other people only if the user names it.

An index may come from anybody. It may name a model in the box and the folder of a model of our own kind, whose files describe no
operations (`docs/secure.md`). An encoder of other people is code that a library chooses by the encoder's files, or a server that
receives queries, so the index says only which one it was made with, and the user must name the same.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import CONFIG
from mathamr.core.settings import ENCODER
from mathamr.index.manifest import Manifest, ModelRecord
from mathamr.systems.models import OF_OTHERS, boxed_folder, is_encoder, model_folder, named_folder, system_of
from mathamr.systems.system import System


class NotChosenError(MathAMRError):
    """Raised for an encoder of other people that the user has not named, or that is not the one of the index."""


def chosen_model(recorded: ModelRecord, named: Path | str | None) -> Path | str | None:
    """Return the model that the user names or, if it may, the one that the index names.

    The fingerprint of an encoder of other people is compared here, before anything of it is loaded or asked.
    """
    if named is None:
        if not _is_of_others(recorded):
            return recorded_model(recorded)
        named = ENCODER.value or None
        if named is None:
            raise _not_named(recorded)
    folder = model_folder(named)
    system = system_of(folder)
    if recorded.system in OF_OTHERS or system.kind in OF_OTHERS:
        found = system.fingerprint_of(folder)
        if (system.kind, found) != (recorded.system, recorded.fingerprint):
            raise NotChosenError(
                f"the index was made with the model {recorded.name} ({recorded.fingerprint}), and {named} is another or has"
                f" changed ({found or system.kind}), so it is not loaded; name its own with --model, or change the index with: mathamr index"
                " --out INDEX --model MODEL --rebuild"
            )
    return named


def recorded_model(recorded: ModelRecord) -> Path | None:
    """Return the folder of an index's model, or the built-in model of that name; encoders of other people are refused."""
    if _is_of_others(recorded):
        raise _not_named(recorded)
    if recorded.folder is None:
        return named_folder(recorded.name)
    folder = Path(recorded.folder)
    if (folder / CONFIG).is_file() and system_of(folder).kind in OF_OTHERS:
        raise _not_named(recorded)
    return folder


def check_model(manifest: Manifest, system: System, folder: Path) -> None:
    """Raise an error if the vectors of the index come from another model."""
    recorded = manifest.model
    if system.fingerprint != recorded.fingerprint or system.kind != recorded.system:
        if recorded.folder is None and recorded.name == system.name:
            raise MathAMRError(
                f"the vectors of the index {folder} were made with other weights of {recorded.name}"
                f" ({recorded.fingerprint}) than this version of mathamr brings ({system.fingerprint}); make them again"
                f" with: mathamr index --out {folder} --rebuild (graphs and words are kept; until then --strategy"
                " lexical searches by words)"
            )
        if recorded.folder is None and boxed_folder(recorded.name) is None:
            raise MathAMRError(
                f"the index {folder} was made with the model {recorded.name}, which this version of mathamr does not bring;"
                f" make its vectors with another model: mathamr index --out {folder} --model {system.name} --rebuild"
                " (graphs and words are kept)"
            )
        raise MathAMRError(
            f"the index {folder} was made with the model {recorded.name} ({recorded.fingerprint}), not with"
            f" {system.name} ({system.fingerprint}); name its own model with --model"
            + (f" (it was in {recorded.folder})" if recorded.folder else "")
            + f", or change the index to this one with: mathamr index --out {folder} --model MODEL --rebuild"
        )


def _is_of_others(recorded: ModelRecord) -> bool:
    return recorded.system in OF_OTHERS or (recorded.folder is None and is_encoder(recorded.name))


def _not_named(recorded: ModelRecord) -> NotChosenError:
    return NotChosenError(
        f"the index was made with {recorded.name}, an encoder of other people, which would run on this machine or receive the text of posts and"
        f" queries, so an index cannot choose it; it is used only if you name it yourself: --model {quote(recorded.name)},"
        f" or {ENCODER.name} (--strategy lexical searches by words without it)"
    )
