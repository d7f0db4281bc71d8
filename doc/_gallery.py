"""The order in which the gallery tells its story, and how its plots look."""

ORDER = (
    "plot_audit.py",
    "plot_compas.py",
    "plot_berkeley.py",
    "plot_small_groups.py",
    "plot_intersections.py",
    "plot_subgroups.py",
    "plot_four_fifths.py",
    "plot_thresholds.py",
    "plot_power.py",
    "plot_diabetes.py",
    "plot_correlation.py",
    "plot_any_metric.py",
    "plot_permuting_labels.py",
    "plot_dataset_bias.py",
    "plot_mitigation.py",
    "plot_model_selection.py",
    "plot_two_models.py",
    "plot_monitoring.py",
    "plot_individual_fairness.py",
)


class Story:
    """Sphinx-gallery's sorting key: the place of an example in `ORDER`."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        """Return the place of one file; `tests/doc` sees to it that each has one."""
        return ORDER.index(filename)

    def __repr__(self):
        """Stay the same from build to build, so that Sphinx sees no change."""
        return "<Story>"


def house_style(gallery_conf, filename):
    """Give the plots that an example draws itself the colours of the reports."""
    import matplotlib as mpl

    from skfairtest.report.draw import BLUE, GREY, ORANGE

    mpl.rcParams.update(
        {
            "axes.prop_cycle": mpl.cycler(color=[BLUE, ORANGE, "#009E73", "#CC79A7", GREY]),
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
