import type { DeliveryReply } from "@sluice/protocol";

/** Longest wait for a mapped stack trace, in ms. One that takes longer is stored as the runtime wrote it. */
export const MAPPED_STACK_MS_MAX = 1_000;

/**
 * Makes of a failed delivery's reply one whose stack trace has the places of the user's sources. Source maps are files
 * of the process that runs the Workers, so that process is asked. Without an answer the reply stays as it is.
 *
 * @param url `SLUICE_STACKS`.
 * @param post answers with the mapped stack trace. Default: `fetch`.
 */
export async function withMappedStack(
  reply: DeliveryReply,
  url: string,
  post: (url: string, stack: string) => Promise<string> = postStack,
): Promise<DeliveryReply> {
  // The consumer is another Worker: it answers with anything.
  const stack = (reply as { readonly stack?: unknown } | null)?.stack;
  if (typeof reply !== "object" || typeof stack !== "string") return reply;
  try {
    return { ...reply, stack: await post(url, stack) };
  } catch {
    return reply;
  }
}

async function postStack(url: string, body: string): Promise<string> {
  const signal = AbortSignal.timeout(MAPPED_STACK_MS_MAX);
  const response = await fetch(url, { method: "POST", body, signal });
  if (!response.ok) throw new Error(`stack traces are not mapped: ${response.status}`);
  return response.text();
}
