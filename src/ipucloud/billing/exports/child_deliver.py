"""The process that delivers one file: `python -m ipucloud.billing.exports.child_deliver`."""

from __future__ import annotations

from ipucloud.billing.exports.child import serve
from ipucloud.billing.exports.delivery import deliver
from ipucloud.billing.exports.order import Deliver, Reply
from ipucloud.billing.exports.s3 import DeliveryError


def carry_out(order: Deliver) -> Reply:
    try:
        deliver(order)
    except DeliveryError as error:
        return Reply(error=str(error))
    return Reply(delivered=True)


if __name__ == "__main__":
    serve(Deliver, carry_out)
