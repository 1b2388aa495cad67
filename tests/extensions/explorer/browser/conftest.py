"""Pages in a real browser: Debian's Chromium, driven by Playwright, never downloaded.

Where there is none the tests are skipped, and say so.
"""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return the browser, one for all tests of a process."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium here: apt-get install chromium, to test the pages")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=list(ARGUMENTS)
        )
        yield opened
        opened.close()


class Visit:
    """A page that is open, and all that went wrong on it."""

    def __init__(self, context: Any, page: Any) -> None:
        self.context, self.page = context, page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._heard)
        page.on("dialog", self._asked)
        page.on("request", lambda request: self.requests.append(request.url))

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _asked(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def visit(browser, tmp_path) -> Iterator[Callable[..., Any]]:
    """Open pages; at the end nothing may have failed, nor left a page."""
    visits = []

    def opened(html: str, **options: Any) -> Any:
        path = tmp_path / f"page{len(visits)}.html"
        path.write_text(html, encoding="utf-8")
        size = options.pop("size", (1280, 800))
        ready = options.pop("ready", "[data-ready]")
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, **options
        )
        visits.append(Visit(context, context.new_page()))
        page = visits[-1].page
        page.set_default_timeout(10_000)
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        return page

    yield opened
    for each in visits:
        each.context.close()
        assert each.errors == []
        urls = {url for url in each.requests if not url.startswith("blob:")}
        assert urls == {each.requests[0]}
