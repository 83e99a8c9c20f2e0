import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { recipe as recipeQuery } from "../../api/catalogue";
import type { Cluster } from "../../api/queries";
import { useRecipeStrings } from "../../i18n/recipes";
import { RunRecipe } from "./RunRecipe";

/** On the page of a cluster that was created for a recipe: it can be run once the cluster is active. */
export function RecipeWaits({ recipe: id, cluster }: { recipe: string; cluster: Cluster }) {
  const s = useRecipeStrings();
  const [running, setRunning] = useState(false);
  const recipe = useQuery(recipeQuery(id, cluster.region)).data;
  if (!recipe?.program) return null;
  const ready = ["active", "degraded"].includes(cluster.state);
  return (
    <>
      <Alert type={ready ? "success" : "info"} action={<Button disabled={!ready} onClick={() => setRunning(true)}>{s.runOf(recipe.name)}</Button>}>
        {ready ? s.nowReady(recipe.name) : s.waits(recipe.name)}
      </Alert>
      {running && <RunRecipe recipe={recipe} cluster={cluster.id} onClose={() => setRunning(false)} />}
    </>
  );
}
