import type { Context } from "hono";
import { invalid } from "./api-error.ts";
import type { ResultInfo } from "./envelope.ts";

/** Entries of a page where the request names no number, and most that a page can have. */
export const PER_PAGE_DEFAULT = 100;
export const PER_PAGE_MAX = 1_000;

interface PageRules {
  /**
   * Whether a request that names no page gets the first one. Default: false, it gets everything, because some clients
   * never page.
   */
  readonly isAlwaysPaged?: boolean;
}

/** Makes the page of a list that the request asks for. */
export function pageOf<T>(
  c: Context,
  entries: readonly T[],
  { isAlwaysPaged = false }: PageRules = {},
): { page: readonly T[]; info: ResultInfo } {
  const asksForPage =
    isAlwaysPaged || c.req.query("page") !== undefined || c.req.query("per_page") !== undefined;
  const page = positive(c, "page", Number.MAX_SAFE_INTEGER) ?? 1;
  const perPage = asksForPage
    ? (positive(c, "per_page", PER_PAGE_MAX) ?? PER_PAGE_DEFAULT)
    : Math.max(PER_PAGE_DEFAULT, entries.length);
  const slice = entries.slice((page - 1) * perPage, page * perPage);
  return {
    page: slice,
    info: {
      page,
      per_page: perPage,
      count: slice.length,
      total_count: entries.length,
      total_pages: Math.ceil(entries.length / perPage),
    },
  };
}

function positive(c: Context, name: string, max: number): number | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw invalid(`The query parameter "${name}" must be a whole number from 1 to ${max}.`);
}
