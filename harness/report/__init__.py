"""What people and scripts get to see. Never imports TVM."""
