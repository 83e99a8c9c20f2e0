import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { allProjects } from "../../api/tenants";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { byText, LocalTable } from "../../components/LocalTable";
import { To } from "../../components/To";
import { useFormat, useStrings } from "../../i18n";
import { useTenantStrings } from "../../i18n/tenants";

/** For operators: every project. */
export function ProjectList() {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const { data, error, refetch } = useQuery({ ...allProjects, enabled: may });
  if (!may) return <Empty page title={s.projects} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.projects} error={error} retry={() => void refetch()} />;
  return (
    <LocalTable
      variant="full-page"
      stickyHeader
      trackBy="id"
      title={s.projects}
      items={data}
      textOf={(each) => `${each.name} ${each.slug}`}
      find={s.findProjects}
      none={<Empty title={s.noProjects} text={s.noProjectsText} />}
      header={<Header variant="awsui-h1-sticky" description={s.projectsText} counter={data && `(${f.number(data.length)})`}>{s.projects}</Header>}
      columnDefinitions={[
        {
          id: "name", header: common.name, isRowHeader: true, sortingComparator: byText((each) => each.name),
          cell: (each) => <To href={`/operator/projects/${each.slug}`}>{each.name}</To>,
        },
        { id: "slug", header: s.slug, sortingField: "slug", cell: (each) => each.slug },
        { id: "number", header: s.number, sortingField: "number", cell: (each) => each.number },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
    />
  );
}
