"""`ipucloud up`: a whole system on this machine."""
