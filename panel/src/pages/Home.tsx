import ContentLayout from "@cloudscape-design/components/content-layout";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { Navigate } from "react-router";
import { useAddressOf } from "../app/place";
import { clusterPage } from "../api/queries";
import { useBillingScope } from "../app/useBillingScope";
import { useMay, useProject } from "../app/Project";
import { FailedPage } from "../components/Failure";
import { Loading } from "../components/Loading";
import { useStrings } from "../i18n";
import { ClustersNow } from "./home/ClustersNow";
import { LatestEvents } from "./home/LatestEvents";
import { MachinesInUse } from "./home/MachinesInUse";
import { SpendNow } from "./home/SpendNow";
import { StartHere } from "./home/StartHere";

const SHOWN = 6;

/** Whoever only pays for a project sees its money. */
export function Home() {
  const addressOf = useAddressOf();
  return "account" in useBillingScope() ? <Navigate to={addressOf("/billing")} replace /> : <Overview />;
}

function Overview() {
  const s = useStrings().home;
  const project = useProject();
  const money = useMay("billing:read");
  const { data, error, refetch } = useQuery(clusterPage(project, { order: "-created_at", limit: SHOWN }));
  if (!data) return error ? <FailedPage title={s.title} error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <ContentLayout header={<Header variant="h1">{s.title}</Header>}>
      <Grid gridDefinition={[{ colspan: { default: 12, m: 8 } }, { colspan: { default: 12, m: 4 } }]}>
        <SpaceBetween size="l">
          {data.items.length ? <ClustersNow clusters={data.items} /> : <StartHere />}
          <LatestEvents />
        </SpaceBetween>
        <SpaceBetween size="l">
          {money && <SpendNow />}
          <MachinesInUse />
        </SpaceBetween>
      </Grid>
    </ContentLayout>
  );
}
