"""Modules of the explorer, run by Node.js without a page."""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spinney.extensions.explorer

NODE = shutil.which("node")
PAGE = Path(spinney.extensions.explorer.__file__).parent / "page"


def by_node(module: str, expression: str, given: Any) -> Any:
    """Return what JavaScript makes of plain data, which is called ``given``.

    What the module exports is in ``each``.

    >>> by_node("numbers.js", "given.map(each.weightText)", [7, 0.5])
    ['7', '0.5']
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path in PAGE.glob("*.js"):
            shutil.copy(path, folder)
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "given.json").write_text(json.dumps(given))
        (folder / "run.js").write_text(
            'import {readFileSync} from "node:fs";\n'
            f'import * as each from "./{module}";\n'
            'const url = new URL("given.json", import.meta.url);\n'
            'const given = JSON.parse(readFileSync(url, "utf8"));\n'
            f"console.log(JSON.stringify({expression}));\n"
        )
        done = subprocess.run(
            [NODE, folder / "run.js"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
