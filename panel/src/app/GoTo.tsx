import Autosuggest, { type AutosuggestProps } from "@cloudscape-design/components/autosuggest";
import Modal from "@cloudscape-design/components/modal";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { clusterPage } from "../api/queries";
import { useStrings } from "../i18n";
import { useOperatorPages, usePages } from "./pages";
import { useGo } from "./place";
import { useMay, useProject } from "./Project";

const CLUSTERS = 8;

/** Finds a page or a cluster by its name, and goes there. */
export function GoTo({ onClose }: { onClose: () => void }) {
  const { shell: s, common, states } = useStrings();
  const go = useGo();
  const project = useProject();
  const mayCreate = useMay("cluster:write");
  const pages = [...usePages(), ...useOperatorPages()];
  const [typed, setTyped] = useState("");
  const input = useRef<AutosuggestProps.Ref>(null);
  useEffect(() => {
    // The dialog moves the focus to its first button when it opens.
    const frame = requestAnimationFrame(() => input.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  const found = useQuery(clusterPage(project, { q: typed.trim() || undefined, order: "-created_at", limit: CLUSTERS }));
  const wanted = typed.trim().toLowerCase();
  const places = [...pages, ...(mayCreate && project ? [{ text: s.createCluster, href: "/clusters/create" }] : [])]
    .filter((each) => each.text.toLowerCase().includes(wanted))
    .map((each) => ({ value: each.href, label: each.text }));
  // While an answer is on its way, the clusters of the one before stand in for it: only those that the text still names.
  const named = (found.data?.items ?? []).filter((each) => each.name.toLowerCase().includes(wanted));
  const clusters = named.map((each) => ({
    value: `/clusters/${each.id}`, label: each.name, description: `${states[each.state]} · ${each.flavor}`,
  }));
  const group = (label: string, options: AutosuggestProps.Option[]) => (options.length ? [{ label, options }] : []);
  const status = found.isError ? "error" : found.isFetching ? "loading" : "finished";
  return (
    <Modal visible header={s.goTo} onDismiss={onClose} closeAriaLabel={common.close}>
      {/* Room for the list below: without it, it opens over the dialog's header. */}
      <div className="go-to">
        <Autosuggest
          ref={input}
          value={typed}
          onChange={(event) => setTyped(event.detail.value)}
          onSelect={(event) => {
            onClose();
            go(event.detail.value);
          }}
          // Pages first: they are known at once, so nothing moves under the keyboard when clusters arrive.
          options={[...group(s.pages, places), ...group(s.clusters, clusters)]}
          filteringType="manual"
          hideEnteredTextOption
          statusType={status}
          loadingText={common.loading}
          errorText={common.failed}
          recoveryText={common.retry}
          onLoadItems={() => undefined}
          empty={common.noMatch}
          ariaLabel={s.goTo}
          placeholder={s.goToHint}
        />
      </div>
    </Modal>
  );
}
