"""The process that delivers one file: `python -m ipucloud.billing.exports.child_deliver`."""

from __future__ import annotations

from ipucloud.billing.exports.child import serve
from ipucloud.billing.exports.delivery import DeliveryError, deliver
from ipucloud.billing.exports.order import Deliver, Reply


def carry_out(order: Deliver) -> Reply:
    try:
        deliver(order)
    except DeliveryError as error:
        return Reply(error=str(error))
    return Reply(delivered=True)


if __name__ == "__main__":
    serve(Deliver, carry_out)
