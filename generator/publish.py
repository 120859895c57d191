"""Writing pages: every article in both languages and the list of articles, below `site/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from generator.article import LANGUAGES, page_path, render_index, render_page
from generator.declaration import Declaration
from generator.errors import SiteError
from generator.evidence import (
    Evidence,
    articles,
    compare_all,
    declare,
    read_evidence,
    read_receipts,
)
from generator.experiments import kinds
from generator.files import write_atomically
from generator.matrix import matrix_path, render_matrix
from generator.measure import write_sums
from generator.receipt import Receipt, receipt_path, render


def pages(
    root: Path, templates: Sequence[Path], names: Sequence[str], *, stale: bool = False
) -> Mapping[Path, str]:
    """Render the pages of *names*, and the lists of all articles, in memory.

    Args:
        root: The project's root.
        templates: Folders of templates, searched in order.
        names: The articles.
        stale: Whether receipts may be stale; a page of such ones says so.

    Returns:
        Each page's path and its text.

    Raises:
        SiteError: A receipt of *names* is stale, or a template is faulty.
    """
    evidence = {name: read_evidence(root, name) for name in articles(root)}
    if not stale:
        _refuse_stale([evidence[name] for name in names])
    rendered = {
        page_path(root, name, lang): render_page(templates, evidence[name], lang)
        for name in names
        for lang in LANGUAGES
    }
    for lang in LANGUAGES:
        path = page_path(root, "index", lang)
        rendered[path] = render_index(templates, list(evidence.values()), lang)
    return rendered


def write_matrices(root: Path, declaration: Declaration) -> None:
    """Write the matrix of each experiment that was measured in several variants."""
    several = [name for name in declaration.firsts if len(declaration.variants(name)) > 1]
    if not several:
        return
    matrices = compare_all(declaration, read_receipts(root, declaration))
    for experiment in several:
        path = matrix_path(root, declaration.article, experiment)
        if experiment in matrices:
            write_atomically(path, render_matrix(matrices[experiment]))
        else:
            path.unlink(missing_ok=True)
    write_sums(root, declaration.article)


def _refuse_stale(all_evidence: Sequence[Evidence]) -> None:
    """Raise a SiteError that names every stale receipt, and what was changed since."""
    changed = {
        f"{evidence.declaration.article}/{name}": changes
        for evidence in all_evidence
        for name, changes in evidence.stale.items()
    }
    if changed:
        count = "1 receipt is" if len(changed) == 1 else f"{len(changed)} receipts are"
        raise SiteError(
            f"{count} stale: what was measured is not what is declared now.",
            f"Measure again: receipts run {' '.join(changed)}. "
            "Or show what was measured, under a banner: --stale.",
            [f"{name}: {change}" for name, changes in changed.items() for change in changes],
        )


def unmeasured(root: Path, names: Sequence[str]) -> list[str]:
    """Return the experiments of *names* whose first variant has no receipt, as targets."""
    found = []
    for article in names:
        declaration = declare(root, article)
        receipts = read_receipts(root, declaration)
        found += [f"{article}/{name}" for name in declaration.firsts if name not in receipts]
    return found


def render_articles(
    root: Path, templates: Sequence[Path], names: Sequence[str], *, stale: bool = False
) -> list[Path]:
    """Render and write the pages of *names*; a page that has not changed is left alone.

    The arguments, and what is raised, are those of `pages`.
    """
    rendered = pages(root, templates, names, stale=stale)
    for path, text in rendered.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
    return list(rendered)


def analyse(receipt: Receipt) -> Receipt:
    """Return *receipt* with its analysis computed from its raw responses; pure."""
    result = kinds()[receipt.kind].analyse(receipt.boots)
    return receipt.model_copy(update={"analysis": result.model_dump(mode="json")})


def reanalyse_article(root: Path, article: str) -> list[str]:
    """Recompute the analysis stored in each receipt of an article; return those that changed."""
    changed = []
    for name, receipt in read_receipts(root, declare(root, article)).items():
        fresh = analyse(receipt)
        if fresh.analysis != receipt.analysis:
            path = receipt_path(root, article, name)
            write_atomically(path, render(fresh))
            changed.append(path.relative_to(root).as_posix())
    if changed:
        write_sums(root, article)
        write_matrices(root, declare(root, article))
    return changed
