"""Makes ``pytest repros/`` collect the cases."""

pytest_plugins = ["harness.pytest_plugin"]
