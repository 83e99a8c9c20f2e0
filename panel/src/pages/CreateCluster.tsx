import Wizard from "@cloudscape-design/components/wizard";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { api, body } from "../api/client";
import { images, regions } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useGo } from "../app/place";
import { useProject } from "../app/Project";
import { later } from "../components/later";
import { useChange } from "../components/useChange";
import { useStrings } from "../i18n";
import { EMPTY, requestOf, type Draft } from "./create/draft";
import { NameStep } from "./create/NameStep";
import { ReviewStep } from "./create/ReviewStep";
import { SizeStep } from "./create/SizeStep";
import { SoftwareStep } from "./create/SoftwareStep";

const Summary = later(async () => (await import("./create/Summary")).Summary, null);

/** What is missing in the draft, by the index of its step. */
function useProblems(draft: Draft): (string | undefined)[] {
  const s = useStrings().create;
  return [
    draft.flavor ? undefined : s.flavorNeeded,
    draft.keys.length ? undefined : s.keyNeeded,
    draft.name ? (/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(draft.name) ? undefined : s.nameRule) : s.nameNeeded,
    undefined,
  ];
}

/** The draft: what the address asks for, with the first region and the region's newest image until others are chosen. */
function useDraft(address: URLSearchParams): [Draft, (change: Partial<Draft>) => void] {
  const asked = (name: string) => address.get(name) ?? "";
  const [draft, setDraft] = useState({ ...EMPTY, region: asked("region"), flavor: asked("flavor"), image: asked("image"), reservation: asked("reservation") });
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
  const [step, setStep] = useState(0);
  const [tried, setTried] = useState(-1);
  const [address] = useSearchParams();
  const [draft, change] = useDraft(address);
  const problems = useProblems(draft);
  const shown = (index: number) => (tried >= index ? problems[index] : undefined);
  const create = useChange(
    () => body(api.POST("/v1/projects/{project}/clusters", { params: { path: { project } }, body: requestOf(draft) })),
    (operation) => {
      flash({ type: "success", content: s.accepted(draft.name) });
      const recipe = address.get("recipe"); // it is to be run on the cluster
      go(`/clusters/${operation.target.id}${recipe ? `?recipe=${encodeURIComponent(recipe)}` : ""}`);
    },
  );
  return (
    <div className="beside">
      <Wizard
        activeStepIndex={step}
        isLoadingNextStep={create.isPending}
        onCancel={() => go("/clusters")}
        onNavigate={({ detail }) => {
          setTried(Math.max(tried, step));
          if (detail.requestedStepIndex < step || !problems[step]) setStep(detail.requestedStepIndex);
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
          { title: s.nameStep, description: s.nameText, content: <NameStep draft={draft} change={change} problem={shown(2)} /> },
          { title: s.reviewStep, content: <ReviewStep draft={draft} change={change} problem={create.error} /> },
        ]}
      />
      {step < 3 && <Summary draft={draft} />}
    </div>
  );
}
