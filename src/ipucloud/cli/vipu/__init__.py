"""`ipucloud vipu` and `ipucloud vipu-admin`: the commands of the vendor for remote use."""
