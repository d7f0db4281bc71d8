"""Fairness tests inside scikit-learn's and fairlearn's tools: scorers, selection, wrappers, the splitter, the frame."""
