"""Topics, runs, judgments, measures, significance, comparison and its report; baselines to compare with."""
