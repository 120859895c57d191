"""What a kind's template can draw of a result, and what readers can download of it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from generator.article.faults import WrongCallError
from generator.article.html import finalize
from generator.charts import svg
from generator.errors import near_miss
from generator.figures import Data, Grid, Wording


@dataclass(frozen=True)
class Drawings:
    """The figures of one experiment, by name.

    Attributes:
        experiment: Its name, which names the downloads.
        data: What its kind makes of its result.
        label: The words of a link to data.
    """

    experiment: str
    data: Mapping[str, Data]
    label: str

    def figure(self, name: str, **wording: str) -> Markup:
        """Return a chart with its title and a link to its data.

        Args:
            name: Its name among the kind's figures.
            **wording: What it says in this language: the fields of `Wording`.

        Raises:
            WrongCallError: There is none, or it is a table, which the template has to lay out.
        """
        drawing = self._named(name)
        if isinstance(drawing, Grid):
            raise WrongCallError(
                f"{name!r} is drawn, and is a table",
                f"Lay it out as a table, and offer its data: {{{{ download({name!r}) }}}}",
            )
        words = Wording(**{key: str(value) for key, value in wording.items()})
        return Markup(
            f'<figure class="chart">{svg(drawing, words, name=f"{self.experiment}-{name}")}'
            f"<figcaption>{finalize(words.title)} {self.download(name)}</figcaption></figure>"
        )

    def download(self, name: str) -> Markup:
        """Return a link to the data of a figure or table as CSV, which the page itself holds."""
        data = base64.b64encode(self._named(name).csv().encode()).decode()
        return Markup(
            f'<a href="data:text/csv;base64,{data}" download="{self.experiment}-{name}.csv">'
            f"{self.label}</a>"
        )

    def _named(self, name: str) -> Data:
        if name not in self.data:
            raise WrongCallError(f"there is no figure {name!r}", near_miss(name, self.data))
        return self.data[name]
