"""A page that runs a packed model in any browser."""
