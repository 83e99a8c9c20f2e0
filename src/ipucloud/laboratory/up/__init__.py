"""`ipucloud up`: a complete system on this machine."""
