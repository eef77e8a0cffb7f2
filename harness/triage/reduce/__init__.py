"""The smallest case that fails in the same way. Runs candidates in children, imports no TVM."""
