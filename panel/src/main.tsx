import "@cloudscape-design/global-styles/index.css";
import "./app/panel.css";
import "virtual:theme.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import Box from "@cloudscape-design/components/box";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Box variant="h1" padding="xxl">IPU Cloud</Box>
  </StrictMode>,
);
