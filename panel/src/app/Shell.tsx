import AppLayout from "@cloudscape-design/components/app-layout";
import { Suspense, useState } from "react";
import { Outlet, useLocation } from "react-router";
import { useLive } from "../api/live";
import { Empty } from "../components/Empty";
import { later } from "../components/later";
import { Loading } from "../components/Loading";
import { To } from "../components/To";
import { useStrings } from "../i18n";
import { Flashes, Notifications } from "./Flashes";
import { Navigation } from "./Navigation";
import { pageOf } from "./place";
import { Project, useChoice, useMay, useProject } from "./Project";
import { TopBar } from "./TopBar";
import { useGoToKey } from "./useGoToKey";
import { focusPage, useHeading } from "./useHeading";

const GoTo = later(async () => (await import("./GoTo")).GoTo, null);

export function Shell() {
  return (
    <Project>
      <Flashes>
        <Frame />
      </Flashes>
    </Project>
  );
}

function Frame() {
  const s = useStrings();
  const project = useProject();
  const { account_id: account } = useChoice().who.token;
  const live = useLive({ project, account, operator: useMay("platform:read") });
  const { pathname } = useLocation();
  const [going, setGoing] = useState(false);
  useGoToKey(() => setGoing(true));
  useHeading(s.shell.product);
  const [open, setOpen] = useState(() => globalThis.innerWidth > 900);
  return (
    <>
      <a className="skip" href="#page" onClick={(event) => { event.preventDefault(); focusPage(); }}>{s.shell.skip}</a>
      <div id="top">
        <TopBar live={live} onGoTo={() => setGoing(true)} />
      </div>
      {going && <GoTo onClose={() => setGoing(false)} />}
      <AppLayout
        headerSelector="#top"
        toolsHide
        navigationOpen={open}
        onNavigationChange={(event) => setOpen(event.detail.open)}
        navigation={<Navigation />}
        notifications={<Notifications />}
        stickyNotifications
        contentType={["/clusters", "/reservations", "/s3-connections"].includes(pageOf(pathname)) ? "table" : "default"}
        ariaLabels={{
          navigation: s.shell.navigation,
          navigationToggle: s.shell.openNavigation,
          navigationClose: s.shell.closeNavigation,
          notifications: s.shell.notifications,
        }}
        content={<div id="page" tabIndex={-1}><Content key={project} /></div>}
      />
    </>
  );
}

function Content() {
  const s = useStrings().common;
  const { slug, unseen, who } = useChoice();
  if (unseen !== undefined) return <Empty page title={s.unseen(unseen)} text={s.unseenText} action={<To href="/">{s.toStart}</To>} />;
  const shown = slug || who.token.account_id || who.scopes.includes("platform:read");
  // Some pages load their texts when they are first shown.
  return shown ? <Suspense fallback={<Loading />}><Outlet /></Suspense> : <Empty page title={s.noProject} text={s.noProjectText} />;
}
