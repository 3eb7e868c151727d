"""A column: what a workload runs under.

A column that attaches is given a running process; a column that launches has to start it. Both give a context manager
with finish(), which takes the number of allocations that the workload made and raises Unmeasured unless the tracer can
show that it saw them. Without that a fast tool may just be one that did nothing.
"""


class Column:
    """`cost_ns` is about what a malloc+free pair takes; sizes follow from it. `why_not`: why every cell is empty.
    `most_live`: the blocks that it can hold.
    `ours` must not fail. `main` columns carry the limits and are measured with more rounds and at full size."""
    attaches = False
    launches = False
    ours = False
    main = False
    why_not = None
    most_live = None

    def __init__(self, key, title, cost_ns):
        self.key = key
        self.title = title
        self.cost_ns = cost_ns
        self.floor = None

    def takes(self, row):
        """Whether the row is measured under this column."""
        # Code without frame pointers makes a difference to hawktrace alone, and it alone follows mappings.
        return self.main or not row.startswith(('no_fp', 'mapping'))

    def cost_at(self, _frames):
        return self.cost_ns
