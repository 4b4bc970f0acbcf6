from mathamr.posts.postkind import ANSWERING, ASKING, KINDS, kind_named, role_of


def test_every_kind_has_one_role_and_nothing_else_has_a_part_in_one():
    assert set(KINDS) >= ASKING | ANSWERING
    assert not ASKING & ANSWERING
    assert {role_of(kind) for kind in KINDS} == {"question", "answer", "note"}
    assert [role_of(kind) for kind in ("question", "answer", "note")] == ["question", "answer", "note"]


def test_names_of_environments_mean_kinds():
    assert kind_named("Lemma") == "lemma"
    assert kind_named("Key Proposition") == "proposition"
    assert kind_named("Théorème") == "theorem"
    assert kind_named("defn*") == "definition"
    assert kind_named("figure") is None
    assert kind_named("") is None
