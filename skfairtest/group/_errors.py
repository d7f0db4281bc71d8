"""Why a test has nothing to say, for those who have to tell it apart from a wrong parameter."""


class GroupsMissing(ValueError):
    """The people are of fewer than two groups that could be compared."""


class NothingDefined(ValueError):
    """There are groups, and the metric is defined in no two of them."""
