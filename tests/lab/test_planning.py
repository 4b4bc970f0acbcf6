from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr_lab import planning
from mathamr_lab.planning import PostCosts, plan_build, read_costs
from tests.index.small import write_posts
from tests.models import sample_posts


def test_a_plan_grows_with_posts_and_letters_and_shrinks_with_machines() -> None:
    costs = replace(read_costs(), accelerator=0.001)
    one, more = plan_build(costs, 1e6, cores=8), plan_build(costs, 2e6, cores=16)
    assert more.seconds["vectors"] == pytest.approx(one.seconds["vectors"])
    assert more.seconds["write"] == pytest.approx(2 * one.seconds["write"])
    assert one.least == max(one.seconds.values())
    assert one.most == pytest.approx(sum(one.seconds.values()))
    longer = plan_build(costs, 1e6, cores=8, letters=2 * costs.letters_per_post)
    assert longer.most == pytest.approx(2 * one.most)
    assert plan_build(costs, 1e6, cores=8, gpus=2).seconds["vectors"] == pytest.approx(500.0)
    with pytest.raises(MathAMRError, match="nobody has measured"):
        plan_build(replace(costs, accelerator=None), 1e6, cores=8, gpus=2)


def test_measured_costs_are_those_of_a_build(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "POSTS", 16)
    source = write_posts(tmp_path / "posts.jsonl", sample_posts(16))
    asked = ["plan", "--measure", str(source), "--model", str(model_folder), "--engine", "flat"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    costs = PostCosts(**json.loads(result.stdout))
    assert (costs.posts, costs.engine) == (16, "flat")
    assert min(costs.read, costs.analyse, costs.write, costs.vectors, costs.bytes["catalogue.db"]) > 0
    (tmp_path / "costs.json").write_text(result.stdout, encoding="utf-8")
    asked = ["plan", "--posts", "2.4e6", "--cores", "96", "--costs", str(tmp_path / "costs.json"), "--json"]
    plan = json.loads(CliRunner().invoke(app, asked).stdout)
    assert plan["seconds"]["write"] == pytest.approx(2.4e6 * costs.write)
    assert "on disk" in CliRunner().invoke(app, asked[:-1]).stdout
    assert CliRunner().invoke(app, ["plan"]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan --measure notes --posts 7", "--measure prints costs"),
        ("plan --posts 7 --device cuda", "--model, --engine and --device belong to --measure"),
    ],
)
def test_an_option_without_effect_is_refused(words: str, said: str) -> None:
    result = CliRunner().invoke(app, words.split(), terminal_width=300)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
