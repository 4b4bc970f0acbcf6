"""The files for a public forge: its workflow runs what CI runs, and its forms ask for what we need."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("not-*.yml"))


def test_the_workflow_runs_what_ci_runs_on_every_python_that_is_supported() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert workflow["permissions"] == {"contents": "read"}
    declared = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'requires-python = ">={min(job["strategy"]["matrix"]["python"], key=_version)}"' in declared
    assert all(f"Python :: {each}" in declared for each in job["strategy"]["matrix"]["python"])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_forms_have_fields_with_names_of_their_own(form: Path) -> None:
    read = yaml.safe_load(form.read_text("utf-8"))
    ids = [field["id"] for field in read["body"]]
    assert len(ids) == len(set(ids)) >= 3
    assert all(field["attributes"]["label"] for field in read["body"])
    assert any(field.get("validations", {}).get("required") for field in read["body"])


def _version(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))
