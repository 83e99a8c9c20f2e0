// eslint-disable-next-line no-control-regex -- the escape character begins them
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Output of a terminal program as text: without colours, and of a line that was written over, such as a progress bar, the last. */
export function plain(text: string): string {
  return text.replace(SEQUENCES, "").replaceAll("\r\n", "\n").split("\n").map(last).join("\n");
}

const last = (line: string) => (line.includes("\r") ? (line.split("\r").findLast((each) => each !== "") ?? "") : line);
