import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useQuery } from "@tanstack/react-query";
import { vipu } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Failure } from "../../components/Failure";
import { Loading } from "../../components/Loading";
import { useStrings } from "../../i18n";

export function VipuEndpoint({ cluster }: { cluster: string }) {
  const { common, cluster: s } = useStrings();
  const { data, error, refetch } = useQuery(vipu(useProject(), cluster));
  return (
    <Container header={<Header variant="h2" description={s.vipuText}>{s.vipu}</Header>}>
      {data ? (
        <KeyValuePairs
          columns={2}
          items={[
            { label: s.host, value: <Copyable text={`${data.host}:${data.port}`} label={s.host} /> },
            { label: s.user, value: data.user ?? common.none },
          ]}
        />
      ) : error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />}
    </Container>
  );
}
