"""The libraries that are measured, each used as its documentation has it; loaded one in a process."""
