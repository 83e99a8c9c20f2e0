import ContentLayout from "@cloudscape-design/components/content-layout";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { operatorCapacity, regionMachines } from "../../api/operator";
import { regions } from "../../api/queries";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage, Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";
import { Racks } from "./Racks";
import { Room } from "./Room";

/** For operators: the racks of a region, and what fits into what is free. */
export function Capacity() {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const [address, setAddress] = useSearchParams();
  const known = useQuery({ ...regions, enabled: may });
  const all = known.data?.items ?? [];
  const region = all.find((each) => each.slug === address.get("region")) ?? all[0];
  const room = useQuery(operatorCapacity(region?.slug ?? ""));
  const machines = useQuery({ ...regionMachines(region?.slug ?? ""), enabled: region !== undefined });
  if (!may) return <Empty page title={s.capacity} text={common.notAllowed} />;
  if (known.error && !known.data) return <FailedPage title={s.capacity} error={known.error} retry={() => void known.refetch()} />;
  if (!known.data) return <Loading />;
  if (!region) return <Empty page title={s.noRegionsTitle} text={s.noRegionsText} />;
  const option = (each: typeof region) => ({ value: each.slug, label: each.name, description: each.slug });
  return (
    <ContentLayout
      header={
        <Header variant="h1" description={s.capacityDescription}
          actions={
            <FormField label={s.region}>
              <Select selectedOption={option(region)} options={all.map(option)} onChange={({ detail }) => setAddress({ region: detail.selectedOption.value ?? "" })} />
            </FormField>
          }>
          {s.capacity}
        </Header>
      }
    >
      {room.isPending || machines.isPending ? <Loading /> : <SpaceBetween size="l">
        <Racks key={region.slug} region={region.slug} asOf={room.data && s.asOf(f.clock(room.data.as_of))} />
        <Failure error={room.data ? undefined : room.error} retry={() => void room.refetch()} />
        {room.data?.types.map((type) => <Room key={type.machine_type} type={type} />)}
      </SpaceBetween>}
    </ContentLayout>
  );
}
