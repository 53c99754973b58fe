"""Makes the modules of this folder importable; judge, rubric and cases are set in pytest.ini."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
