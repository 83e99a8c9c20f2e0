import { lazy, Suspense, type ComponentType, type ReactNode } from "react";
import { Loading } from "./Loading";

/** A part of a page that is loaded when it is first shown; `waiting` is shown until then. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>, waiting: ReactNode = <Loading />): ComponentType<Props> {
  const Part = lazy(async () => ({ default: await load() }));
  return function Later(props: Props) {
    return (
      <Suspense fallback={waiting}>
        <Part {...props} />
      </Suspense>
    );
  };
}
