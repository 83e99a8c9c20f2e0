import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQueries, useQuery } from "@tanstack/react-query";
import { capacity, flavors, quotas, regions } from "../../api/queries";
import { useProject } from "../../app/Project";
import { useFormat, useStrings } from "../../i18n";
import { alternatives } from "./alternatives";
import type { Change, Draft } from "./draft";

/** What fits now in place of what was chosen; a button takes it over. */
export function Alternatives({ draft, change }: { draft: Draft; change: Change }) {
  const s = useStrings().create;
  const f = useFormat();
  const places = useQuery(regions).data?.items ?? [];
  const held = useQuery(quotas(useProject())).data?.items;
  const sold = useQueries({ queries: places.map((each) => flavors(each.slug)) });
  const free = useQueries({ queries: places.map((each) => capacity(each.slug)) });
  if (!held || [...sold, ...free].some((each) => each.isPending)) return null;
  const rooms = places.map((each, index) => ({ region: each.slug, flavors: sold[index]?.data?.items ?? [], capacity: free[index]?.data?.items ?? [] }));
  const found = alternatives(draft, rooms, held);
  const all = [...found.sizes, ...found.regions];
  return (
    <Alert type="info" header={s.alternatives}>
      {all.length === 0 ? s.noAlternatives : (
        <Box margin={{ top: "xs" }}>
          <SpaceBetween direction="horizontal" size="xs">
            {all.map(({ region, flavor }) => (
              <Button
                key={`${region} ${flavor.name}`}
                onClick={() => change({ region, flavor: flavor.name, servers: undefined, ...(region !== draft.region && { image: "", volumes: [] }) })}
              >
                {s.alternative(
                  flavor.name,
                  region === draft.region ? null : (places.find((each) => each.slug === region)?.name ?? region),
                  flavor.price_per_hour ? f.money(flavor.price_per_hour) : null,
                )}
              </Button>
            ))}
          </SpaceBetween>
        </Box>
      )}
    </Alert>
  );
}
