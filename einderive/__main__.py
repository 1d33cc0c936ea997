"""`python -m einderive ...` is the command `einderive ...`."""

import sys

from einderive.frontend.cli.main import main

sys.exit(main())
