import { quote, split } from "shlex";

/** The words of a command line as a POSIX shell reads its spaces and quotes; null while a quote is not closed. */
export function wordsOf(line: string): string[] | null {
  try {
    return split(line);
  } catch {
    return null;
  }
}

export const lineOf = (words: string[]) => words.map(quote).join(" ");
