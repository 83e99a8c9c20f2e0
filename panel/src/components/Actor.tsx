import Box from "@cloudscape-design/components/box";
import { useStrings } from "../i18n";

type Props = { event: { actor: string | null; address: string | null; agent: string | null } };

/** Who caused an event, from where, and with which program, as far as the reader may know. */
export function Actor({ event: { actor, address, agent } }: Props) {
  const { common } = useStrings();
  const origin = [address, agent].filter(Boolean).join(" · ");
  return (
    <>
      {actor ?? common.none}
      {origin && <Box variant="small" color="text-body-secondary" display="block">{origin}</Box>}
    </>
  );
}
