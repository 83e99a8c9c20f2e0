import Header from "@cloudscape-design/components/header";
import { useQuery } from "@tanstack/react-query";
import { projectPage } from "../../api/tenants";
import { useMay } from "../../app/Project";
import { Empty } from "../../components/Empty";
import { FailedPage } from "../../components/Failure";
import { Find, ListTable } from "../../components/ListTable";
import { To } from "../../components/To";
import { BY_NAME, useListView } from "../../components/useListView";
import { useFormat, useStrings } from "../../i18n";
import { useTenantStrings } from "../../i18n/tenants";

/** For operators: every project. */
export function ProjectList() {
  const { common } = useStrings();
  const s = useTenantStrings();
  const f = useFormat();
  const may = useMay("platform:read");
  const view = useListView(["q"], BY_NAME);
  const { data, error, refetch } = useQuery({ ...projectPage({ q: view.value("q"), order: view.order, limit: 50, cursor: view.pages.cursor }), enabled: may });
  if (!may) return <Empty page title={s.projects} text={common.notAllowed} />;
  if (error && !data) return <FailedPage title={s.projects} error={error} retry={() => void refetch()} />;
  return (
    <ListTable
      variant="full-page"
      stickyHeader
      title={s.projects}
      view={view}
      page={data}
      filters={<Find label={s.findProjects} value={view.value("q")} onChange={(text) => view.filter("q", text)} />}
      none={<Empty title={s.noProjects} text={s.noProjectsText} />}
      header={<Header variant="awsui-h1-sticky" description={s.projectsText}>{s.projects}</Header>}
      columnDefinitions={[
        {
          id: "name", header: common.name, isRowHeader: true, sortingField: "name",
          cell: (each) => <To href={`/operator/projects/${each.slug}`}>{each.name}</To>,
        },
        { id: "slug", header: s.slug, cell: (each) => each.slug },
        { id: "number", header: s.number, cell: (each) => each.number },
        { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
      ]}
    />
  );
}
