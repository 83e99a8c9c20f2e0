"""The process that builds one Parquet file: `python -m ipucloud.billing.exports.child_parquet`."""

from __future__ import annotations

from ipucloud.billing.exports.child import build, serve
from ipucloud.billing.exports.order import Build
from ipucloud.billing.exports.parquet_rows import write_parquet

if __name__ == "__main__":
    serve(Build, lambda order: build(order, write_parquet))
