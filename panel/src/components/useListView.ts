import { useSearchParams } from "react-router";
import { useCursor } from "./useCursor";

/**
 * What is shown of a list: filters and order, which are in the page's address, and the page. The first order is the usual one.
 * `list` goes before their names where a page has several lists.
 */
export function useListView<Filter extends string, Order extends string>(filters: readonly Filter[], orders: readonly [Order, ...Order[]], list = "") {
  const [address, setAddress] = useSearchParams();
  const pages = useCursor();
  const put = (name: string, value: string) => {
    setAddress((before) => {
      const next = new URLSearchParams(before);
      if (value) next.set(list + name, value);
      else next.delete(list + name);
      return next;
    }, { replace: true });
    pages.reset();
  };
  return {
    pages,
    order: orders.find((each) => each === address.get(`${list}order`)) ?? orders[0],
    filtered: filters.some((each) => address.get(list + each)),
    /** A filter's value; undefined while it is not used. */
    value: (name: Filter) => address.get(list + name) || undefined,
    filter: (name: Filter, value: string) => put(name, value),
    sort: (field: string, descending: boolean) => put("order", `${descending ? "-" : ""}${field}`),
  };
}

export const BY_AGE = ["-created_at", "created_at"] as const;
export const BY_NAME = ["name", "-name", "-created_at", "created_at"] as const;

/** One of the values that a filter of the API has; undefined for another one, which somebody wrote into the address. */
export const oneOf = <Value extends string>(values: readonly Value[], value: string | undefined) => values.find((each) => each === value);
