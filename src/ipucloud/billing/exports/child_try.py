"""The process that tests a connection: `python -m ipucloud.billing.exports.child_try`."""

from __future__ import annotations

from ipucloud.billing.exports.child import serve
from ipucloud.billing.exports.order import Reply, Try
from ipucloud.billing.exports.s3 import DeliveryError
from ipucloud.billing.exports.trying import try_out


def carry_out(order: Try) -> Reply:
    try:
        try_out(order.target)
    except DeliveryError as error:
        return Reply(error=str(error), failed=error.failed)
    return Reply(delivered=True)


if __name__ == "__main__":
    serve(Try, carry_out)
