"""Programs of this machine, run for a customer and confined to one folder: nothing else of the machine can be reached.

A *sandbox* is one simulated server. It has its own process 1 (`init`), process list, file system, host name, network
and users; of this machine it has only programs and libraries, to read. The owner (`sandbox`) talks to process 1 over a
socket that no program in the sandbox can reach; descriptors of pipes, terminals and connections pass over it. No text
of a customer is interpreted outside of the sandbox.
"""
