"""A regression and repro harness around Apache TVM."""
