import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "react";
import { ofSession } from "../../api/client";
import { styleless } from "./styleless";

export type Standing =
  | { state: "connecting" | "connected" | "refused" | "lost" }
  | { state: "closed"; ended_by: string; detail: string; exit_status?: number };

type Props = { address: string; label: string; changed: (standing: Standing) => void; leave: () => void };

const HIGH = 512 * 1024; // bytes that are not drawn yet at which the server is asked to wait, and those at which to go on
const LOW = 64 * 1024;

/** A terminal over a WebSocket, from when it is shown until it is taken away. F6 leaves it: Tab is the shell's. */
export function Screen({ address, label, changed, leave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const told = useRef({ changed, leave });
  useEffect(() => { told.current = { changed, leave }; });
  useEffect(() => {
    const place = box.current;
    if (!place) return;
    const terminal = new Terminal({
      fontFamily: "monospace",
      fontSize: 14,
      lineHeight: 1.2, // of 1, underscores of DejaVu Sans Mono are cut off
      scrollback: 5_000,
      screenReaderMode: true,
      theme: { background: "#0f141a", foreground: "#ebebf0" },
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    styleless(() => terminal.open(place));
    terminal.textarea?.setAttribute("aria-label", label);
    terminal.attachCustomKeyEventHandler((event) => {
      if (event.key !== "F6") return true;
      if (event.type === "keydown") told.current.leave();
      event.preventDefault();
      return false;
    });
    fit.fit();
    terminal.focus();
    const close = connect(address, terminal, (standing) => told.current.changed(standing));
    const watch = new ResizeObserver(() => fit.fit());
    watch.observe(place);
    return () => {
      watch.disconnect();
      close();
      terminal.dispose();
    };
  }, [address, label]);
  return <div ref={box} className="terminal" />;
}

/** What is typed goes to the server, and what it writes is drawn; the function that is returned ends that. */
function connect(address: string, terminal: Terminal, changed: (standing: Standing) => void): () => void {
  const url = new URL(ofSession(address), window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = new URLSearchParams({ columns: String(terminal.cols), rows: String(terminal.rows) }).toString();
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  let standing: Standing = { state: "connecting" };
  let undrawn = 0;
  let waits = false;
  const now = (next: Standing) => changed((standing = next));
  const say = (message: object) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };
  const wait = (wanted: boolean) => {
    if (wanted !== waits) say({ wait: (waits = wanted) });
  };
  now(standing);
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === "string") return now(JSON.parse(data) as Standing);
    undrawn += data.byteLength;
    wait(waits || undrawn > HIGH);
    terminal.write(new Uint8Array(data), () => {
      undrawn -= data.byteLength;
      wait(waits && undrawn > LOW);
    });
  };
  socket.onclose = () => {
    if (standing.state === "connecting") now({ state: "refused" });
    if (standing.state === "connected") now({ state: "lost" });
  };
  const type = (bytes: Uint8Array<ArrayBuffer>) => { if (socket.readyState === WebSocket.OPEN) socket.send(bytes); };
  terminal.onData((text) => {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += LOW / 2) type(bytes.slice(at, at + LOW / 2));
  });
  terminal.onBinary((text) => type(Uint8Array.from(text, (each) => each.charCodeAt(0))));
  terminal.onResize(({ cols, rows }) => say({ columns: cols, rows }));
  return () => {
    socket.onmessage = socket.onclose = null;
    socket.close();
  };
}
