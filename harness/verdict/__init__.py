"""What a trace means: outcomes, expectations, signatures, verdicts. Never imports TVM."""
