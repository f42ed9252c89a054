import { queueLink } from "../api/route.ts";

/** The name of a queue, which leads to its page. */
export function QueueName({ of }: { readonly of: string }) {
  return <a href={queueLink(of)}>{of}</a>;
}
