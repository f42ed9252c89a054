import { useEffect, useState } from "preact/hooks";
import { inPath } from "./call.ts";

/** The parts of a queue's page. */
export const TABS = ["now", "messages", "history", "settings"] as const;
export type Tab = (typeof TABS)[number];

/** The page that is shown: what follows `#` in the address, so that a page has a link, and the browser's back works. */
export type Route =
  | { readonly kind: "overview" }
  | { readonly kind: "queue"; readonly name: string; readonly tab: Tab; readonly filter: string }
  /** `ref` names it in the list of messages: by it the message is found at once. Empty where only the id is known. */
  | { readonly kind: "message"; readonly queue: string; readonly id: string; readonly ref: string }
  | { readonly kind: "topic"; readonly arn: string; readonly page: number };

/** The token in the link that `sluice dev` prints where it has made one; `null` for any other address. */
export function tokenIn(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get("token");
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.split("?");
  const [, kind, id, third = "", fourth] = path.split("/");
  try {
    if (kind === "queues" && id) return queueRoute(decodeURIComponent(id), third, fourth, query);
    if (kind === "topics" && id) {
      const number = Number(third);
      return { kind: "topic", arn: decodeURIComponent(id), page: number >= 1 ? Math.floor(number) : 1 };
    }
  } catch {
    // The page makes no such link.
  }
  return { kind: "overview" };
}

function queueRoute(name: string, third: string, id: string | undefined, query: string): Route {
  const asked = new URLSearchParams(query);
  if (third === "messages" && id)
    return { kind: "message", queue: name, id: decodeURIComponent(id), ref: asked.get("ref") ?? "" };
  const tab = TABS.find((known) => known === third) ?? "now";
  return { kind: "queue", name, tab, filter: asked.get("filter") ?? "" };
}

export function queueLink(name: string, tab: Tab = "now", filter = ""): string {
  const query = filter === "" ? "" : `?${new URLSearchParams({ filter })}`;
  return `#/queues/${inPath(name)}${tab === "now" ? "" : `/${tab}`}${query}`;
}

export function messageLink(queue: string, id: string, ref = ""): string {
  const query = ref === "" ? "" : `?${new URLSearchParams({ ref })}`;
  return `#/queues/${inPath(queue)}/messages/${inPath(id)}${query}`;
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
