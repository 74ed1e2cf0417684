"""The Encoding subnet: one encoder a file."""
