"""Names that have broken pages, pictures, tables and terminals of other programs.

Lone surrogates and names of spaces alone are not here: no table has them.
"""

NAMES = (
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><script>alert(1)</script>",
    "javascript:alert(1)",
    "${alert(1)}",
    "]]><!--",
    "</style></title></desc></svg>",
    "&amp;&lt;&#0;&nbsp;",
    "line\u2028and\u2029paragraph",
    "NUL\x00BEL\x07ESC\x1b[31mred",
    "not a character \ufffe \uffff",
    "=1+1",
    "\ttab\rreturn\nnewline",
    "[/x] [bold]markup",
    '\\N\\L \\"quoted\\" back\\',
    "right\u202eto left",
    "e\u0301\u0323\u0300 家族 👩‍👩‍👧 \U0001f600",
    "x" * 2000,
)
