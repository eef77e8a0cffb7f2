"""What TVM does with a case. The parent's side (`pool`) never imports TVM; the children do."""
