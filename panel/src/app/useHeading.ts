import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const heading = () => document.querySelector("h1");

/** Put the focus on the page itself, behind the bar and the navigation. */
export function focusPage(): void {
  const first = heading();
  if (!first) return;
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
}

/** A page's first heading is the title of the window, and has the focus when a link has led there: whoever does not see the page is
 *  told where they are. Tabs of a page have its heading and keep the focus. */
export function useHeading(product: string): void {
  const { pathname } = useLocation();
  const shown = useRef<string | null>(null);
  useEffect(() => {
    const before = shown.current;
    let told = before === null;
    const look = () => {
      const text = heading()?.textContent;
      if (!text) return;
      shown.current = text;
      const title = `${text} · ${product}`;
      if (document.title !== title) document.title = title;
      if (told || text === before) return;
      told = true;
      if (!document.querySelector("[role=dialog]")) focusPage();
    };
    const watch = new MutationObserver(look);
    watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    look();
    return () => watch.disconnect();
  }, [pathname, product]);
}
