"""What a notebook shows of a fitted model, and its page: trees, forests, clusters."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney.errors import MissingExtraError

if TYPE_CHECKING:
    from spinney.extensions.explorer import ExplorerPage


class Explored:
    """A fitted model that can be walked through in a browser."""

    def explore(
        self, *, rows: Any = None, data: Any = None, beside: Any = None
    ) -> "ExplorerPage":
        """Return a page of its own in which the model is walked and questioned.

        It holds counts and no rows, needs no network, and is shown by a notebook.

        Parameters
        ----------
        rows : table, optional
            Whose rows are to be in the page, to be looked at behind the nodes that
            they come to. They are readable by whoever has the page.
        data : table, optional
            In the place of ``rows``: a table of which the page shows histograms at
            nodes and the error by pruning, and no row.
        beside : fitted model, optional
            Another tree, forest or clustering, to be compared with this one.

        Returns
        -------
        ExplorerPage
            ``save(path)`` keeps it as .html; ``html`` is its text.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> page = spinney.grow(shop, "sold", recipe="c4.5").explore()
        >>> page.html.startswith("<!DOCTYPE html>")
        True
        """
        explorer = registry.load("operation", "explore")
        models = [self] if beside is None else [self, beside]
        html = explorer.explorer_page(models, rows=rows, data=data)
        page: ExplorerPage = explorer.ExplorerPage(html)
        return page

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what a notebook shows: the page, or where it shows none, less."""
        bundle: dict[str, str | None] = {"text/plain": self._in_words()}
        with suppress(MissingExtraError):
            bundle["image/svg+xml"] = self._picture()
        with suppress(MissingExtraError):
            bundle["text/html"] = self.explore().frame
        return {form: shown for form, shown in bundle.items() if shown is not None}

    def _in_words(self) -> str:
        """Return the model as a notebook without pictures shows it."""
        return str(self)

    def _picture(self) -> str | None:
        """Return a picture as SVG, if there is one."""
        return None
