"""The reconcilers of each kind of work. What a kind needs is imported when its reconciler is made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.clock import Clock
from ipucloud.reconcile.later import Later
from ipucloud.reconcile.reconciler import Reconciler
from ipucloud.site.ports import Sites

WEBHOOK_DISPATCH = "webhook.dispatch"
MAIL_DISPATCH = "mail.dispatch"
DISPATCH_KEY = "events"
"""Of the one work item of either."""
AnyReconciler = Reconciler[Any, Any]


@dataclass(frozen=True)
class Work:
    """Everything that operations are about."""

    database: Database
    sites: Sites
    settings: Settings
    clock: Clock
    catalogue: CurrentCatalogue
    draw: random.Random = field(default_factory=random.Random)
    """The jitter of waits."""

    def reconcilers(self) -> list[Later]:
        """All but that of what is observed."""
        return [
            Later("cluster", self._cluster),
            Later("partitions", self._partitions),
            Later("jobs", self._jobs),
            Later("services", self._services),
            Later("s3-access", self._s3_access),
            Later("source-rules", self._source_rules),
            Later("volumes", self._volumes),
            Later("snapshots", self._snapshots),
            Later("addresses", self._addresses),
            Later("preemption-files", self._preemption_files),
            Later("terminal", self._terminal),
            Later("export", self._export),
            Later("validation", self._validation),
        ]

    def observed(self) -> Later:
        return Later("observation", self._observation)

    def _cluster(self) -> AnyReconciler:
        from ipucloud.clusters.inputs import Isolation
        from ipucloud.clusters.reconciler import ClusterReconciler

        settings = self.settings
        return ClusterReconciler(
            self.sites,
            poll_interval=settings.site_poll_interval,
            request_life=settings.request_life,
            attempts=settings.step_attempts,
            draw=self.draw,
            isolation=Isolation.usual(settings.isolation_after, settings.isolation_limit),
            power_limit=settings.power_limit,
            validated="release" in settings.validation,
            keys=settings.sealing_keys(),
        )

    def _partitions(self) -> AnyReconciler:
        from ipucloud.partitions.reconciler import PartitionReconciler

        settings = self.settings
        return PartitionReconciler(
            self.sites,
            clock=self.clock,
            quiet_interval=settings.partitions_quiet_interval,
            change_interval=settings.partitions_change_interval,
            request_life=settings.request_life,
            attempts=settings.step_attempts,
            deadline=settings.create_deadline,
            draw=self.draw,
        )

    def _jobs(self) -> AnyReconciler:
        from ipucloud.programs.jobs.reconciler import JobReconciler

        return JobReconciler(self.sites, keys=self.settings.sealing_keys(), poll_interval=self._program_interval())

    def _services(self) -> AnyReconciler:
        from ipucloud.programs.services.reconciler import ServiceReconciler

        return ServiceReconciler(self.sites, keys=self.settings.sealing_keys(), poll_interval=self._program_interval())

    def _program_interval(self) -> float:
        from ipucloud.programs.reconciler import POLL_SECONDS

        return min(self.settings.site_poll_interval, POLL_SECONDS)

    def _s3_access(self) -> AnyReconciler:
        from ipucloud.clusters.s3_reconciler import S3Reconciler

        return S3Reconciler(self.sites, keys=self.settings.sealing_keys())

    def _source_rules(self) -> AnyReconciler:
        from ipucloud.clusters.allowed_sources import SourceRuleReconciler

        return SourceRuleReconciler(self.sites)

    def _volumes(self) -> AnyReconciler:
        from ipucloud.clusters.volumes.reconciler import VolumeReconciler

        return VolumeReconciler(self.sites)

    def _snapshots(self) -> AnyReconciler:
        from ipucloud.clusters.volumes.snapshots.reconciler import SnapshotReconciler

        return SnapshotReconciler(self.sites)

    def _addresses(self) -> AnyReconciler:
        from ipucloud.clusters.addresses.reconciler import AddressReconciler

        return AddressReconciler(self.sites)

    def _preemption_files(self) -> AnyReconciler:
        from ipucloud.policies.preemption_files import PreemptionFileReconciler

        return PreemptionFileReconciler(self.sites)

    def _terminal(self) -> AnyReconciler:
        from ipucloud.programs.terminals.reconciler import TerminalReconciler

        return TerminalReconciler(self.sites)

    def _export(self) -> AnyReconciler:
        from ipucloud.billing.exports.connections import Rules
        from ipucloud.billing.exports.operation import Exporter, ExportReconciler

        settings = self.settings
        exporter = Exporter(
            self.database,
            provider=settings.provider_name,
            catalogue=self.catalogue,
            rules=Rules(settings.sealing_keys(), settings.export_private_endpoints, settings.delivery_ports),
        )
        return ExportReconciler(exporter, self.draw)

    def _validation(self) -> AnyReconciler:
        from ipucloud.validation.reconciler import ValidationReconciler

        settings = self.settings
        return ValidationReconciler(
            self.sites,
            poll_interval=settings.site_poll_interval,
            request_life=settings.request_life,
            deadline=settings.validation_deadline,
            limit=settings.validation_limit,
        )

    def _observation(self) -> AnyReconciler:
        from ipucloud.observation.reconciler import ObservationReconciler

        settings = self.settings
        return ObservationReconciler(
            self.database,
            self.sites,
            clock=self.clock,
            interval=settings.observation_interval,
            expires=settings.observation_expires,
            limit=settings.observation_limit,
            power_limit=settings.power_limit,
            validated="repair" in settings.validation,
        )


@dataclass(frozen=True)
class Messages:
    """Webhooks, and e-mails if the settings name who sends them."""

    settings: Settings
    draw: random.Random

    def reconcilers(self) -> list[Later]:
        webhooks = [Later(WEBHOOK_DISPATCH, self._webhook_dispatch), Later("webhook", self._webhook)]
        if (sender := self.settings.smtp_from) is None:
            return webhooks
        return [*webhooks, Later(MAIL_DISPATCH, self._mail_dispatch), Later("mail", lambda: self._mail(sender))]

    def _webhook_dispatch(self) -> AnyReconciler:
        from ipucloud.webhooks.dispatch import Dispatcher

        return Dispatcher(self.settings.webhook_interval)

    def _webhook(self) -> AnyReconciler:
        from ipucloud.webhooks.deliver import Deliverer
        from ipucloud.webhooks.sender import Sender

        sender = Sender(private=self.settings.webhook_private_addresses)
        return Deliverer(sender, self.settings.sealing_keys(), self.draw)

    def _mail_dispatch(self) -> AnyReconciler:
        from ipucloud.notifications.dispatch import MailDispatcher

        return MailDispatcher(self.settings.webhook_interval)

    def _mail(self, sender: str) -> AnyReconciler:
        from ipucloud.clusters.queries import CLUSTER_NAME
        from ipucloud.notifications.deliver import MailSender
        from ipucloud.notifications.smtp import Smtp

        settings = self.settings
        panel = settings.public_url and settings.public_url.rstrip("/")
        smtp = Smtp(settings, sender)
        return MailSender(smtp, settings.sealing_keys(), self.draw, panel=panel, cluster_name=CLUSTER_NAME)


def counted_anew() -> Sequence[sa.TextClause]:
    """What corrects the instants of `Work` after the database's clock was set back."""
    from ipucloud.inventory import release, validations
    from ipucloud.operations.store import POWERED_OFF_NOW, RETRY_NOW
    from ipucloud.partitions import record

    return (*release.COUNT_ANEW, POWERED_OFF_NOW, RETRY_NOW, *record.COUNT_ANEW, *validations.COUNT_ANEW)


def messages_counted_anew() -> Sequence[sa.TextClause]:
    """The same of `Messages`."""
    from ipucloud.notifications import deliver as mails
    from ipucloud.webhooks import deliver as webhooks

    return (*webhooks.COUNT_ANEW, *mails.COUNT_ANEW)
