"""The number of grown trees, for a progress callback."""

from spinney._support.checks import Progress, check_progress


class GrownTrees:
    """Progress reports: the number of grown trees, and the expected number."""

    def __init__(self, progress: Progress | None) -> None:
        check_progress(progress)
        self.progress, self.done, self.total = progress, 0, 0

    def expect(self, number: int) -> None:
        """Expect more trees."""
        self.total += number
        self._report()

    def grown(self) -> None:
        """Count one grown tree; small tables may need fewer trees than expected."""
        self.done = min(self.done + 1, self.total)
        self._report()

    def finish(self) -> None:
        """Report that all trees are grown."""
        self.done = self.total
        self._report()

    def _report(self) -> None:
        if self.progress is not None and self.total:
            self.progress(self.done, self.total)
