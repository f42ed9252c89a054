import type { DeliveryReply } from "@sluice/protocol";
import { fittedStack } from "@sluice/protocol/stack";

/** Longest wait for a mapped stack trace, in ms. One that takes longer is stored as the runtime wrote it. */
export const MAPPED_STACK_MS_MAX = 1_000;

/** Beginning of a stack frame: only texts with one are posted. Reads no line twice, however many are empty. */
const FRAME = /\n[^\S\n]+at /;

interface PrintedLine {
  readonly text: string;
}

/** Texts of a reply that may have stack traces: what the handler threw, and what it printed. */
interface ReplyTexts {
  readonly stack?: string;
  readonly logs?: { readonly lines: readonly PrintedLine[] };
}

/**
 * Replaces the stack traces of a delivery's reply by those with places in the user's sources. Source maps are files of
 * the process that runs the Workers, so that process is asked. Without an answer the reply stays as it is.
 *
 * @param url `SLUICE_STACKS`.
 * @param post answers with the mapped stack trace. Default: `fetch`.
 */
export async function withMappedStacks(
  reply: DeliveryReply,
  url: string,
  post: (url: string, stack: string) => Promise<string> = postStack,
): Promise<DeliveryReply> {
  const mapped = async (text: string) => (FRAME.test(text) ? post(url, text) : text);
  const mappedLine = async (line: PrintedLine): Promise<PrintedLine> => {
    // The length of a line has a limit, which the broker checks.
    return { ...line, text: fittedStack(await mapped(line.text), line.text.length) };
  };
  try {
    // The consumer is another Worker, and answers with anything: `readResult` looks at what throws here.
    const { stack, logs } = reply as ReplyTexts;
    if (stack === undefined && logs === undefined) return reply;
    const [thrown, lines] = await Promise.all([
      stack === undefined ? undefined : mapped(stack),
      logs === undefined ? undefined : Promise.all(logs.lines.map(mappedLine)),
    ]);
    return {
      ...(reply as Exclude<DeliveryReply, string>),
      ...(thrown === undefined ? {} : { stack: thrown }),
      ...(lines === undefined ? {} : { logs: { ...logs, lines } }),
    } as DeliveryReply;
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
