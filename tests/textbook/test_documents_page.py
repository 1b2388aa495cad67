"""docs/documents.md goes through the five documents and leaves nothing numbered out."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "documents.md"

# What the documents number: formulas, tables, figures, algorithms, definitions,
# sections. A range "(4.9) to (4.11)" names all that is in it.
NUMBERED = {
    "000": [
        *(f"Fig. 4.{n}" for n in range(1, 9)),
        *(f"Table 4.{n}" for n in range(1, 5)),
        *(f"(4.{n})" for n in range(1, 13)),
        "Algorithm 4.1",
        *("2.1", "2.2", "2.3", "3.1", "3.2", "4.1", "4.2"),
        "Clustering",
    ],
    "001": [
        *("Table 1", "Tables 1 to 4", "Algorithm 1", "Figures 1 and 2", "elbow"),
        *("Random forests", "Mixed data", "Euclidean"),
    ],
    "002": [
        *("hypothesis space", "rectangles", "boolean", "EnjoySport", "Definition 1"),
        *("Definition 2", "DT-construct", "DT-classify", "Size", "error", "costs"),
        *("Misclassification", "Definitions 8 and 9", "Self-information", "polythetic"),
    ],
    "003": [
        *("149", "Step 5", "6.5", "7.5", "identifies rows", "Buckets", "n − 1"),
        *("Random forest", "correlations"),
    ],
    "004": [
        *("2.1", "2.2", "5.1", "5.3", "5.4", "5.5", "(6)", "(7)", "(8)"),
        *("0.443", "0.458", "0.450", "1.557", "0.459"),
    ],
}


def parts_of_the_page():
    parts = re.split(r"^## (\d{3})", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def spelled_out(text):
    """Return a text with all that its ranges of formulas name."""
    for first, last in re.findall(r"\(4\.(\d+)\) to \(4\.(\d+)\)", text):
        text += "".join(f" (4.{n})" for n in range(int(first), int(last) + 1))
    return text


@pytest.mark.parametrize("document", sorted(NUMBERED))
def test_the_page_has_what_a_document_numbers(document):
    text = spelled_out(parts_of_the_page()[document])
    missing = [name for name in NUMBERED[document] if name not in text]
    assert not missing
