"""Clusters that are suspended and resumed by a calendar.

Law: what is due is the last moment of the calendar that has passed. It is written, begun and given up under the
cluster's lock, so that each moment is served once, whatever becomes of workers and clocks.
"""
