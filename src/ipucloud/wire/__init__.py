"""Wire definitions only: what crosses the network between the control plane and a site, and nothing that acts.

`vipu.proto` is Graphcore's published V-IPU user service; `vipu_admin.proto` and `site` are our own definitions for
the parts a vendor does not publish. The simulator and the control plane share this package and no other.
"""
