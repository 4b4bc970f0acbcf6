"""The script that cuts arqmath-mini by its list of posts."""

import subprocess
import sys
import zlib
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "cut_arqmath.py"
WANTED = SCRIPT.with_name("arqmath-mini.txt").read_text(encoding="utf-8").split()


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True)


def test_posts_of_the_list_are_cut_out_of_a_dump_and_missing_ones_are_told(tmp_path: Path) -> None:
    rows = "".join(
        f'<row Id="{post}" Body="&lt;p&gt;{post}&lt;/p&gt;"/>' for post in (*WANTED[:3], "1000000000")
    )
    (tmp_path / "Posts.xml").write_text(f"<posts>{rows}</posts>", encoding="utf-8")
    found = run(tmp_path / "Posts.xml", tmp_path / "out.xml")
    assert found.returncode == 1
    assert found.stdout.startswith("3 of 6,164 posts")
    written = (tmp_path / "out.xml").read_text(encoding="utf-8")
    assert [f'Id="{post}"' in written for post in (*WANTED[:3], "1000000000")] == [True, True, True, False]
    assert "&lt;p&gt;" in written


def test_a_folder_that_breaks_the_rules_is_told(tmp_path: Path) -> None:
    held = next(post for post in WANTED if zlib.crc32(post.encode()) % 4 == 0)
    (tmp_path / "Posts.xml").write_text(f'<posts><row Id="{held}"/></posts>', encoding="utf-8")
    (tmp_path / "heldout-questions.txt").write_text("", encoding="utf-8")
    found = run("--check", tmp_path)
    assert found.returncode == 1
    assert "6163 posts differ" in found.stdout
    assert "1 questions without an answer" in found.stdout
    assert "1 held-out questions differ" in found.stdout


def test_the_evaluation_data_is_the_cut_of_the_list(data: Path) -> None:
    found = run("--check", data / "arqmath-mini")
    assert found.returncode == 0, found.stdout
