import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { machineTypes } from "../api/catalogue";
import { Failure } from "../components/Failure";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { useCatalogueStrings } from "../i18n/catalogue";
import { FlavorTable } from "./catalogue/FlavorTable";
import { MachineFacts } from "./catalogue/MachineFacts";

const Images = later(async () => (await import("./catalogue/Software")).Images);
const Tools = later(async () => (await import("./catalogue/Software")).Tools);
const Models = later(async () => (await import("./catalogue/Software")).Models);

/** What can be rented: flavors with prices and stock, the machines that they consist of, and the software for them. */
export function Catalogue() {
  const s = useCatalogueStrings();
  const [address, setAddress] = useSearchParams();
  return (
    <ContentLayout header={<Header variant="h1" description={s.description}>{s.title}</Header>}>
      <Tabs
        activeTabId={address.get("tab") ?? "flavors"}
        onChange={({ detail }) => setAddress(detail.activeTabId === "flavors" ? {} : { tab: detail.activeTabId }, { replace: true })}
        tabs={[
          { id: "flavors", label: s.tabs.flavors, content: <FlavorTable /> },
          { id: "machines", label: s.tabs.machines, content: <Machines /> },
          { id: "images", label: s.tabs.images, content: <Images /> },
          { id: "tools", label: s.tabs.tools, content: <Tools /> },
          { id: "models", label: s.tabs.models, content: <Models /> },
        ]}
      />
    </ContentLayout>
  );
}

function Machines() {
  const { data, error, refetch } = useQuery(machineTypes);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return <SpaceBetween size="l">{data.items.map((each) => <MachineFacts key={each.id} type={each} />)}</SpaceBetween>;
}
