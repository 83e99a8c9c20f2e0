/** The networks of a text: one on each line, or separated by commas. */
export const networksIn = (text: string) => text.split(/[\s,]+/).filter((each) => each !== "");
