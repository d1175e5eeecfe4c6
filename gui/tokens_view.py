"""What the rows come to in tokens: how long they are, what is trained, how much of a batch is filling."""

from __future__ import annotations

import math
from html import escape

from services.datasets.audit import Audit
from services.text import say

ROWS_SHOWN = 4
TOKENS_SHOWN = 600


def tokens_html(audit: Audit | None, max_length: int, batch: int, lang: str) -> str:
    """The histogram with the limit drawn in, the figures, and the tokens of a few rows with the trained ones marked."""
    if audit is None or not audit.lengths.rows:
        return f'<div class="td-empty">{escape(say("dataset.tokens_none", lang))}</div>'
    return (
        f'<div class="td-tokens">{histogram(audit, max_length, lang)}{_figures(audit, max_length, batch, lang)}'
        f"{_rows(audit, lang)}</div>"
    )


def histogram(audit: Audit, max_length: int, lang: str) -> str:
    """Rows by their length, those beyond ``max_length`` in another colour."""
    bars = audit.lengths.histogram()
    most = max(count for _, _, count in bars)
    end = max(bars[-1][1], max_length)
    drawn = "".join(
        f'<i class="{"td-over" if start > max_length else ""}" style="left:{100 * (start - 1) / end:.2f}%;'
        f'width:{100 * (stop - start + 1) / end:.2f}%;height:{max(2.0, 100 * count / most):.1f}%" '
        f'title="{start}–{stop}: {count}"></i>'
        for start, stop, count in bars
        if count
    )
    limit = f'<u style="left:{min(100.0, 100 * max_length / end):.2f}%"></u>'
    name = escape(say("dataset.tokens_histogram", lang, rows=f"{audit.lengths.rows:,}", max_length=max_length))
    return (
        f'<figure class="td-histogram"><figcaption>{name}</figcaption><div class="td-bars" role="img" '
        f'aria-label="{name}">{drawn}{limit}</div>'
        f'<div class="td-bars-axis"><span>1</span><span>{end}</span></div></figure>'
    )


def _figures(audit: Audit, max_length: int, batch: int, lang: str) -> str:
    lengths = audit.lengths
    cut = lengths.cut(max_length, "delete")
    kept = audit.total - round(len(cut.lost) * audit.total / max(1, audit.audited))
    plain, packed = (lengths.padding(max_length, "delete", batch, packing=packing) for packing in (False, True))
    padding = say("dataset.tokens_padding_value", lang, plain=f"{plain:.0%}", packed=f"{packed:.0%}")
    facts = (
        ("dataset.tokens_total", f"{audit.tokens_in_all:,}"),
        ("dataset.tokens_mean", f"{lengths.mean or 0:,}"),
        ("dataset.tokens_longest", f"{lengths.longest:,}"),
        ("dataset.tokens_over", f"{len(cut.over):,}"),
        ("dataset.tokens_steps", f"{math.ceil(kept / max(1, batch)):,}"),
        ("dataset.tokens_padding", padding),
    )
    cells = "".join(f"<div><dt>{escape(say(key, lang))}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)
    return f'<dl class="td-token-facts">{cells}</dl>'


def _rows(audit: Audit, lang: str) -> str:
    legend = escape(say("dataset.tokens_legend", lang))
    rows = "".join(_row(row, tokens, lang) for row, tokens in list(audit.tokens.items())[:ROWS_SHOWN])
    return f'<p class="td-muted td-small">{legend}</p>{rows}' if rows else ""


def _row(row: int, tokens: tuple[tuple[str, bool], ...], lang: str) -> str:
    marks = "".join(
        f'<span class="{"td-trained" if trained else "td-given"}">{escape(text)}</span>'
        for text, trained in tokens[:TOKENS_SHOWN]
    )
    name = escape(say("dataset.row", lang, row=row))
    more = "…" if len(tokens) > TOKENS_SHOWN else ""
    return f'<article class="td-row"><header>{name}</header><div class="td-token-text">{marks}{more}</div></article>'
