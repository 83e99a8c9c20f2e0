import type { ReactNode } from "react";

/** An amount in a table, or the header of its column: they end below each other. */
export const amount = (text: ReactNode) => <div className="amount">{text}</div>;
