from __future__ import annotations

import pytest

from mathamr.core.errors import UnknownNameError
from mathamr.search.editors import EDITORS, address_in


@pytest.mark.parametrize("editor", EDITORS)
def test_every_editor_opens_the_file_and_no_sign_of_its_name_is_taken_for_the_address(editor):
    address = address_in(editor, "/home/ada/a b&line=9#c?.md", 7)
    assert address is not None
    assert " " not in address
    assert "#" not in address
    assert "&line=9" not in address
    assert "ada" in address
    assert ("7" in address) == ("{line}" in EDITORS[editor])


def test_an_address_of_ones_own_will_do_and_an_unknown_name_lists_the_known():
    assert address_in("my://{path}@{line}", "/a/b.tex", 3) == "my:///a/b.tex@3"
    with pytest.raises(UnknownNameError, match="vscode"):
        address_in("vscod", "/a/b.tex")
    with pytest.raises(UnknownNameError):
        address_in("x://{path}{evil}", "/a")


def test_what_is_no_file_has_no_address():
    assert address_in("vscode", "forum") is None
