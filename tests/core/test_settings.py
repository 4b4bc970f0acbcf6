"""Settings: one list for options, the environment and files; the strongest counts, and what is wrong is said."""

from __future__ import annotations

import os
import re
import tracemalloc
from pathlib import Path

import pytest

from mathamr.core import settings
from mathamr.core.errors import MathAMRError
from mathamr.core.settings import CONFIG, DEVICE, EXCLUDE, SETTINGS, folder_settings, user_file

SOURCES = Path(__file__).parents[2] / "src"


def _user(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    monkeypatch.setenv(CONFIG.name, str(file))
    return file


def test_the_environment_counts_more_than_the_file_and_the_file_more_than_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DEVICE.name, raising=False)
    assert (DEVICE.value, DEVICE.given) == ("auto", None)
    file = _user('device = "cpu"\nport = 9000\nexclude = ["a,b/", "*.log"]\n', tmp_path, monkeypatch)
    assert DEVICE.value == "cpu"
    assert settings.PORT.value == "9000"
    assert EXCLUDE.values == ("a,b/", "*.log")
    monkeypatch.setenv(DEVICE.name, "cuda:1")
    monkeypatch.setenv(EXCLUDE.name, "drafts/, old/")
    assert DEVICE.value == "cuda:1"
    assert EXCLUDE.values == ("drafts/", "old/")
    monkeypatch.delenv(DEVICE.name)
    file.write_text('device = "cuda:22"\n', "utf-8")
    assert DEVICE.value == "cuda:22"


def test_the_file_is_where_people_expect_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONFIG.name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert user_file() == tmp_path / "home/.config/mathamr/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert user_file() == tmp_path / "xdg/mathamr/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")  # the standard says to ignore it
    assert user_file() == tmp_path / "home/.config/mathamr/config.toml"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modle = "mathamr-3"', "no setting 'modle'; known: .*Did you mean 'model'"),
        ('api_key = "abc"', "api_key is a secret; set MATHAMR_API_KEY in the environment"),
        ("device = [1]", "device must be a text or a whole number"),
        ("exclude = [1]", "exclude must be a list of texts"),
        ("port = true", "port must be a text or a whole number"),
        ("device = ", "not TOML"),
        ("[macros]\nR = '\\mathbb R'", r"macros belong to notes; write them into the mathamr\.toml"),
    ],
)
def test_a_file_that_is_wrong_says_what_and_where(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _user(text, tmp_path, monkeypatch)
    monkeypatch.delenv(DEVICE.name, raising=False)
    with pytest.raises(MathAMRError, match=f"^{re.escape(str(file))}: {said}"):
        _ = DEVICE.value


def test_notes_choose_only_how_they_are_indexed(tmp_path: Path) -> None:
    file = tmp_path / "mathamr.toml"
    file.write_text("exclude = 'drafts/'\n[macros]\nR = '\\mathbb R'\n", "utf-8")
    assert folder_settings(tmp_path) == {"exclude": "drafts/"}
    for each in SETTINGS:
        if not each.local:
            file.write_text(f'{each.key} = "x"\n', "utf-8")
            with pytest.raises(MathAMRError, match=f"{each.key} is set in your own configuration file"):
                folder_settings(tmp_path)


@pytest.mark.parametrize(
    "text", [".".join("a" * 30_000) + " = 1", "a = " + "[" * 30_000, "a = " + "9" * 5_000]
)
def test_a_file_of_a_stranger_that_nests_without_end_is_refused_at_once(text: str, tmp_path: Path) -> None:
    (tmp_path / "mathamr.toml").write_text(text, "utf-8")
    tracemalloc.start()
    try:
        with pytest.raises(MathAMRError, match="not TOML"):
            folder_settings(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_a_pipe_in_the_place_of_the_settings_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mathamr.toml")
    with pytest.raises(MathAMRError, match="not a plain file"):
        folder_settings(tmp_path)


def test_every_variable_that_the_product_reads_is_declared() -> None:
    named = {
        name
        for file in SOURCES.rglob("*.py")
        for name in re.findall(r"\bMATHAMR_[A-Z_]+[A-Z]\b", file.read_text("utf-8"))
    }
    assert named - {"MATHAMR_COMPLETE"} <= {each.name for each in SETTINGS}
