import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Webhook } from "../../api/access";
import { useFormat, useStrings } from "../../i18n";
import { useWebhookStrings } from "../../i18n/webhooks";

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const s = useWebhookStrings();
  const f = useFormat();
  if (webhook.disabled) return <StatusIndicator type={webhook.disabled === "by_owner" ? "stopped" : "error"}>{s.disabled[webhook.disabled]}</StatusIndicator>;
  if (webhook.failing_since) return <StatusIndicator type="warning">{s.failing(f.moment(webhook.failing_since))}</StatusIndicator>;
  return <StatusIndicator type="success">{s.enabled}</StatusIndicator>;
}

/** The events that a webhook gets, in words. */
export function EventsOf({ webhook }: { webhook: Pick<Webhook, "event_types"> }) {
  const name = useEventName();
  const s = useWebhookStrings();
  if (!webhook.event_types.length) return <>{s.allEvents}</>;
  return <>{webhook.event_types.map((type) => <Box key={type}>{name(type)}</Box>)}</>;
}

/** A type of events, or all of a noun, in words. */
export function useEventName(): (type: string) => string {
  const { events } = useStrings();
  const s = useWebhookStrings();
  return (type) => {
    const [noun = "", verb = ""] = type.split(".");
    if (noun === "webhook" && verb === "ping") return s.pingType;
    if (verb === "*") return s.everyEvent(events.nouns[noun] ?? noun);
    return events.nouns[noun] && events.verbs[verb] ? `${events.nouns[noun]} ${events.verbs[verb]}` : type;
  };
}
