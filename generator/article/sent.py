"""What the asks of a table were sent: one fact where all agree, else a mark, and a fact a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonpointer import JsonPointer
from markupsafe import Markup

from generator.article.html import finalize
from generator.receipt import AskRecord, BootRecord, Receipt

UNSENT = Markup("—")
# a limit and a prompt have another name at each endpoint
_NAMES: Mapping[str, Sequence[tuple[str | int, ...]]] = {
    "max_tokens": [("n_predict",), ("max_tokens",)],
    "prompt": [("prompt",), ("messages", 0, "content")],
}

Place = tuple[str, Any]
"""A JSON pointer into the receipt, and the value there."""


@dataclass(frozen=True)
class Sent:
    """The requests and server settings behind one experiment's table.

    A name is looked up in the request, then in the boot's settings, then in the boot: a request
    overrules its server.

    Attributes:
        receipt: The receipt.
        fact: Links a JSON pointer into it.
        rows: The words that point to the rows, where these were not sent the same.
    """

    receipt: Receipt
    fact: Callable[..., Markup]
    rows: Markup

    def __call__(
        self,
        name: str,
        *,
        only: str | None = None,
        without: str | None = None,
        listed: bool = False,
    ) -> Markup:
        """Return what all asks were sent as one fact, or the words that point to the rows.

        Args:
            name: A field of the request (`temperature`, `max_tokens`, `prompt` at both endpoints),
                a server setting, or `engine` and `model`.
            only: Looks at asks of this name alone, such as a control.
            without: Leaves asks of this name out.
            listed: Names every different value instead, for tables whose rows are no single asks.
        """
        found = self._all(name, only, without)
        if listed:
            different = {repr(place and place[1]): place for place in reversed(found)}
            return Markup(" / ").join(map(self._shown, reversed(different.values())))
        if not _same(found):
            return self.rows
        return self._shown(found[0] if found else None)

    def row(self, ask: str, *, beside: Sequence[str] = (), **settings: object) -> Markup:
        """Return what an ask was sent that others of its experiment were not, or nothing.

        Args:
            ask: The ask's name.
            beside: Names that the row shows by itself.
            **settings: Settings of its boot, where asks of several boots have this name.
        """
        mine = [
            index
            for index, (*_, boot, one) in enumerate(self._asks)
            if one.name == ask and all(boot.settings.get(k) == v for k, v in settings.items())
        ]
        if not mine:
            return Markup()
        parts = [
            Markup("<code>{} {}</code>").format(key, self._shown(places[mine[0]]))
            for key, places in self._differing.items()
            if key not in beside
        ]
        return (
            Markup("<br><small>{}</small>").format(Markup(" · ").join(parts)) if parts else Markup()
        )

    @cached_property
    def _asks(self) -> list[tuple[str, BootRecord, AskRecord]]:
        return [
            (f"/boots/{i}/asks/{j}", boot, ask)
            for i, boot in enumerate(self.receipt.boots)
            for j, ask in enumerate(boot.asks)
        ]

    @cached_property
    def _differing(self) -> dict[str, list[Place | None]]:
        """Return what was not sent to every ask alike: at each name the place of every ask."""
        aliases = {str(path[0]): name for name, paths in _NAMES.items() for path in paths}
        names = dict.fromkeys(
            aliases.get(key, key) for *_, ask in self._asks for key in ask.request
        )
        found = {name: self._all(name, None, None) for name in names}
        return {name: places for name, places in found.items() if not _same(places)}

    def _all(self, name: str, only: str | None, without: str | None) -> list[Place | None]:
        return [
            next(_places(at, name, boot, ask), None)
            for at, boot, ask in self._asks
            if only in (None, ask.name) and ask.name != without
        ]

    def _shown(self, place: Place | None) -> Markup:
        if place is None or place[1] is None:
            return UNSENT
        pointer, value = place
        if isinstance(value, dict | list):
            return finalize(value)
        return self.fact(pointer, plain=True)


def _same(places: Sequence[Place | None]) -> bool:
    values = [None if place is None else (type(place[1]), place[1]) for place in places]
    return all(value == values[0] for value in values)


def _places(at: str, name: str, boot: BootRecord, ask: AskRecord) -> Iterator[Place]:
    for path in _NAMES.get(name, [(name,)]):
        value: Any = ask.request
        try:
            for step in path:
                value = value[step]
        except (LookupError, TypeError):
            continue
        yield f"{at}/request{JsonPointer.from_parts(path).path}", value
    start = at.partition("/asks/")[0]
    if name in boot.settings:
        yield f"{start}/settings{JsonPointer.from_parts([name]).path}", boot.settings[name]
    if name in ("engine", "model"):
        yield f"{start}/{name}", getattr(boot, name)
