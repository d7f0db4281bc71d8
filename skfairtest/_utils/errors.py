"""Why a test has nothing to say, for those who have to tell it apart from a wrong parameter."""


class GroupsMissing(ValueError):
    """The people lack groups that are to be compared: there are fewer than two, or not the reference."""


class NothingDefined(ValueError):
    """There are groups, and the metric is defined in no two of them."""
