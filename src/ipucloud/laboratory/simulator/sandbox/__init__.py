"""Programs of this machine, run for a customer behind a wall: what the wall does not let through cannot be reached.

A *sandbox* is one simulated server. Behind namespaces it has its own process list, file system, host name, network and
users, and of this machine only programs and libraries, to read; behind Landlock its programs are among the processes of
this machine, and change nothing but the server's disk. In both cases a process 1, which runs nothing of the customer's,
starts its programs. The owner (`sandbox`) talks to process 1 over a socket that no program in the sandbox can reach;
descriptors of pipes, terminals and connections pass over it. No text of a customer is interpreted outside of the
sandbox.
"""
