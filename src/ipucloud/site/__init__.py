"""Ports to hardware. Law: a time-out or a 5xx means unknown, never failed; every call has a time-out below its lease."""
