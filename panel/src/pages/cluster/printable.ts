import { plain } from "../../components/plain";

// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** A console's text: without colours, and other control characters written out, as the command line does. */
export const printable = (text: string) =>
  plain(text).replace(CONTROLS, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`);
