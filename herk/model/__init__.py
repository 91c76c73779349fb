"""From equations as written to every form a solver needs: doors, index reduction, forms, starts."""
