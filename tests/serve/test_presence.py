from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mathamr.serve.presence import _file, announced, server_of


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_a_server_is_found_while_it_runs_and_by_the_same_index_only(tmp_path):
    assert server_of(tmp_path / "index") is None
    with announced(tmp_path / "index", "http://127.0.0.1:8080"):
        assert server_of(tmp_path / "index") == "http://127.0.0.1:8080"
        assert server_of(tmp_path / "runtime" / ".." / "index") == "http://127.0.0.1:8080"
        assert server_of(tmp_path / "other") is None
    assert server_of(tmp_path / "index") is None


def test_nothing_is_written_into_the_index(tmp_path):
    index = tmp_path / "index"
    index.mkdir()
    with announced(index, "http://127.0.0.1:8080"):
        assert list(index.iterdir()) == []


@pytest.mark.parametrize(
    "told",
    [
        {"address": "http://example.org:80", "process": os.getpid()},
        {"address": "file:///etc/passwd", "process": os.getpid()},
        {"address": "http://127.0.0.1:8080", "process": 2**30},
        {"address": "http://127.0.0.1@example.org:80", "process": os.getpid()},
        {"process": os.getpid()},
        "nonsense",
    ],
)
def test_addresses_of_other_machines_and_processes_that_ended_are_not_believed(tmp_path, told):
    file = _file(tmp_path / "index")
    assert file is not None
    file.write_text(json.dumps(told))
    assert server_of(tmp_path / "index") is None


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, runtime):
    (runtime / "mathamr").mkdir()
    (runtime / "mathamr").chmod(0o777)
    with announced(tmp_path / "index", "http://127.0.0.1:8080"):
        assert server_of(tmp_path / "index") is None


def test_a_later_server_of_the_index_is_not_forgotten_when_an_earlier_one_ends(tmp_path):
    with announced(tmp_path / "index", "http://127.0.0.1:1"):
        file = _file(tmp_path / "index")
        assert file is not None
        file.write_text(json.dumps({"address": "http://127.0.0.1:2", "process": os.getpid()}))
    assert server_of(tmp_path / "index") == "http://127.0.0.1:2"
