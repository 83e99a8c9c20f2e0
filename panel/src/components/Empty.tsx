import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";

/** What a list shows while it has nothing: what the thing is for, and how to get the first one; `page` where that is all. */
export function Empty({ title, text, action, page = false }: { title: string; text: string; action?: ReactNode; page?: boolean }) {
  return (
    <Box textAlign="center" padding={{ vertical: "l" }}>
      <SpaceBetween size="s">
        <Box variant="h3" tagOverride={page ? "h1" : "h2"}>{title}</Box>
        <Box color="text-body-secondary">{text}</Box>
        {action}
      </SpaceBetween>
    </Box>
  );
}
