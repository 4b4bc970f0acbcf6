"""How a cross-encoder is trained, stage by stage, and the named configurations."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from mathamr.configured import changed, check_ranges
from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.layers.language.pairlengths import PairLengths
from mathamr.systems.training.recipe import TrainingSettings

STAGES = ("mine", "teach", "score", "distil", "shorten", "join")
"""Finding what is easily mistaken; a large cross-encoder on it; its scores; a small one from those; some of its layers; and the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mining:
    """Where negatives come from: the best `found` texts of a finder's vectors, and as many by shared pieces.

    `finder` is the model of the box, or the folder of a text encoder, whose vectors of whole texts find. `lessons` is
    likewise what says how alike a question and each candidate are, for a student without a cross-encoder as its teacher; nothing where it
    is empty. Pairs of kinds that begin with a word of `unasked` are left out; those of kinds that end with a word of `often` count three times.
    """

    finder: str = "mathamr-2"
    found: int = 24
    lessons: str = ""
    unasked: str = "sentence related"
    often: str = ""

    def __post_init__(self) -> None:
        check_ranges(self, "mining", {"found": (1, 1000)})


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossTraining:
    """How one cross-encoder learns.

    A step has `batch_size` questions with `candidates` texts each, the right one among them. `labels` weighs the
    contrast of the right one, `lessons` the divergence from the teacher's scores. `start` is what it begins as (``minilm``, ``mpnet``,
    a model of the box or the folder of a text encoder), `layers` the numbers of those of its layers that are kept, all where there
    are none. `query` and `document` are the pieces of each that are read, in one step of three `long_query` and `long_document` where
    those are above 0. `bits` is 4 where embeddings are rounded before.
    `questions` above 0 are so many of the questions, drawn by chance.
    """

    start: str = "minilm"
    layers: str = ""
    query: int = 64
    document: int = 96
    long_query: int = 0
    long_document: int = 0
    bits: int = 32
    batch_size: int = 32
    candidates: int = 8
    epochs: int = 2
    learning_rate: float = 3e-5
    warmup: float = 0.1
    labels: float = 1.0
    lessons: float = 0.0
    questions: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            "cross-encoder's training",
            {
                "questions": (0, 1e12),
                "query": (1, 400),
                "document": (1, 400),
                "long_query": (0, 400),
                "long_document": (0, 400),
                "batch_size": (1, 1e5),
                "candidates": (2, 1000),
                "epochs": (1, 1e4),
                "learning_rate": (0, 1),
                "warmup": (0, 0.9),
                "labels": (0, 1e3),
                "lessons": (0, 1e3),
            },
        )
        if self.bits not in (4, 32):
            raise MathAMRError(f"embeddings have 4 bits or 32, not {self.bits}")
        if bool(self.long_query) != bool(self.long_document):
            raise MathAMRError("long rows need both long_query and long_document")
        self.kept_layers()

    def kept_layers(self) -> tuple[int, ...]:
        """The numbers of the layers that are kept; none means all."""
        try:
            return tuple(int(number) for number in str(self.layers).split())
        except ValueError as error:
            raise MathAMRError(
                f"layers are numbers with blanks between them, such as 0 2 5, not {self.layers!r}"
            ) from error

    def reads(self) -> tuple[PairLengths, ...]:
        """How much of a query and a document the steps read, each as often."""
        usual = PairLengths(self.query, self.document)
        return (
            (usual, usual, PairLengths(self.long_query, self.long_document)) if self.long_query else (usual,)
        )

    def to_json(self) -> dict[str, Any]:
        """For cards."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRecipe:
    """A configuration of every stage."""

    stages: tuple[str, ...]
    mine: Mining = field(default_factory=Mining)
    teach: CrossTraining = field(default_factory=CrossTraining)
    distil: CrossTraining = field(default_factory=CrossTraining)
    shorten: CrossTraining = field(default_factory=CrossTraining)


_TEACHER = CrossTraining(
    start="mathamr-large", query=128, document=160, batch_size=32, candidates=8, epochs=2
)
_STUDENT = CrossTraining(
    start="mathamr-2",
    layers="0 2 5",
    bits=4,
    batch_size=64,
    candidates=16,
    epochs=6,
    learning_rate=2e-4,
    labels=0.2,
    lessons=1.0,
)
CONFIGURATIONS = {
    "vectors": CrossRecipe(
        stages=("mine", "distil", "shorten", "join"),
        mine=Mining(lessons="mathamr-large", often="arqmath-mini title-answer"),
        distil=CrossTraining(
            start="mathamr-2",
            bits=4,
            long_query=112,
            long_document=144,
            batch_size=64,
            candidates=10,
            epochs=4,
            learning_rate=1e-4,
            labels=0.5,
            lessons=1.0,
        ),
        shorten=CrossTraining(
            layers="0 2 3 5",
            batch_size=64,
            candidates=10,
            epochs=2,
            learning_rate=1.5e-4,
            labels=0.2,
            lessons=1.0,
        ),
    ),
    "small": CrossRecipe(
        stages=("mine", "teach", "score", "distil", "join"), teach=_TEACHER, distil=_STUDENT
    ),
    "labels": CrossRecipe(
        stages=("mine", "distil", "join"),
        distil=CrossTraining(
            start="mathamr-2",
            layers="0 2 5",
            bits=4,
            batch_size=64,
            candidates=16,
            epochs=4,
            learning_rate=2e-4,
        ),
    ),
}
"""By name: six layers that learn from the vectors of the large model, and four of them from those; three that learn from a cross-encoder upon mpnet; the same from labels alone."""


def configured(settings: TrainingSettings) -> CrossRecipe:
    """The named configuration with the changes of the settings."""
    if settings.config not in CONFIGURATIONS:
        raise UnknownNameError("configuration", settings.config, list(CONFIGURATIONS))
    settings.checked(STAGES)
    named = CONFIGURATIONS[settings.config]
    if settings.of("score") or settings.of("join"):
        raise MathAMRError("the stages score and join have nothing to change")
    mine: Mining = changed({"mining": named.mine}, settings.of("mine"))["mining"]
    teach, distil, shorten = (
        changed({"training": base}, _texts(settings.of(stage)))["training"]
        for stage, base in (("teach", named.teach), ("distil", named.distil), ("shorten", named.shorten))
    )
    chosen = settings.stages or named.stages
    return CrossRecipe(
        stages=tuple(stage for stage in STAGES if stage in chosen),
        mine=mine,
        teach=teach,
        distil=distil,
        shorten=shorten,
    )


def _texts(changes: list[str]) -> list[str]:
    """Changes in which layers are text, also where there is only one."""
    return [
        f'layers="{change.partition("=")[2]}"' if change.startswith("layers=") else change
        for change in changes
    ]
