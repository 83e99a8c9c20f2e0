import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { recipe as recipeQuery, times, type Flavor, type RecipeOffer } from "../api/catalogue";
import { flavors, regions } from "../api/queries";
import { useGo } from "../app/place";
import { useMay } from "../app/Project";
import { Choice } from "../components/Choice";
import { Copyable } from "../components/Copyable";
import { Empty } from "../components/Empty";
import { FailedPage } from "../components/Failure";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { lineOf } from "../components/words";
import { useFormat, useStrings } from "../i18n";
import { useCatalogueStrings } from "../i18n/catalogue";
import { useRecipeStrings } from "../i18n/recipes";
import { addressOf, createAddress } from "./catalogue/addresses";
import { SourceLink } from "./catalogue/SourceLink";
import { usePrices } from "./catalogue/usePrices";

const RunRecipe = later(async () => (await import("./recipes/RunRecipe")).RunRecipe, null);

/** A model of the model garden: its program, what running it costs, and where it can be run. */
export function RecipePage() {
  const c = useCatalogueStrings();
  const s = useRecipeStrings();
  const go = useGo();
  const { recipe: id = "" } = useParams();
  const places = useQuery(regions).data?.items ?? [];
  const [region, setRegion] = useState<string>();
  const { data, error, refetch } = useQuery(recipeQuery(id, region));
  const fits = useQuery(flavors()).data?.items.find((each) => each.name === data?.flavor);
  const place = region ?? places.find((each) => fits?.machine_type && each.machine_types.includes(fits.machine_type))?.slug ?? "";
  const may = useMay("cluster:write");
  const [running, setRunning] = useState(false);
  if (!data) return error ? <FailedPage title={id} error={error} retry={() => void refetch()} /> : <Loading />;
  if (!data.program) return <Empty page title={data.name} text={c.notRunnable} />;
  const actions = may && (
    <SpaceBetween direction="horizontal" size="xs">
      <Button onClick={() => setRunning(true)}>{s.runOnMine}</Button>
      <Button
        variant="primary"
        disabled={!data.flavor || !place}
        disabledReason={data.flavor ? undefined : s.noFlavor}
        onClick={() => data.flavor && go(createAddress(data.flavor, place, { recipe: id }))}
      >
        {s.runOnNew}
      </Button>
    </SpaceBetween>
  );
  return (
    <ContentLayout
      header={<Header variant="h1" description={s.text} actions={actions}>{data.name}</Header>}
      breadcrumbs={<To href="/catalogue?tab=models">{c.tabs.models}</To>}
    >
      <SpaceBetween size="l">
        <Container
          header={
            <Header variant="h2" description={s.priceText}
              actions={<Choice label={c.region} value={place} options={Object.fromEntries(places.map((each) => [each.slug, each.name]))} onChange={setRegion} />}>
              {s.price}
            </Header>
          }
        >
          <Price recipe={data} flavor={fits} region={place} />
        </Container>
        <Container header={<Header variant="h2">{s.program}</Header>}><Program recipe={data} /></Container>
      </SpaceBetween>
      {running && <RunRecipe recipe={data} onClose={() => setRunning(false)} />}
    </ContentLayout>
  );
}

/** What the project pays for the smallest cluster that runs it. */
function Price({ recipe, flavor, region }: { recipe: RecipeOffer; flavor: Flavor | undefined; region: string }) {
  const { common } = useStrings();
  const c = useCatalogueStrings();
  const s = useRecipeStrings();
  const f = useFormat();
  const prices = usePrices();
  const perHour = flavor ? prices.of(flavor, region).perHour : null;
  const minutes = recipe.program?.minutes;
  return (
    <KeyValuePairs
      columns={4}
      items={[
        { label: s.smallest, value: recipe.flavor ? <To href={addressOf(recipe.flavor, region)}>{recipe.flavor}</To> : s.noFlavor },
        { label: c.perHour, value: perHour ? f.money(perHour) : common.none },
        { label: s.takes, value: minutes ? f.duration(minutes * 60) : s.unknownTime },
        { label: s.expected, value: perHour && minutes ? f.money(times(perHour, minutes / 60)) : common.none },
      ]}
    />
  );
}

function Program({ recipe }: { recipe: RecipeOffer }) {
  const { common } = useStrings();
  const c = useCatalogueStrings();
  const s = useRecipeStrings();
  const f = useFormat();
  const { program } = recipe;
  if (!program) return null;
  const command = `ipucloud recipes run ${recipe.id} --then delete`;
  return (
    <KeyValuePairs
      columns={3}
      items={[
        { label: c.task, value: c.tasks[recipe.task] },
        { label: c.kinds.framework, value: c.frameworks[program.framework] },
        { label: c.ipus, value: f.number(program.ipus) },
        { label: s.data, value: program.dataset },
        { label: s.packages, value: program.packages?.join(" ") || common.none },
        { label: s.code, value: program.repository ? `${program.repository} ${(program.commit ?? "").slice(0, 12)}` : s.ownFiles },
        { label: s.command, value: <Copyable text={lineOf(program.command)} label={s.command} command /> },
        { label: s.line, value: <Copyable text={command} label={s.line} command /> },
        { label: c.source, value: <SourceLink source={recipe.source} /> },
      ]}
    />
  );
}
