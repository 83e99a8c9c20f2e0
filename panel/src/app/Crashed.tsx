import { useEffect } from "react";
import { useRouteError } from "react-router";
import { Failure } from "../components/Failure";

const AGAIN_MS = 5_000;
/** What browsers say of a file that could not be loaded. */
const NOT_LOADED = /dynamically imported|module script|preload/i;

/** A page that could not be loaded or drawn. After an update its files may have new names, which a reload finds; where the service did
 *  not answer, it is loaded again as soon as it does. */
export function Crashed() {
  const error = useRouteError();
  const lost = error instanceof Error && NOT_LOADED.test(error.message);
  useEffect(() => {
    if (!lost) return;
    const look = () => void fetch("/favicon.svg", { cache: "no-store" }).then((answer) => answer.ok && location.reload(), () => undefined);
    const again = setInterval(look, AGAIN_MS);
    return () => clearInterval(again);
  }, [lost]);
  return <Failure error={error} retry={() => location.reload()} />;
}
