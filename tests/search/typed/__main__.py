"""Print how many queries of the bed are read right, and with `--misread` which of the open part are not."""

from __future__ import annotations

import sys

from tests.search.typed import bed, formulas_read, is_read_right

for name, held_back in (("open", False), ("held back", True)):
    part = [query for query in bed() if query.is_held_back == held_back]
    right = [query for query in part if is_read_right(query)]
    print(f"{name}: {len(right)} of {len(part)} read right")
    if "--misread" in sys.argv and not held_back:
        for query in part:
            if query not in right:
                print(f"  {query.text!r}: {formulas_read(query.text)}, meant {query.meant}")
