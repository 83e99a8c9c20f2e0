"""The `vipu-admin` command, for operators: `ipucloud vipu-admin`.

Law: its verbs for partitions are those of `vipu`. The others call our administration service; the vendor has published
none.
"""
