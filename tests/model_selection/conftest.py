"""What several test files of this room share."""

import pytest
import sklearn


@pytest.fixture
def routing():
    """Metadata routing, enabled for one test."""
    with sklearn.config_context(enable_metadata_routing=True):
        yield
