"""``skfairtest scan``: which subgroups of a file's people differ, searched over combinations of columns."""

from __future__ import annotations

from collections.abc import Callable

from skfairtest.cli import options
from skfairtest.cli.errors import BadInput, check_level
from skfairtest.cli.header import UTF_8, check_encoding
from skfairtest.cli.output import check_outputs, deliver, watched, write_out
from skfairtest.cli.status import Status

__all__ = ["scan"]


def scan(
    file: options.ScanFile,
    *,
    y_true: options.Truth = None,
    y_pred: options.Prediction = None,
    y_score: options.Score = None,
    sensitive: options.ScanSensitive = None,
    feature: options.Feature = None,
    control: options.Control = None,
    encoding: options.Encoding = UTF_8,
    max_depth: options.MaxDepth = 2,
    min_group_size: options.MinGroupSize = 50,
    n_bins: options.Bins = 5,
    max_subgroups: options.MaxSubgroups = 200_000,
    metric: options.ScanMetric = None,
    pos_label: options.PosLabel = None,
    compare: options.ScanCompare = "to_rest",
    guarantee: options.Guarantee = "familywise",
    alpha: options.ScanAlpha = 0.05,
    n_resamples: options.Permutations = 999,
    seed: options.ScanSeed = 0,
    format_: options.Format = "table",
    output: options.Output = None,
    html: options.Html = None,
    json: options.ScanJson = None,
    markdown: options.Markdown = None,
    no_color: options.NoColor = False,
) -> Status:
    """Search a file."""
    check_level(alpha)
    reports = {"--html": html, "--json": json, "--markdown": markdown}
    if not sensitive:
        raise BadInput("--sensitive is missing: name the columns that describe subgroups")
    check_outputs({"--output": output, **reports}, [file])
    from skfairtest.cli.auditing import audited
    from skfairtest.cli.files import Columns, cast_pos_label, cut_where_many, read_people
    from skfairtest.report.export import to_csv
    from skfairtest.subgroups.fairness import SubgroupScan

    features = list(feature or ())
    described = tuple(dict.fromkeys([*sensitive, *features]))
    columns = Columns(y_true, y_pred, described, tuple(control or ()), y_score, None, None, check_encoding(encoding))

    def work() -> SubgroupScan:
        people = read_people(file, columns)
        return SubgroupScan.from_predictions(
            people.y_true,
            people.y_pred,
            y_score=people.y_score,
            sensitive_features={name: cut_where_many(values, n_bins) for name, values in people.sensitive.items()},
            control_features=people.control or None,
            metric=list(metric) if metric else "equalized_odds",
            compare=compare,
            max_depth=max_depth,
            min_group_size=min_group_size,
            features=features or None,
            n_bins=n_bins,
            max_subgroups=max_subgroups,
            guarantee=guarantee,
            confidence_level=1 - alpha,
            pos_label=None if pos_label is None else cast_pos_label(pos_label, people.labels),
            n_resamples=n_resamples,
            random_state=seed,
        )

    with watched(no_color):
        found, _ = audited(work)
    makers: dict[str, Callable[[], str]] = {
        "--html": found.to_html,
        "--json": found.to_json,
        "--markdown": found.to_markdown,
    }
    if format_ == "table":
        deliver(lambda _: found._document(), output, no_color=no_color)
    elif format_ == "csv":
        write_out(to_csv(found.to_frame()), output)
    else:
        write_out(makers[f"--{format_}"](), output)
    for option, path in reports.items():
        if path is not None:
            write_out(makers[option](), path, option=option)
    return Status.SIGNIFICANT if found.concern_ else Status.DONE
