"""The five papers whose systems and experiments are here, as they cite themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper: its BibTeX key and fields; `system` is what it calls its system. No `doi` where its own text has none."""

    key: str
    system: str
    authors: tuple[str, ...]
    title: str
    year: str
    kind: str = "inproceedings"
    venue: str = ""
    doi: str = ""

    def __str__(self) -> str:
        *first, last = self.authors
        names = f"{', '.join(first)} and {last}" if first else last
        where = ", ".join(filter(None, (self.venue, self.year)))
        return (
            f"{names}: {self.title}.{f' {where}.' if where else ''}{f' doi:{self.doi}' if self.doi else ''}"
        )

    @property
    def bibtex(self) -> str:
        """The entry for a bibliography."""
        place = {"inproceedings": "booktitle", "mastersthesis": "school"}.get(self.kind, "howpublished")
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            place: self.venue,
            "year": self.year,
            "doi": self.doi,
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n{lines}}}"


PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            key="yoon2026mathamrplus",
            system="MathAMR+",
            authors=("Jacob Yoon",),
            title="MathAMR+: A Unified Graph Neural Network Framework for Multimodal Mathematical Information Retrieval",
            year="2026",
            kind="mastersthesis",
            venue="Rochester Institute of Technology",
        ),
        Paper(
            key="amador2025formula",
            system="formula graphs",
            authors=("Bryan Amador", "Richard Zanibbi"),
            title="Math Formula Graph Retrieval Using Contrastive Learning Over Visual and Semantic Embeddings",
            year="2025",
            venue="Proceedings of the 2025 International ACM SIGIR Conference on Innovative Concepts and Theories in Information"
            " Retrieval (ICTIR '25)",
            doi="10.1145/3731120.3744589",
        ),
        Paper(
            key="wang-marf",
            system="MaRF",
            authors=("Suyuan Wang", "Hongbo Zheng", "Nickvash Kani"),
            title="MaRF: Leveraging Representation-Level Fusion of Formula Semantics for Mathematical Information Retrieval",
            year="",
            kind="misc",
        ),
        Paper(
            key="li-ssemb",
            system="SSEmb",
            authors=("Ruyin Li", "Xiaoyu Chen"),
            title="SSEmb: A Joint Structural and Semantic Embedding Framework for Mathematical Formula Retrieval",
            year="",
            kind="misc",
        ),
        Paper(
            key="mansouri2022contextualized",
            system="MathAMR",
            authors=("Behrooz Mansouri", "Douglas W. Oard", "Richard Zanibbi"),
            title="Contextualized Formula Search Using Abstract Meaning Representation",
            year="2022",
            venue="Proceedings of the 31st ACM International Conference on Information and Knowledge Management (CIKM '22)",
            doi="10.1145/3511808.3557567",
        ),
    )
}
