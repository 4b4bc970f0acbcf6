"""`ParserNetwork`: the built-in parser's network in torch, for training; `mathamr.amr.builtin.network` runs its weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.amr.builtin.model import GAPS, NetworkConfiguration
from mathamr.amr.builtin.nodes import KINDS
from mathamr.amr.builtin.numbers import PLACES, REASONS, ROLES
from mathamr.amr.builtin.words import SHAPES
from mathamr.text.transformer import RelativePositions, TransformerLayer

TREE = 9
"""Features of two words in the soft dependency tree."""


class ParserNetwork(nn.Module):
    """States of words from states of pieces, and the scores of tags, heads, cores, templates, relations and roots."""

    def __init__(self, configuration: NetworkConfiguration, deps: int) -> None:
        super().__init__()
        self.configuration = c = configuration
        self.project = nn.Linear(c.states, c.size)
        self.shape = nn.Embedding(len(SHAPES), c.size)
        self.norm = nn.LayerNorm(c.size, eps=c.transformer.epsilon)
        self.relative = RelativePositions(c.transformer.buckets, c.transformer.heads)
        self.layers = nn.ModuleList(TransformerLayer(c.transformer) for _ in range(c.layers))
        self.dropout = nn.Dropout(c.dropout)
        self.tag = nn.Linear(c.size, c.tags)
        self.child, self.head = nn.Linear(c.size, c.arc), nn.Linear(c.size, c.arc)
        self.no_head = nn.Parameter(torch.zeros(c.arc))
        self.dep_child, self.dep_head, self.dep = (
            nn.Linear(c.size, c.arc), nn.Linear(c.size, c.arc), nn.Linear(c.arc, deps)
        )  # fmt: skip
        # Cores: candidates of a word.
        self.core_word = nn.Linear(c.size, c.hidden)
        self.core_concept = nn.Embedding(c.concepts, c.hidden)
        self.core_reason = nn.Embedding(len(REASONS), c.hidden)
        self.core_counts = nn.Linear(4, c.hidden, bias=False)
        self.core_score = nn.Linear(c.hidden, 1, bias=False)
        # Templates of cores.
        self.template_word = nn.Linear(c.size, c.hidden)
        self.template_concept = nn.Embedding(c.concepts, c.hidden)
        self.template = nn.Linear(c.hidden, c.templates)
        # Relations of nodes.
        self.node_word, self.node_head = nn.Linear(c.size, c.node), nn.Linear(c.size, c.node, bias=False)
        self.node_concept = nn.Embedding(c.concepts, c.node)
        self.node_kind = nn.Embedding(len(KINDS) * PLACES, c.node)
        self.node_roles = nn.Linear(ROLES, c.node, bias=False)
        self.ends = nn.Linear(c.node, 4 * c.pair)
        self.gap = nn.Embedding(GAPS, c.pair)
        self.tree = nn.Linear(TREE, c.pair, bias=False)
        self.relation = nn.Linear(c.pair, c.labels)
        self.root = nn.Linear(c.node, 1, bias=False)
        for table in (self.core_concept, self.template_concept, self.node_concept, self.gap, self.node_kind):
            nn.init.normal_(table.weight, std=0.1)

    def words(self, pooled: Tensor, shapes: Tensor, lengths: Tensor) -> Tensor:
        """Return states (rows, words, size) of words from the means of their pieces' states."""
        x = self.norm(self.project(self.dropout(pooled)) + self.shape(shapes))
        visible = (torch.arange(x.shape[1], device=x.device) < lengths[:, None])[:, None, None, :]
        mask = self.relative(visible)
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, mask)
        found: Tensor = self.dropout(x)
        return found

    def arcs(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return scores (rows, words, 1 + words) of the heads of words; the first is that of no head."""
        child, head = self.child(words), self.head(words)
        scale = child.shape[-1] ** -0.5
        scores = child @ head.transpose(1, 2) * scale
        visible = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        scores = scores.masked_fill(~visible[:, None, :], -1e4)
        return torch.cat([(child @ self.no_head * scale)[..., None], scores], -1)

    def core_scores(
        self, words: Tensor, owner: Tensor, concept: Tensor, reason: Tensor, counts: Tensor
    ) -> Tensor:
        """Return scores of candidates; `words` are flat, `owner` says whose candidate each is."""
        hidden = self.core_word(words)[owner] + self.core_concept(concept) + self.core_reason(reason)
        hidden = self.dropout(torch.relu(hidden + self.core_counts(counts)))
        scores: Tensor = self.core_score(hidden)[:, 0]
        return scores

    def template_scores(self, words: Tensor, owner: Tensor, concept: Tensor) -> Tensor:
        """Return scores of templates for cores."""
        hidden = torch.relu(self.template_word(words)[owner] + self.template_concept(concept))
        scores: Tensor = self.template(self.dropout(hidden))
        return scores

    def relation_scores(
        self,
        words: Tensor,
        arcs: Tensor,
        token: Tensor,
        concept: Tensor,
        kind: Tensor,
        place: Tensor,
        roles: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return scores (rows, nodes, nodes, labels) of relations, and (rows, nodes) of roots."""
        tree = torch.softmax(arcs, -1)[..., 1:]
        rows = torch.arange(len(words), device=words.device)[:, None]
        own = words[rows, token]
        above = (tree @ words)[rows, token]
        nodes = self.node_word(own) + self.node_head(above) + self.node_concept(concept)
        nodes = nodes + self.node_kind(kind * PLACES + place) + self.node_roles(roles)
        nodes = self.dropout(torch.relu(nodes))
        source, target, one, other = self.ends(nodes).chunk(4, -1)
        gaps = (token[:, None, :] - token[:, :, None]).clamp(-(GAPS // 2), GAPS // 2) + GAPS // 2
        joint = source[:, :, None] + target[:, None] + one[:, :, None] * other[:, None] + self.gap(gaps)
        joint = joint + self.tree(tree_features(tree)[rows[:, :, None], token[:, :, None], token[:, None, :]])
        return self.relation(self.dropout(torch.relu(joint))), self.root(nodes)[..., 0]


def tree_features(tree: Tensor) -> Tensor:
    """Return how probably two words are parent and child, further apart in line, or siblings: (rows, words, words, features)."""
    up = tree
    two = up @ up
    three = two @ up
    across = up @ up.transpose(1, 2)
    uncle = up @ two.transpose(1, 2)
    found = [
        up,
        up.transpose(1, 2),
        two,
        two.transpose(1, 2),
        three,
        three.transpose(1, 2),
        across,
        uncle,
        uncle.transpose(1, 2),
    ]
    return torch.stack(found, -1)
