from mathamr.posts.postkind import kind_named


def test_names_of_environments_mean_kinds():
    assert kind_named("Lemma") == "lemma"
    assert kind_named("Key Proposition") == "proposition"
    assert kind_named("Théorème") == "theorem"
    assert kind_named("defn*") == "definition"
    assert kind_named("figure") is None
    assert kind_named("") is None
