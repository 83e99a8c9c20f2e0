const endings: Record<string, string> = {
  shell: "The shell has ended.", idle: "Closed, because nobody typed for a while.", time_limit: "Closed: it was open for as long as a terminal may be.",
  access: "Your access to this project has ended.", service: "The service closed the terminal. Open it again.",
};
export const terminal = {
  title: (cluster: string, number: number) => `Terminal of ${cluster}, server ${number}`,
  description: "The service logs in with a key made for this terminal. F6 leaves it by keyboard.",
  label: "Terminal",
  open: "Open terminal",
  anew: "New session",
  again: "Open again",
  connecting: "Logging in",
  connected: "Connected",
  refused: "The terminal could not be opened. The server must be running, and you need the right to change clusters.",
  lost: "The connection was lost.",
  endings,
};
