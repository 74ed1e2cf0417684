"""One browser for all tests of the page, and the page that most of them use."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import WHY_NOT, Browser, is_here, open_browser
from page_models import NETWORKS, open_page, packed_file


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not is_here():
        pytest.skip(WHY_NOT)
    with open_browser() as found:
        yield found


@pytest.fixture
def keyboard(tmp_path: Path, browser: Browser) -> Browser:
    """The browser with the page of a coded model, whose file is `model.few` in the test's folder."""
    open_page(browser, packed_file(tmp_path, *NETWORKS["coded and tied, 4 bits"]))
    return browser
