"""Commands that people bring along, for the form: shell scripts, Python, YAML and JSON, of ms-swift 2 to 4.

They are read by their syntax trees and never executed; no process is started, and no file is read but the
configuration files (and Python files) a command names, within the folders TuneDesk may read.
"""

from __future__ import annotations

from services.swift.importer.imported import Imported, spec_json
from services.swift.importer.read import import_file, import_text
from services.swift.importer.text import Said
from services.swift.importer.translation import Rejected, Translated

__all__ = ["Imported", "Rejected", "Said", "Translated", "import_file", "import_text", "spec_json"]
