import { useRouteError } from "react-router";
import { Failure } from "../components/Failure";

/** A page that could not be loaded or drawn; after an update its files may have new names, which a reload finds. */
export function Crashed() {
  return <Failure error={useRouteError()} retry={() => location.reload()} />;
}
