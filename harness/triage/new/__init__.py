"""From a report, or a script, to a case: read by its syntax tree, never executed."""
