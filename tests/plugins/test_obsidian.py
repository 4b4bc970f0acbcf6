"""The Obsidian plugin: its panel in a real browser over a shim of the application, with a real server of a vault."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.folders import write_files
from tests.serve.page.conftest import ARGUMENTS
from tests.serve.site import browser_path

PLUGIN = Path(__file__).resolve().parents[2] / "plugins" / "obsidian"
WAIT = 120_000
"""Milliseconds: the server indexes the vault first."""

VAULT = {
    "analysis/series.md": "# Geometric series\n\nFor $|q|<1$ we have\n$$\\sum_{k=0}^\\infty q^k = \\frac{1}{1-q}.$$\n\n"
    "## Proof\n\nMultiply the partial sum $s_n$ by $1-q$; the sum telescopes.\n",
    "algebra.md": "# Chinese remainder theorem\n\nIf $\\gcd(m,n)=1$ then $\\mathbb{Z}/mn \\cong \\mathbb{Z}/m\\times\\mathbb{Z}/n$.\n",
    "daily.md": "# Monday\n\nRead about a sum: for $|r|<1$ the series has the value\n$$\\sum_{k=0}^\\infty r^k = \\frac{1}{1-r}.$$\n",
    "garden.md": "# Garden\n\nThe roses want water twice a week in summer, the lavender none at all.\n",
}
PAGE = (
    "<!doctype html><meta charset='utf-8'><style>body { font: 15px system-ui; width: 360px; --text-muted: #666; --text-faint: #777;"
    " --text-highlight-bg: #fbe7b2; --background-modifier-border: #ddd; --font-ui-small: 13px; --font-ui-smaller: 12px;"
    " --font-semibold: 600; --interactive-accent: #6d4aff; --text-on-accent: #fff; --text-error: #b00 }</style>"
    "<div id='panel'></div><div id='settings'></div><div id='notices'></div>"
)


class Processes:
    """The child processes of the plugin, which a page cannot start itself."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[str]] = []
        self.said: list[dict[str, str]] = []

    def start(self, given: list[str]) -> int | None:
        try:
            process = subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except OSError:
            return None
        said = {"output": "", "errors": ""}
        for name, stream in (("output", process.stdout), ("errors", process.stderr)):
            threading.Thread(target=self._read, args=(stream, said, name), daemon=True).start()
        self.running.append(process)
        self.said.append(said)
        return len(self.running) - 1

    def poll(self, id: int, kills: bool) -> dict[str, Any]:
        if kills:
            self.running[id].terminate()
        said = dict(self.said[id])
        for name in said:
            self.said[id][name] = self.said[id][name][len(said[name]) :]
        return {**said, "ended": self.running[id].poll() is not None}

    def end(self) -> None:
        for process in self.running:
            process.terminate()
            process.wait(300)

    @staticmethod
    def _read(stream: Any, said: dict[str, str], name: str) -> None:
        for line in stream:
            said[name] += line


def http(options: dict[str, Any]) -> dict[str, Any]:
    body = options.get("body")
    headers = {"Content-Type": options["contentType"]} if options.get("contentType") else {}
    request = urllib.request.Request(
        options["url"], body.encode() if body else None, headers, method=options["method"]
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return {"status": answer.status, "text": answer.read().decode()}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "text": error.read().decode()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser of this module alone."""
    path = browser_path()
    if path is None:
        pytest.skip("needs a Chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@contextmanager
def loaded(browser: Any, vault: Path) -> Iterator[Any]:
    """A page with the plugin, loaded as Obsidian loads it, its server not started yet."""
    write_files(vault, VAULT)
    processes = Processes()
    opened = browser.new_page(viewport={"width": 380, "height": 860})
    opened.set_default_timeout(WAIT)
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.expose_function("httpRequest", http)
    opened.expose_function("startProcess", processes.start)
    opened.expose_function("pollProcess", processes.poll)
    opened.set_content(PAGE)
    opened.evaluate(
        "([vault, path]) => Object.assign(window, { vault, vaultPath: path })", [VAULT, str(vault)]
    )
    opened.evaluate(
        "command => { window.settings = { command, watches: false }; }", f"{sys.executable} -m mathamr"
    )
    opened.add_style_tag(path=str(PLUGIN / "styles.css"))
    opened.add_script_tag(path=str(PLUGIN / "test" / "shim.js"))
    opened.add_script_tag(path=str(PLUGIN / "main.js"))
    opened.evaluate("async () => { window.plugin = new module.exports.default(); await plugin.onload(); }")
    yield opened
    processes.end()
    assert errors == []


def started(page: Any) -> Any:
    """The panel with its server running."""
    page.evaluate("() => plugin.commands.open()")
    panel = page.locator("#panel")
    panel.get_by_text("The server is stopped.").wait_for()
    panel.get_by_role("button", name="Start the server").click()
    panel.get_by_text("4 entries").wait_for()
    return panel


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page that tests share; none of them stops its server."""
    with loaded(browser, tmp_path_factory.mktemp("obsidian") / "vault") as opened:
        yield opened


@pytest.fixture(scope="module")
def panel(page: Any) -> Any:
    """The panel of that page."""
    return started(page)


def search(panel: Any, question: str) -> Any:
    panel.get_by_label("Question").fill(question)
    panel.get_by_label("Question").press("Enter")
    hits = panel.locator(".mathamr-hit")
    hits.first.wait_for()
    panel.get_by_text("Searching…").wait_for(state="detached")
    return hits


def test_words_and_formulas_are_found_with_their_formulas_drawn(panel: Any) -> None:
    panel.get_by_role("button", name="Notes").click()
    first = search(panel, "telescoping partial sum $s_n$").first
    assert "Geometric series" in first.inner_text()
    assert first.locator("math").count() > 0
    assert first.locator("math").first.bounding_box()["width"] > 5


def test_a_hit_opens_its_note_at_the_line_of_the_formula(panel: Any, page: Any) -> None:
    panel.get_by_role("button", name="Formulas").click()
    hits = search(panel, "\\sum_{k=0}^\\infty r^k = \\frac{1}{1-r}")
    hits.filter(has_text="Monday").first.click()
    page.wait_for_function("() => openedNote()?.path === 'daily.md'")
    assert page.evaluate("() => openedNote().line") == 3


def test_a_selected_formula_is_searched_among_formulas(panel: Any, page: Any) -> None:
    page.evaluate("() => openNote('algebra.md', 2, '$\\\\gcd(m,n)=1$')")
    page.evaluate("() => plugin.commands['search-selection']()")
    panel.locator(".mathamr-found").first.wait_for()
    assert panel.get_by_label("Question").input_value() == "\\gcd(m,n)=1"
    assert panel.get_by_role("button", name="Formulas").get_attribute("aria-pressed") == "true"
    assert "Chinese remainder theorem" in panel.locator(".mathamr-hit").first.inner_text()


def test_a_block_that_another_note_has_already_is_told_and_a_new_one_too(panel: Any, page: Any) -> None:
    page.evaluate("() => openNote('daily.md', 3)")
    page.evaluate("() => plugin.commands['noted-already']()")
    panel.get_by_text("noted this already").wait_for()
    hits = panel.locator(".mathamr-hit")
    assert "Geometric series" in hits.first.inner_text()
    assert not any("Monday" in hit.inner_text() for hit in hits.all())
    page.evaluate("() => openNote('garden.md', 2)")
    page.evaluate("() => plugin.commands['noted-already']()")
    panel.get_by_text("You have not noted this yet").wait_for()


def test_the_settings_are_kept(page: Any) -> None:
    page.evaluate("() => plugin.tab.display()")
    row = page.locator("#settings .setting").filter(has_text="Results")
    row.locator("input").fill("7")
    row.locator("input").dispatch_event("change")
    assert page.evaluate("() => window.settings.results") == 7
    page.evaluate("() => document.getElementById('settings').empty()")


def test_a_server_that_is_stopped_says_how_to_go_on(browser: Any, tmp_path: Path) -> None:
    with loaded(browser, tmp_path / "vault") as page:
        panel = started(page)
        panel.get_by_role("button", name="Stop the server").click()
        panel.get_by_text("The server is stopped.", exact=True).wait_for()
        panel.get_by_label("Question").fill("anything")
        panel.get_by_label("Question").press("Enter")
        panel.get_by_text("Start it with the button above").wait_for()
        page.evaluate("() => plugin.change({ command: '/nowhere/mathamr' })")
        panel.get_by_role("button", name="Start the server").click()
        panel.get_by_text("cannot be started").first.wait_for()


def test_the_built_plugin_is_what_its_sources_say(tmp_path: Path) -> None:
    esbuild = PLUGIN / "node_modules" / ".bin" / "esbuild"
    if not esbuild.exists() or shutil.which("node") is None:
        pytest.skip("needs Node and: npm ci --prefix plugins/obsidian")
    build = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))["scripts"]["build"]
    made = tmp_path / "main.js"
    command = build.replace("esbuild", str(esbuild), 1).replace("main.js", str(made))
    subprocess.run(command.split(), cwd=PLUGIN, check=True, capture_output=True)
    assert made.read_text(encoding="utf-8") == (PLUGIN / "main.js").read_text(encoding="utf-8")


def test_its_own_tests_pass() -> None:
    if not (PLUGIN / "node_modules").exists() or shutil.which("npm") is None:
        pytest.skip("needs Node and: npm ci --prefix plugins/obsidian")
    environment = {name: value for name, value in os.environ.items() if name not in ("MATHAMR", "VAULT")}
    ran = subprocess.run(
        ["npm", "test"], cwd=PLUGIN, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
