import Alert from "@cloudscape-design/components/alert";
import { deleteWebhook, newSecret, patchWebhook, type Webhook } from "../../api/access";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useWebhookStrings } from "../../i18n/webhooks";

export type WebhookAction = "enable" | "disable" | "newSecret" | "delete";
type Done = { secret?: string | null };
type Props = { action: WebhookAction; webhook: Webhook; onClose: (done?: Done) => void };

/** What an action on a webhook does, before it does it. */
export function WebhookActionModal({ action, webhook, onClose }: Props) {
  const { common } = useStrings();
  const s = useWebhookStrings();
  const flash = useFlash();
  const project = useProject();
  const texts = {
    enable: [s.enable, s.enableText, s.enable, s.saved],
    disable: [s.disable, s.disableText, s.disable, s.saved],
    newSecret: [s.newSecretTitle, s.newSecretText, s.newSecret, s.saved],
    delete: [s.deleteTitle(webhook.url), s.deleteText, common.remove, s.deleted],
  };
  const [title = "", text = "", submit = "", done = ""] = texts[action];
  const run = useChange(
    async (): Promise<Done> => {
      if (action === "newSecret") return newSecret(project, webhook.id);
      if (action === "delete") await deleteWebhook(project, webhook.id);
      else await patchWebhook(project, webhook, { enabled: action === "enable" });
      return {};
    },
    (answer) => {
      flash({ type: "success", content: done });
      onClose(answer);
    },
  );
  return (
    <Dialog title={title} submit={submit} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={() => onClose()}>
      <Alert type={action === "delete" ? "warning" : "info"}>{text}</Alert>
    </Dialog>
  );
}
