"""Model files: arrays and a header, checked completely before a model is built."""

from spinney.output.file.json_file import is_json
from spinney.output.file.model_files import (
    KINDS,
    kind_name,
    load_model,
    save_model,
    saved_content,
)
