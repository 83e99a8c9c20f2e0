/** Addresses of pages about a flavor in a region. */
const query = (parts: Record<string, string>) => new URLSearchParams(parts).toString();

export const addressOf = (flavor: string, region: string) => `/catalogue/${encodeURIComponent(flavor)}?${query({ region })}`;
export const createAddress = (flavor: string, region: string, reservation?: string) =>
  `/clusters/create?${query({ region, flavor, ...(reservation && { reservation }) })}`;
export const reserveAddress = (flavor: string, region: string) => `/reservations?${query({ reserve: flavor, region })}`;
