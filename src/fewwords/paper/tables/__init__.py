"""From the records of finished cells to tables, claims, controls and a headline, beside the paper's own figures."""
