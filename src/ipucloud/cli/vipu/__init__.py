"""`ipucloud vipu`: the `vipu` command of Poplar servers, for use from outside, on the controller's own protocol."""
