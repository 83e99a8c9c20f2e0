import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useStrings } from "../i18n";

export function Loading() {
  return (
    <Box padding="l">
      <StatusIndicator type="loading">{useStrings().common.loading}</StatusIndicator>
    </Box>
  );
}
