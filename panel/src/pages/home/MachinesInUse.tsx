import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { quotas, regions } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";

/** How much of each quota is in use. */
export function MachinesInUse() {
  const { home: s, quotas: { volumes: gib, addresses: address } } = useStrings();
  const f = useFormat();
  const words: Record<string, string> = { gib, address };
  const places = useQuery(regions).data?.items ?? [];
  const { data, error, refetch } = useQuery(quotas(useProject()));
  const shown = data?.items.filter((each) => each.unit === "machine" || each.used > 0);
  return (
    <Container header={<Header variant="h2">{s.quotas}</Header>}>
      {shown ? (
        <SpaceBetween size="m">
          {shown.length === 0 && <Box color="text-body-secondary">{s.noQuota}</Box>}
          {shown.map((quota) => (
            <ProgressBar
              key={quota.region + quota.machine_type}
              label={`${words[quota.unit] ?? quota.machine_type}, ${places.find((each) => each.slug === quota.region)?.name ?? quota.region}`}
              value={quota.limit ? Math.min(100, (100 * quota.used) / quota.limit) : 0}
              additionalInfo={s.quotaUsed(f.number(quota.used), f.number(quota.limit))}
            />
          ))}
        </SpaceBetween>
      ) : error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </Container>
  );
}
