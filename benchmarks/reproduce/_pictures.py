"""The pictures of the sources, drawn from their stored figures.

A module has them in `PICTURES`, by name, and its run returns the figures of each in `Found.pictures` under that name.
"""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.common.svg import svg


@dataclass(frozen=True)
class Picture:
    """A picture of a page.

    `section` is the title of the table below which it stands. `description` says in words what there is to see, and may
    hold facts in braces, as the page's text does. `paint` takes a new matplotlib figure and the stored figures, and
    puts axes where they belong; it draws lines, marks and polygons (of a heat map: pcolormesh), not images.
    """

    section: str
    title: str
    description: str
    inches: tuple[float, float]
    paint: Callable[[object, object], None]


def file_name(source, name):
    return f"{source}_{name}.svg"


def pictures_of(module):
    return getattr(module, "PICTURES", {})


def described(picture, document):
    return picture.description.format_map(document["facts"])


def drawings(module, source, document):
    """Return the text of each of a source's SVG files by its name: always the same for the same figures."""
    return {
        file_name(source, name): svg(
            lambda figure, picture=picture, name=name: picture.paint(figure, document["pictures"][name]),
            inches=picture.inches, title=picture.title, description=described(picture, document),
        )
        for name, picture in pictures_of(module).items()
    }  # fmt: skip
