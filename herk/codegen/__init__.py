"""What generated code may use, and the functions between its conventions and those of users' callables."""
