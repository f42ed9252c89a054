import { useEffect, useState } from "preact/hooks";
import { inPath } from "./api.ts";

/**
 * Where the reader is: what follows `#` in the address, so that a page can be linked to, and the browser's back works.
 */
export type Route =
  | { readonly kind: "overview" }
  | { readonly kind: "queue"; readonly name: string }
  | { readonly kind: "topic"; readonly arn: string; readonly page: number };

export function parseRoute(hash: string): Route {
  const [, kind, id, page] = hash.split("/");
  try {
    if (kind === "queues" && id) return { kind: "queue", name: decodeURIComponent(id) };
    if (kind === "topics" && id) {
      const number = Number(page);
      return { kind: "topic", arn: decodeURIComponent(id), page: number >= 1 ? Math.floor(number) : 1 };
    }
  } catch {
    // Not what a link of ours says.
  }
  return { kind: "overview" };
}

export function queueLink(name: string): string {
  return `#/queues/${inPath(name)}`;
}

export function topicLink(arn: string, page = 1): string {
  return `#/topics/${inPath(arn)}${page === 1 ? "" : `/${page}`}`;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return parseRoute(hash);
}
