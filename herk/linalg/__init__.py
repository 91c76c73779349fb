"""Factor and solve: all linear algebra of compiled code goes through this room."""
