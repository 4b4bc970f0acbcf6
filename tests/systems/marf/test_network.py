from __future__ import annotations

import torch

from mathamr.systems.marf.llama import LlamaLayer
from mathamr_lab.systems.marf.scoring import padded_maxsim
from mathamr_lab.systems.stateencoder import mean_vectors


def test_maxsim_of_padded_rows_is_that_of_a_loop() -> None:
    torch.manual_seed(2)
    queries, documents = torch.randn(3, 4, 5), torch.randn(2, 6, 5)
    ours, theirs = torch.tensor([4, 1, 2]), torch.tensor([6, 3])
    found = padded_maxsim(queries, ours, documents, theirs).clamp(min=-1)
    for q, count in enumerate(ours.tolist()):
        for d, length in enumerate(theirs.tolist()):
            best = [
                max(
                    max(float(queries[q, i] @ documents[d, j]) for j in range(length)),
                    -1.0 if length < 6 else -1e9,
                )
                for i in range(count)
            ]
            torch.testing.assert_close(
                found[q, d], torch.tensor(max(sum(best) / count, -1.0)), atol=1e-4, rtol=1e-4
            )


def test_a_formula_as_one_vector_is_the_mean_of_its_tokens() -> None:
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    torch.testing.assert_close(mean_vectors(vectors, torch.tensor([2])), torch.tensor([[0.5**0.5, 0.5**0.5]]))


def test_no_map_of_a_llama_layer_has_a_bias() -> None:
    assert not [name for name in LlamaLayer(8, 2, 16).state_dict() if name.endswith("bias")]
