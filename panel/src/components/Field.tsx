import FormField, { type FormFieldProps } from "@cloudscape-design/components/form-field";
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { useProblems } from "../i18n";
import { faultOf } from "../i18n/problems";

type Refusal = { error: unknown; shown: string[]; show: (pointer: string) => () => void };
const Refused = createContext<Refusal>({ error: null, shown: [], show: () => () => {} });

const within = (pointer: string, field: string) => pointer === field || pointer.startsWith(`${field}/`);
const faults = (error: unknown) => (error instanceof ApiError ? error.fields : []);

/** A form whose fields show what the API refused of them. */
export function Refusable({ error, children }: { error: unknown; children: ReactNode }) {
  const [shown, setShown] = useState<string[]>([]);
  const show = useCallback((pointer: string) => {
    setShown((now) => [...now, pointer]);
    return () => setShown((now) => now.filter((_, at) => at !== now.indexOf(pointer)));
  }, []);
  return <Refused value={useMemo(() => ({ error, shown, show }), [error, shown, show])}>{children}</Refused>;
}

/** What was refused of a request and stands at no field. */
export function useElsewhere(error: unknown) {
  const { shown } = use(Refused);
  return faults(error).filter(({ pointer }) => !shown.some((field) => within(pointer, field)));
}

/** A field of a form. `at`: where its value is in the request, as a JSON pointer; what the API says of it stands here. */
export function Field({ at, errorText, ...field }: FormFieldProps & { at: string }) {
  const problems = useProblems();
  const { error, show } = use(Refused);
  useEffect(() => show(at), [at, show]);
  const own = faults(error).filter(({ pointer }) => within(pointer, at)).map((each) => faultOf(problems, each));
  return <FormField {...field} errorText={errorText || own.join(" ")} />;
}
