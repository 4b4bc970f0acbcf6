"""schemathesis over the OpenAPI document: whatever fits it, or nearly does, is answered as it says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks

from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.serve.conftest import WRITE_KEY

load_all_checks()
PATIENCE = 3600
"""Seconds: a busy machine is no failure."""
CHECKS = schemathesis.checks.CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    ]
)


@pytest.fixture(scope="module")
def api(index_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The schema of an application over an index of its own, which may be written."""
    folder = tmp_path_factory.mktemp("schema") / "index"
    shutil.copytree(index_folder, folder)
    with (
        Index(IndexWriter.open(folder, device="cpu")) as index,
        Index.open(index_folder, device="cpu") as other,
    ):
        service = Service(index, Limits(seconds=3600), Keys(WRITE_KEY), beside=other)
        yield schemathesis.openapi.from_asgi("/v1/openapi.json", create_app(service), timeout=PATIENCE)
        service.close()


OPERATIONS = [
    "GET /v1/search", "POST /v1/search", "GET /v1/explain", "POST /v1/explain", "GET /v1/posts/{id}", "PUT /v1/posts/{id}",
    "DELETE /v1/posts/{id}", "POST /v1/posts", "GET /v1/beside/{id}", "GET /v1/graphs/{id}", "GET /v1/formulas/{id}", "GET /v1/render",
    "POST /v1/render", "GET /v1/picture", "GET /v1/names", "GET /v1/introduced", "GET /v1/commands", "GET /v1/index", "GET /v1/health", "GET /v1/ready",
    "POST /v1/symbols", "GET /v1/similar/{id}",
]  # fmt: skip


def test_every_operation_of_the_document_is_tried(api: Any) -> None:
    documented = {
        f"{method.upper()} {path}" for path, methods in api.raw_schema["paths"].items() for method in methods
    }
    assert documented == set(OPERATIONS)


WITHOUT_PARAMETERS = ("GET /v1/index", "GET /v1/health", "GET /v1/ready")
EXAMPLES = {GenerationMode.POSITIVE: 8, GenerationMode.NEGATIVE: 8}


@pytest.mark.parametrize("mode", EXAMPLES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_server_answers_as_its_document_says(api: Any, operation: str, mode: GenerationMode) -> None:
    if mode == GenerationMode.NEGATIVE and operation in WITHOUT_PARAMETERS:
        mode = GenerationMode.POSITIVE
    method, path = operation.split(" ")

    @settings(
        max_examples=EXAMPLES[mode],
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    def answers(case: Any) -> None:
        case.call_and_validate(headers={"X-API-Key": WRITE_KEY}, checks=CHECKS, timeout=PATIENCE)

    answers()
