"""Datasets and columns of FOCUS (https://focus.finops.org), versions 1.2 and 1.4, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipucloud.contract.exports import Dataset, FocusVersion


class Kind(StrEnum):
    """Type of a column. Text chosen by users is guarded against formulas in CSV."""

    TEXT = "text"
    CHOSEN = "chosen text"
    JSON = "json"
    DECIMAL = "decimal"
    TIME = "time"


class Source(StrEnum):
    """How far a column's value reaches: all rows, those of one series (see `series`), or one row."""

    ALL = "all"
    SERIES = "series"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a dataset. `versions` have it; `null`: it may be empty."""

    name: str
    kind: Kind
    source: Source = Source.ALL
    null: bool = True
    versions: frozenset[FocusVersion] = frozenset(FocusVersion)


_OLD, _NEW = frozenset({FocusVersion.V1_2}), frozenset({FocusVersion.V1_4})
_K, _S = Kind, Source


def _not_null(name: str, kind: Kind, source: Source = Source.ALL) -> Column:
    return Column(name, kind, source, null=False)


COST_AND_USAGE: tuple[Column, ...] = (
    Column("AllocatedMethodDetails", _K.JSON, versions=_NEW),
    Column("AllocatedMethodId", _K.TEXT, versions=_NEW),
    Column("AllocatedResourceId", _K.TEXT, versions=_NEW),
    Column("AllocatedResourceName", _K.TEXT, versions=_NEW),
    Column("AllocatedTags", _K.JSON, versions=_NEW),
    Column("AvailabilityZone", _K.TEXT),
    _not_null("BilledCost", _K.DECIMAL, _S.ROW),
    _not_null("BillingAccountId", _K.TEXT, _S.SERIES),
    _not_null("BillingAccountName", _K.CHOSEN, _S.SERIES),
    _not_null("BillingAccountType", _K.TEXT),
    _not_null("BillingCurrency", _K.TEXT, _S.SERIES),
    _not_null("BillingPeriodEnd", _K.TIME),
    _not_null("BillingPeriodStart", _K.TIME),
    Column("CapacityReservationId", _K.TEXT),
    Column("CapacityReservationStatus", _K.TEXT),
    _not_null("ChargeCategory", _K.TEXT, _S.SERIES),
    Column("ChargeClass", _K.TEXT, _S.SERIES),
    _not_null("ChargeDescription", _K.TEXT, _S.ROW),
    _not_null("ChargeFrequency", _K.TEXT, _S.SERIES),
    _not_null("ChargePeriodEnd", _K.TIME, _S.ROW),
    _not_null("ChargePeriodStart", _K.TIME, _S.ROW),
    Column("CommitmentDiscountCategory", _K.TEXT),
    Column("CommitmentDiscountId", _K.TEXT),
    Column("CommitmentDiscountName", _K.TEXT),
    Column("CommitmentDiscountQuantity", _K.DECIMAL),
    Column("CommitmentDiscountStatus", _K.TEXT),
    Column("CommitmentDiscountType", _K.TEXT),
    Column("CommitmentDiscountUnit", _K.TEXT),
    Column("CommitmentProgramEligibilityDetails", _K.JSON, versions=_NEW),
    Column("ConsumedQuantity", _K.DECIMAL, _S.ROW),
    Column("ConsumedUnit", _K.TEXT, _S.SERIES),
    Column("ContractApplied", _K.JSON, versions=_NEW),
    _not_null("ContractedCost", _K.DECIMAL, _S.ROW),
    Column("ContractedUnitPrice", _K.DECIMAL, _S.SERIES),
    _not_null("EffectiveCost", _K.DECIMAL, _S.ROW),
    Column("HostProviderName", _K.TEXT, null=False, versions=_NEW),
    Column("InvoiceDetailId", _K.TEXT, _S.SERIES, versions=_NEW),
    Column("InvoiceId", _K.TEXT, _S.SERIES),
    _not_null("InvoiceIssuerName", _K.TEXT),
    _not_null("ListCost", _K.DECIMAL, _S.ROW),
    Column("ListUnitPrice", _K.DECIMAL, _S.SERIES),
    Column("PricingCategory", _K.TEXT, _S.SERIES),
    Column("PricingCurrency", _K.TEXT, _S.SERIES),
    Column("PricingCurrencyContractedUnitPrice", _K.DECIMAL, _S.SERIES),
    Column("PricingCurrencyEffectiveCost", _K.DECIMAL, _S.ROW),
    Column("PricingCurrencyListUnitPrice", _K.DECIMAL, _S.SERIES),
    Column("PricingQuantity", _K.DECIMAL, _S.ROW),
    Column("PricingUnit", _K.TEXT, _S.SERIES),
    Column("ProviderName", _K.TEXT, null=False, versions=_OLD),
    Column("PublisherName", _K.TEXT, null=False, versions=_OLD),
    Column("RegionId", _K.TEXT, _S.SERIES),
    Column("RegionName", _K.TEXT, _S.SERIES),
    Column("ResourceId", _K.TEXT, _S.SERIES),
    Column("ResourceName", _K.CHOSEN, _S.SERIES),
    Column("ResourceType", _K.TEXT, _S.SERIES),
    _not_null("ServiceCategory", _K.TEXT, _S.SERIES),
    _not_null("ServiceName", _K.TEXT, _S.SERIES),
    Column("ServiceProviderName", _K.TEXT, null=False, versions=_NEW),
    _not_null("ServiceSubcategory", _K.TEXT, _S.SERIES),
    Column("SkuId", _K.TEXT, _S.SERIES),
    Column("SkuMeter", _K.TEXT, _S.SERIES),
    Column("SkuPriceDetails", _K.JSON, _S.SERIES),
    Column("SkuPriceId", _K.TEXT, _S.SERIES),
    Column("SubAccountId", _K.TEXT, _S.SERIES),
    Column("SubAccountName", _K.CHOSEN, _S.SERIES),
    Column("SubAccountType", _K.TEXT, _S.SERIES),
    Column("Tags", _K.JSON, _S.SERIES),
    _not_null("x_ChargeId", _K.TEXT, _S.ROW),
    _not_null("x_Provisional", _K.TEXT, _S.SERIES),
    _not_null("x_Revision", _K.DECIMAL, _S.ROW),
)
"""Cost and Usage, FOCUS's columns in the order of the alphabet, then our own."""

BILLING_PERIOD: tuple[Column, ...] = (
    _not_null("BillingPeriodCreated", _K.TIME),
    _not_null("BillingPeriodEnd", _K.TIME),
    _not_null("BillingPeriodLastUpdated", _K.TIME),
    _not_null("BillingPeriodStart", _K.TIME),
    _not_null("BillingPeriodStatus", _K.TEXT),
    _not_null("InvoiceIssuerName", _K.TEXT),
)

INVOICE_DETAIL: tuple[Column, ...] = (
    _not_null("BilledCost", _K.DECIMAL),
    _not_null("BillingAccountId", _K.TEXT),
    _not_null("BillingCurrency", _K.TEXT),
    _not_null("BillingPeriodEnd", _K.TIME),
    _not_null("BillingPeriodStart", _K.TIME),
    _not_null("ChargeCategory", _K.TEXT),
    _not_null("InvoiceDetailCreated", _K.TIME),
    Column("InvoiceDetailDescription", _K.TEXT),
    Column("InvoiceDetailGrain", _K.JSON),
    _not_null("InvoiceDetailId", _K.TEXT),
    _not_null("InvoiceDetailLastUpdated", _K.TIME),
    _not_null("InvoiceId", _K.TEXT),
    Column("InvoiceIssueDate", _K.TIME),
    _not_null("InvoiceIssueStatus", _K.TEXT),
    _not_null("InvoiceIssuerName", _K.TEXT),
    Column("PaymentDueDate", _K.TIME),
    _not_null("PaymentTerms", _K.TEXT),
    _not_null("ReferenceInvoiceId", _K.TEXT),
)

COLUMNS = {
    Dataset.COST_AND_USAGE: COST_AND_USAGE,
    Dataset.BILLING_PERIOD: BILLING_PERIOD,
    Dataset.INVOICE_DETAIL: INVOICE_DETAIL,
}


def columns_of(dataset: Dataset, version: FocusVersion) -> tuple[Column, ...]:
    """The columns of a file, in order."""
    return tuple(column for column in COLUMNS[dataset] if version in column.versions)
