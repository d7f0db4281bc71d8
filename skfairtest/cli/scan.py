"""``skfairtest scan``: which subgroups of a file's people differ, searched over combinations of columns."""

from __future__ import annotations

from collections.abc import Callable

from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.options import Asked
from skfairtest.cli.output import check_outputs, watched, write_asked
from skfairtest.cli.status import Status

ASKED = (
    "file y_true y_pred y_score sensitive.scan feature control encoding max_depth min_group_size n_bins max_subgroups "
    "metric.scan pos_label compare.scan guarantee alpha.scan n_resamples.scan seed.scan format output html json.found "
    "markdown no_color"
)


def scan(asked: Asked) -> Status:
    """Search a file."""
    check_level(asked.alpha)
    if not asked.sensitive:
        raise BadInput("--sensitive is missing: name the columns that describe subgroups")
    check_outputs(asked.outputs, [asked.file])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import cast_pos_label, cut_where_many, read_people
    from skfairtest.report.export import to_csv
    from skfairtest.subgroups.fairness import SubgroupScan

    features = list(asked.feature or ())
    columns = asked.columns(sensitive=tuple(dict.fromkeys([*asked.sensitive, *features])))

    def work() -> SubgroupScan:
        people = read_people(asked.file, columns)
        return SubgroupScan.from_predictions(
            people.y_true,
            people.y_pred,
            y_score=people.y_score,
            sensitive_features={
                name: cut_where_many(values, asked.n_bins) for name, values in people.sensitive.items()
            },
            control_features=people.control or None,
            metric=list(asked.metric) if asked.metric else "equalized_odds",
            compare=asked.compare,
            max_depth=asked.max_depth,
            min_group_size=asked.min_group_size,
            features=features or None,
            n_bins=asked.n_bins,
            max_subgroups=asked.max_subgroups,
            guarantee=asked.guarantee,
            confidence_level=1 - asked.alpha,
            pos_label=None if asked.pos_label is None else cast_pos_label(asked.pos_label, people.labels),
            n_resamples=asked.n_resamples,
            random_state=asked.seed,
        )

    with watched(asked.no_color):
        found, _ = audited(work)
    makers: dict[str, Callable[[], str]] = {
        "html": found.to_html,
        "json": found.to_json,
        "markdown": found.to_markdown,
        "csv": lambda: to_csv(found.to_frame()),
    }
    write_asked(asked, lambda _: found._document(), makers)
    return Status.SIGNIFICANT if found.concern_ else Status.DONE
