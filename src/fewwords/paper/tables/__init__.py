"""From the records of finished cells to one object: tables 1 to 4, figure 4, claims, controls, beside the paper's own figures."""
