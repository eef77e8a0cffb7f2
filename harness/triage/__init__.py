"""What an engineer does next with a case. Never imports TVM."""
