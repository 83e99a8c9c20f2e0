/** Addresses of pages about a flavor in a region. */
const query = (parts: Record<string, string>) => new URLSearchParams(parts).toString();

export const addressOf = (flavor: string, region: string) => `/catalogue/${encodeURIComponent(flavor)}?${query({ region })}`;
export const recipeAddress = (recipe: string) => `/catalogue/models/${encodeURIComponent(recipe)}`;
/** `more`: a reservation that the cluster is created from, or a recipe that is run on it. */
export const createAddress = (flavor: string, region: string, more: { reservation?: string; recipe?: string } = {}) => `/clusters/create?${query({ region, flavor, ...more })}`;
export const reserveAddress = (flavor: string, region: string) => `/reservations?${query({ reserve: flavor, region })}`;
