"""Tables as people have them, made here: each named by its mess.

A case is the bytes of a file, and what is to be read of it. ``told`` is part of the
note that says what was done; None where nothing is said.
"""

import csv
import datetime
import io
from dataclasses import dataclass, field
from typing import Any

DAYS = [
    datetime.date(2026, 11, 17),
    datetime.date(2026, 12, 1),
    datetime.date(2027, 1, 31),
]
NUMBER_FORMATS = [1017.77, 5433.86, 3.5]
DAY = 86_400


def day_number(day: datetime.date) -> float:
    return float((day - datetime.date(1970, 1, 1)).days)


@dataclass
class Messy:
    """One table: its file, what its columns hold, and what is said."""

    content: bytes
    columns: dict[str, list[Any]]
    told: str | None = None
    name: str = "table.csv"
    settings: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


def lines(*rows: str, end: str = "\n", encoding: str = "utf-8") -> bytes:
    return (end.join(rows) + end).encode(encoding)


def column_of(cells: list[str], delimiter: str = ",") -> bytes:
    """Return a file with a column of these cells, and one of letters beside it."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["x", "y"])
    writer.writerows([cell, "ab"[i % 2]] for i, cell in enumerate(cells))
    return text.getvalue().encode()


def numbers(cells: list[str], told: str | None, *, delimiter: str = ",", **more: Any):
    """Return a table whose column x holds the three numbers."""
    return Messy(
        column_of(cells, delimiter),
        {"x": NUMBER_FORMATS, "y": ["a", "b", "a"]},
        told,
        **more,
    )


def dates(cells: list[str], told: str | None = "read as dates: x", **more: Any):
    """Return a table whose column x holds the three days."""
    days = [day_number(day) for day in DAYS]
    return Messy(column_of(cells), {"x": days, "y": ["a", "b", "a"]}, told, **more)


def missing(marker: str) -> Messy:
    """Return a table in which a text stands for a number that is not there."""
    cells = ["1", marker, "2.5"]
    columns = {"x": [1, None, 2.5], "y": ["a", "b", "a"]}
    everywhere = "" if marker in ("NA", "-") else "in all columns, as "
    told = f"read as missing: {marker!r} {everywhere}in 'x'"
    return Messy(column_of(cells), columns, told)


AS_NUMBERS = "read as numbers: x"
PLAIN = {"a": [1, 2], "b": ["x", "y"]}
SIMPLE = ("a,b", "1,x", "2,y")

MESSY = {
    # numbers
    "thousands with commas": numbers(["1,017.77", "5,433.86", "3.5"], AS_NUMBERS),
    "decimal commas between semicolons": numbers(
        ["1017,77", "5433,86", "3,5"], AS_NUMBERS, delimiter=";"
    ),
    "decimal commas in quotes": numbers(["1017,77", "5433,86", "3,5"], AS_NUMBERS),
    "German thousands": numbers(["1.017,77", "5.433,86", "3,50"], AS_NUMBERS),
    "French thousands": numbers(["1 017,77", "5 433,86", "3,5"], AS_NUMBERS),
    "thousands with narrow spaces": numbers(
        ["1\u202f017,77", "5\u00a0433,86", "3,5"], AS_NUMBERS
    ),
    "Swiss thousands": numbers(["1'017.77", "5'433.86", "3.5"], AS_NUMBERS),
    "dollars": numbers(["$1,017.77", "$5,433.86", "$3.50"], AS_NUMBERS),
    "euros after the number": numbers(
        ["1.017,77 €", "5.433,86 €", "3,50 €"], AS_NUMBERS
    ),
    "currency by its letters": numbers(
        ["USD 1017.77", "5433.86 USD", "3.5"], AS_NUMBERS
    ),
    "kilograms": numbers(
        ["1017.77 kg", "5,433.86 kg", "3.5 kg"], "('5,433.86 kg' is 5433.86 kg)"
    ),
    "square feet": numbers(["1,017.77 sq ft", "5433.86 sq ft", "3.5 sq ft"], "sq ft"),
    "thousands and millions": Messy(
        column_of(["950", "1.2K", "3M"]),
        {"x": [950.0, 1200.0, 3e6], "y": ["a", "b", "a"]},
        "read as numbers: x ('1.2K' is 1200)",
    ),
    "hours and minutes": Messy(
        column_of(["5h 34m", "45m", "1 day"]),
        {"x": [334.0, 45.0, 1440.0], "y": ["a", "b", "a"]},
        "read as durations: x ('5h 34m' is 334 min)",
    ),
    "brackets for losses": Messy(
        column_of(["(1,047.65)", "12.00", "$ (3.5)"]),
        {"x": [-1047.65, 12.0, -3.5], "y": ["a", "b", "a"]},
        "is -1047.65",
    ),
    "a minus sign behind": Messy(
        column_of(["1.047,65-", "12,00", "3,5 €-"], ";"),
        {"x": [-1047.65, 12.0, -3.5], "y": ["a", "b", "a"]},
        "is -",
    ),
    "a typographer's minus sign": Messy(
        column_of(["−5.00", "12.00", "−0.5"]),
        {"x": [-5.0, 12.0, -0.5], "y": ["a", "b", "a"]},
        "('−5.00' is -5)",
    ),
    "apostrophes that Excel writes": Messy(
        column_of(["'306", "'12", "7"]),
        {"x": [306.0, 12.0, 7.0], "y": ["a", "b", "a"]},
        AS_NUMBERS,
    ),
    "seats stay text": Messy(
        column_of(["12A", "12B", "7A"]),
        {"x": ["12A", "12B", "7A"], "y": ["a", "b", "a"]},
    ),
    "two units stay text": Messy(
        column_of(["70 kg", "154 lbs", "80 kg"]),
        {"x": ["70 kg", "154 lbs", "80 kg"], "y": ["a", "b", "a"]},
    ),
    "percent": numbers(["1017.77%", "5433.86%", "3.5%"], AS_NUMBERS),
    "percent after a space, with commas": numbers(
        ["1017,77 %", "5433,86 %", "3,5 %"], AS_NUMBERS
    ),
    "negative with a currency": Messy(
        column_of(["-$5.00", "$-6.50", "$7"]),
        {"x": [-5, -6.5, 7], "y": ["a", "b", "a"]},
        AS_NUMBERS,
    ),
    "spaces around numbers": Messy(
        lines("x,y", " 1 ,a", "2 ,b"), {"x": [1, 2], "y": ["a", "b"]}
    ),
    "whole thousands between commas": Messy(
        column_of(["1,234", "2,500"]),
        {"x": [1234, 2500], "y": ["a", "b"]},
        "'2,500' is 2500",
    ),
    "three decimals between semicolons": Messy(
        column_of(["1,234", "2,500"], ";"),
        {"x": [1.234, 2.5], "y": ["a", "b"]},
        "'2,500' is 2.5",
    ),
    "whole thousands that a column beside them explains": Messy(
        lines("x;y", "1.234;0,5", "100;2,25"),
        {"x": [1234, 100], "y": [0.5, 2.25]},
        "x ('1.234' is 1234)",
    ),
    "points before fractions in a file with commas": Messy(
        lines("x;y", "1.5;0,5", "100.25;2,25"),
        {"x": [1.5, 100.25], "y": [0.5, 2.25]},
        "read as numbers: y",
    ),
    "decimal said": numbers(
        ["1017,77", "5433,86", "3,5"], None, settings={"decimal": ","}
    ),
    "decimal said against all looks": Messy(
        column_of(["1,234", "2,500"]),
        {"x": [1.234, 2.5], "y": ["a", "b"]},
        settings={"decimal": ","},
    ),
    "thousands said": Messy(
        column_of(["1,234", "2,500"], ";"),
        {"x": [1234, 2500], "y": ["a", "b"]},
        settings={"decimal": ".", "thousands": ","},
    ),
    "two currencies stay text": Messy(
        column_of(["$5", "€6"]), {"x": ["$5", "€6"], "y": ["a", "b"]}
    ),
    "fractions of three digits": Messy(
        column_of(["0,123", "0,456"]),
        {"x": [0.123, 0.456], "y": ["a", "b"]},
        AS_NUMBERS,
    ),
    "two signs are none": Messy(
        column_of(["-$-5", "$6"]), {"x": ["-$-5", "$6"], "y": ["a", "b"]}
    ),
    "times with offsets": Messy(
        column_of(["2020-01-01 00:00:00+02:00", "2020-01-01 00:00:00-08:00"]),
        {"x": [1577829600.0, 1577865600.0], "y": ["a", "b"]},
    ),
    "percent and shares stay text": Messy(
        column_of(["5 %", "0.05"]), {"x": ["5 %", "0.05"], "y": ["a", "b"]}
    ),
    "telephone numbers stay text": Messy(
        column_of(["030-1234", "040-5678"]),
        {"x": ["030-1234", "040-5678"], "y": ["a", "b"]},
    ),
    "versions stay text": Messy(
        column_of(["1.2.3", "1.10.0"]), {"x": ["1.2.3", "1.10.0"], "y": ["a", "b"]}
    ),
    # dates
    "German dates": dates(["17.11.2026", "1.12.2026", "31.01.2027"]),
    "US dates": dates(["11/17/2026", "12/1/2026", "01/31/2027"]),
    "British dates": dates(["17/11/2026", "1/12/2026", "31/01/2027"]),
    "dates with dashes, day first": dates(["17-11-2026", "1-12-2026", "31-01-2027"]),
    "years of two digits": dates(["17.11.26", "1.12.26", "31.01.27"]),
    "years first, with slashes": dates(["2026/11/17", "2026/12/1", "2027/01/31"]),
    "months by name": dates(["17 Nov 2026", "1 Dec 2026", "31 Jan 2027"]),
    "months by name and dashes": dates(["17-Nov-26", "1-Dec-26", "31-Jan-27"]),
    "months by whole names, first": dates(
        ["November 17, 2026", "December 1, 2026", "January 31, 2027"]
    ),
    "dates with a gap": Messy(
        column_of(["17.11.2026", "N/A", "31.01.2027"]),
        {"x": [day_number(DAYS[0]), None, day_number(DAYS[2])], "y": ["a", "b", "a"]},
        "read as dates: x",
    ),
    "US times": Messy(
        column_of(["11/17/2026 1:05 PM", "11/18/2026 12:00 AM"]),
        {
            "x": [
                day_number(DAYS[0]) * 86_400 + 47_100,
                (day_number(DAYS[0]) + 1) * 86_400,
            ],
            "y": ["a", "b"],
        },
        "read as dates: x",
    ),
    "dates in two ways": Messy(
        column_of(["03/04/2026", "05/06/2026"]),
        {"x": ["03/04/2026", "05/06/2026"], "y": ["a", "b"]},
        "is ambiguous: set dates='dayfirst' or dates='monthfirst'",
    ),
    "dates in two ways, said": Messy(
        column_of(["03/04/2026", "05/06/2026"]),
        {
            "x": [
                day_number(datetime.date(2026, 4, 3)),
                day_number(datetime.date(2026, 6, 5)),
            ],
            "y": ["a", "b"],
        },
        settings={"dates": "dayfirst"},
    ),
    "days that no calendar has": Messy(
        column_of(["31.02.2026", "17.11.2026"]),
        {"x": ["31.02.2026", "17.11.2026"], "y": ["a", "b"]},
    ),
    "times of day": Messy(
        column_of(["8:15", "09:30", "23:45:10"]),
        {"x": [29_700, 34_200, 85_510], "y": ["a", "b", "a"]},
        "read as times of day: x ('8:15' is 08:15)",
    ),
    "times of day, by halves, with a gap": Messy(
        column_of(["12:15 am", "12:05 PM", "N/A", "11:45pm"]),
        {"x": [900, 43_500, None, 85_500], "y": ["a", "b", "a", "b"]},
        "read as times of day: x",
    ),
    "times that no clock has": Messy(
        column_of(["24:30", "10:75", "13:00 pm"]),
        {"x": ["24:30", "10:75", "13:00 pm"], "y": ["a", "b", "a"]},
    ),
    "zeros before numbers": Messy(
        column_of(["01067", "10115", "80331"]),
        {"x": [1067, 10115, 80331], "y": ["a", "b", "a"]},
        "('01067' is 1067): for codes or labels declare nominal=['x']",
    ),
    "zeros before a number beside fractions": Messy(
        column_of(["007", "09.5", "12"]),
        {"x": [7, 9.5, 12], "y": ["a", "b", "a"]},
        "('007' is 7): for codes or labels declare nominal=['x']",
    ),
    "a space and zeros before a number": Messy(
        column_of([" 007", "8", "12"]),
        {"x": [7, 8, 12], "y": ["a", "b", "a"]},
        "('007' is 7): for codes or labels declare nominal=['x']",
    ),
    "a sign and zeros before a number": Messy(
        column_of(["-007", "8", "12"]),
        {"x": [-7, 8, 12], "y": ["a", "b", "a"]},
        "('-007' is -7): for codes or labels declare nominal=['x']",
    ),
    "a zero alone": Messy(
        column_of(["0", "-0", "0e3", "0.0"]),
        {"x": [0, 0, 0, 0], "y": ["a", "b", "a", "b"]},
    ),
    "zeros before fractions": Messy(
        column_of(["0.5", "0", "00.25"]),
        {"x": [0.5, 0, 0.25], "y": ["a", "b", "a"]},
    ),
    # missing cells
    "question mark": missing("?"),
    "NA": missing("NA"),
    "N/A": missing("N/A"),
    "dash": missing("-"),
    "Excel's #N/A": missing("#N/A"),
    "NULL": missing("NULL"),
    "several markers in one column": Messy(
        column_of(["1", "?", "NA", "", "#N/A", "-", "2"]),
        {"x": [1, None, None, None, None, None, 2], "y": list("abababa")},
        "'-' and 'NA' in 'x', '#N/A' and '?' in all columns, as in 'x'",
    ),
    "a marker among numbers and names": Messy(
        lines("x,y", "1,a", "?,?", "2,b"),
        {"x": [1, None, 2], "y": ["a", None, "b"]},
        "read as missing: '?' in all columns, as in 'x'",
    ),
    "NA among numbers and names": Messy(
        lines("x,y", "1,a", "NA,NA", "2,b"),
        {"x": [1, None, 2], "y": ["a", "NA", "b"]},
        "read as missing: 'NA' in 'x'",
    ),
    "a marker among names is a name": Messy(
        column_of(["red", "NA", "blue"]), {"x": ["red", "NA", "blue"], "y": list("aba")}
    ),
    "plus and minus are classes": Messy(
        column_of(["+", "-", "+"]), {"x": ["+", "-", "+"], "y": list("aba")}
    ),
    # heads
    "index of pandas": Messy(
        lines(",a,b", "0,1,x", "1,2,y"),
        PLAIN,
        "names the rows and was excluded",
    ),
    "index of pandas beside one column": Messy(
        lines(",b", "0,x", "1,y"), {"b": ["x", "y"]}, "names the rows and was excluded"
    ),
    "names that are numbers": Messy(
        lines("2024,2025", "x,1", "y,2"), {"2024": ["x", "y"], "2025": [1, 2]}
    ),
    "index of pandas, read and written again": Messy(
        lines("Unnamed: 0,a,b", "0,1,x", "1,2,y"), PLAIN, "called 'Unnamed: 0'"
    ),
    "row names of R's write.csv": Messy(
        lines('"","a","b"', '"r1",1,"x"', '"r2",2,"y"'), PLAIN, "was excluded"
    ),
    "row names of R's write.table": Messy(
        lines("a,b", "r1,1,x", "r2,2,y"), PLAIN, "was excluded"
    ),
    "a name twice": Messy(
        lines("a,a,b", "1,3,x", "2,4,y"),
        {"a": [1, 2], "a_2": [3, 4], "b": ["x", "y"]},
        "a second column 'a' is renamed 'a_2'",
    ),
    "a name thrice, and one of the new names": Messy(
        lines("a,a,a_2,a", "1,3,5,7", "2,4,6,8"),
        {"a": [1, 2], "a_3": [3, 4], "a_2": [5, 6], "a_4": [7, 8]},
        "is renamed 'a_3'",
    ),
    "a column without a name": Messy(
        lines("a,,b", "1,5,x", "2,5,y"),
        {"a": [1, 2], "column 2": [5, 5], "b": ["x", "y"]},
        "is called 'column 2'",
    ),
    "a delimiter too many in each row": Messy(
        lines("a,b", "1,x,", "2,y,"), PLAIN, "is empty and was excluded"
    ),
    "a delimiter too many in each line": Messy(
        lines("a,b,", "1,x,", "2,y,"), PLAIN, "is empty and was excluded"
    ),
    "a title": Messy(
        lines("Sales in May", "", *SIMPLE),
        PLAIN,
        "lines above the header were skipped (skip=2)",
    ),
    "a title with empty cells": Messy(
        lines("Sales in May,", ",", *SIMPLE),
        PLAIN,
        "lines above the header were skipped (skip=2)",
    ),
    "titles said": Messy(
        lines("made by,us", "in,May", *SIMPLE), PLAIN, settings={"skip": 2}
    ),
    "empty lines above": Messy(
        lines("", "", *SIMPLE), PLAIN, "lines above the header were skipped (skip=2)"
    ),
    # bytes
    "mixed line ends": Messy(b"a,b\r\n1,x\n2,y\r\n", PLAIN),
    "line ends of old Macs": Messy(lines(*SIMPLE, end="\r"), PLAIN),
    "byte order mark": Messy(b"\xef\xbb\xbf" + lines(*SIMPLE), PLAIN),
    "UTF-16": Messy(lines(*SIMPLE, encoding="utf-16"), PLAIN),
    "UTF-16, the other order": Messy(
        b"\xfe\xff" + lines(*SIMPLE, encoding="utf-16-be"), PLAIN
    ),
    "Windows-1252": Messy(
        lines("a,b", "1,café", "2,5 €", encoding="cp1252"),
        {"a": [1, 2], "b": ["café", "5 €"]},
        "read with encoding='cp1252'",
    ),
    "latin-1 with a byte that Windows lacks": Messy(
        b"a,b\n1,caf\xe9\n2,\x81\n",
        {"a": [1, 2], "b": ["café", "\x81"]},
        "encoding='latin-1'",
    ),
    "tabs under the name of CSV": Messy(lines("a\tb", "1\tx", "2\ty"), PLAIN),
    "quoted line breaks of Excel": Messy(
        b'a,b\r\n1,"x\ny"\r\n2,z\r\n', {"a": [1, 2], "b": ["x\ny", "z"]}
    ),
    "JSON lines with texts": Messy(
        lines('{"a": "1,017.77", "b": "x"}', '{"a": "N/A", "b": "y"}', '{"a": "3"}'),
        {"a": [1017.77, None, 3], "b": ["x", "y", None]},
        "read as numbers: a",
        name="table.jsonl",
    ),
}
