"""Ports to hardware. Law: a time-out or a 5xx means unknown, never failed; calls end within their lease."""
