import Wizard from "@cloudscape-design/components/wizard";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { api, body } from "../api/client";
import { images, regions } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useGo } from "../app/place";
import { useProject } from "../app/Project";
import { later } from "../components/later";
import { useChange } from "../components/useChange";
import { useStrings } from "../i18n";
import { dropDraft, EMPTY, faultOfName, keepDraft, keptDraft, requestOf, type Draft } from "./create/draft";
import { NameStep } from "./create/NameStep";
import { ReviewStep } from "./create/ReviewStep";
import { SizeStep } from "./create/SizeStep";
import { SoftwareStep } from "./create/SoftwareStep";

const Summary = later(async () => (await import("./create/Summary")).Summary, null);

/** What is missing in the draft, by the index of its step. */
function useProblems(draft: Draft): (string | undefined)[] {
  const s = useStrings().create;
  const fault = faultOfName(draft.name);
  const nameFault = fault && { form: s.nameForm, length: s.nameLong }[fault];
  return [
    draft.flavor ? undefined : s.flavorNeeded,
    draft.keys.length ? undefined : s.keyNeeded,
    draft.name.trim() ? nameFault ?? undefined : s.nameNeeded,
    undefined,
  ];
}

const ASKED = ["region", "flavor", "image", "reservation"] as const;

/** The draft: what was entered before a reload, else what the address asks for, with the first region and the region's newest image until others are chosen. */
function useDraft(address: URLSearchParams): [Draft, (change: Partial<Draft>) => void] {
  const project = useProject();
  const asked = JSON.stringify(ASKED.map((name) => address.get(name)));
  const [draft, setDraft] = useState<Draft>(() => keptDraft(project, asked) ?? { ...EMPTY, ...Object.fromEntries(ASKED.map((name) => [name, address.get(name) ?? ""])) });
  useEffect(() => keepDraft(project, asked, draft), [project, asked, draft]);
  const places = useQuery(regions).data?.items;
  const region = draft.region || (places?.[0]?.slug ?? "");
  const systems = useQuery(images(region)).data?.items;
  const image = draft.image || (systems?.[0]?.name ?? "");
  return [{ ...draft, region, image }, (change) => setDraft((now) => ({ ...now, region, ...change }))];
}

export function CreateCluster() {
  const s = useStrings().create;
  const { cancel } = useStrings().common;
  const go = useGo();
  const flash = useFlash();
  const project = useProject();
  const [tried, setTried] = useState(-1);
  const [address, setAddress] = useSearchParams();
  const [draft, change] = useDraft(address);
  const problems = useProblems(draft);
  const missing = problems.findIndex((each) => each !== undefined);
  const step = Math.min(Number(address.get("step")) || 0, missing < 0 ? problems.length - 1 : missing); // an address can be older than the draft
  const show = (next: number) => setAddress((now) => {
    now.set("step", String(next));
    return now;
  });
  const shown = (index: number) => (tried >= index ? problems[index] : undefined);
  const create = useChange(
    () => body(api.POST("/v1/projects/{project}/clusters", { params: { path: { project } }, body: requestOf(draft) })),
    (operation) => {
      dropDraft();
      flash({ type: "success", content: s.accepted(draft.name.trim()) });
      const recipe = address.get("recipe"); // it is to be run on the cluster
      go(`/clusters/${operation.target.id}${recipe ? `?recipe=${encodeURIComponent(recipe)}` : ""}`);
    },
  );
  return (
    <div className="beside">
      <Wizard
        activeStepIndex={step}
        isLoadingNextStep={create.isPending}
        onCancel={() => { dropDraft(); go("/clusters"); }}
        onNavigate={({ detail }) => {
          setTried(Math.max(tried, step));
          if (detail.requestedStepIndex < step || !problems[step]) show(detail.requestedStepIndex);
        }}
        onSubmit={() => create.mutate()}
        i18nStrings={{
          stepNumberLabel: s.stepNumber,
          collapsedStepsLabel: s.collapsed,
          skipToButtonLabel: (each) => each.title,
          navigationAriaLabel: s.title,
          cancelButton: cancel,
          previousButton: s.previous,
          nextButton: s.next,
        }}
        submitButtonText={s.submit}
        steps={[
          { title: s.sizeStep, description: s.sizeText, content: <SizeStep draft={draft} change={change} problem={shown(0)} /> },
          { title: s.softwareStep, description: s.softwareText, content: <SoftwareStep draft={draft} change={change} problem={shown(1)} /> },
          { title: s.nameStep, description: s.nameText, content: <NameStep draft={draft} change={change} problem={draft.name.trim() ? problems[2] : shown(2)} /> },
          { title: s.reviewStep, content: <ReviewStep draft={draft} change={change} problem={create.error} /> },
        ]}
      />
      {step < 3 && <Summary draft={draft} />}
    </div>
  );
}
