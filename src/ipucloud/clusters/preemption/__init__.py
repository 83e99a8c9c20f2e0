"""Preemptible clusters: suspended with notice when a cluster that waits needs their machines.

Nobody's machines are taken while another choice exists (ADR 24).
"""
