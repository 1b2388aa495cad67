"""What the study of recipes needs of a folder of tables."""

import pytest
from benchmarks.tables import facts_of


def test_a_folder_without_facts(tmp_path):
    with pytest.raises(SystemExit, match=r"holds no schema\.json, .* docs/auto\.md"):
        facts_of(tmp_path)
