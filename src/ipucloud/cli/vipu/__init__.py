"""`ipucloud vipu`: the `vipu` command of Poplar servers for remote use, over the controller's own protocol."""
