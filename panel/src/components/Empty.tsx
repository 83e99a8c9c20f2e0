import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";

/** What a list shows while it has nothing: what the thing is for, and how to get the first one. */
export function Empty({ title, text, action }: { title: string; text: string; action?: ReactNode }) {
  return (
    <Box textAlign="center" padding={{ vertical: "l" }}>
      <SpaceBetween size="s">
        <Box variant="h3" tagOverride="h2">{title}</Box>
        <Box color="text-body-secondary">{text}</Box>
        {action}
      </SpaceBetween>
    </Box>
  );
}
