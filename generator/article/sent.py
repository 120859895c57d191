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
            return self._listed(found)
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
        return self._note(mine, [*beside, *settings], range(len(self._asks)))

    def boots(
        self, names: Sequence[str], *, beside: Sequence[str] = (), without: Sequence[str] = ()
    ) -> Markup:
        """Return what the asks of a row were sent that the first ask was not, or nothing.

        Args:
            names: The boots of which the row tells.
            beside: Names that the row shows by itself.
            without: Names of asks that the table does not show, such as a control.
        """
        table = [i for i, (*_, ask) in enumerate(self._asks) if ask.name not in without]
        mine = [i for i in table if self._asks[i][1].name in names]
        first = table[:1]
        return self._note(mine, beside, first + mine)

    def _note(self, mine: Sequence[int], beside: Sequence[str], among: Sequence[int]) -> Markup:
        """Say what the asks *mine* were sent of all that is not the same *among* some asks."""
        parts = [
            Markup("<code>{} {}</code>").format(key, self._listed([places[i] for i in mine]))
            for key, places in self._everything.items()
            if mine and key not in beside and not _same([places[i] for i in among])
        ]
        return (
            Markup("<br><small>{}</small>").format(Markup(" · ").join(parts)) if parts else Markup()
        )

    def _listed(self, places: Sequence[Place | None]) -> Markup:
        different: dict[str, Place | None] = {}
        for place in places:
            different.setdefault(repr(place and place[1]), place)
        return Markup(" / ").join(map(self._shown, different.values()))

    @cached_property
    def _asks(self) -> list[tuple[str, BootRecord, AskRecord]]:
        return [
            (f"/boots/{i}/asks/{j}", boot, ask)
            for i, boot in enumerate(self.receipt.boots)
            for j, ask in enumerate(boot.asks)
        ]

    @cached_property
    def _everything(self) -> dict[str, list[Place | None]]:
        """Return, for each name in a request or a boot's settings, its place for every ask."""
        aliases = {str(path[0]): name for name, paths in _NAMES.items() for path in paths}
        sent = [aliases.get(key, key) for *_, ask in self._asks for key in ask.request]
        declared = [key for boot in self.receipt.boots for key in boot.settings]
        names = dict.fromkeys([*sent, *declared, "engine", "model"])
        return {name: self._all(name, None, None) for name in names}

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
