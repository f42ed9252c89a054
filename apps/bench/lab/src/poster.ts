import { PackedWriter, type PostReply, PROTOCOL_VERSION } from "@sluice/protocol";
import type { Bill } from "./bill.ts";
import type { Posted } from "./posted.ts";

/** Sends packed messages to objects as producers do, so many calls at a time, and without a producer's own rules. */

interface Env {
  SLUICE_QUEUES: {
    getByName(name: string): {
      post(queue: string, requests: object[], producer: string, protocol: number): Promise<PostReply>;
      bill(queue: string): Promise<Bill>;
    };
  };
}

const BODY = JSON.stringify({ text: "x".repeat(180) });
/** The sender pauses for a moment that often, so that the process gets to everything else, in ms. */
const BREATH_MS = 5;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const at = new URL(request.url).searchParams;
    const [queues, calls, messages, ms] = ["queues", "calls", "messages", "ms"].map((name) =>
      Number(at.get(name)),
    ) as [number, number, number, number];
    const names = Array.from({ length: queues }, (_, i) => `shard-${i}`);
    const bills = () => Promise.all(names.map((name) => env.SLUICE_QUEUES.getByName(name).bill(name)));
    const before = await bills();
    const callMs: number[] = [];
    const startMs = Date.now();
    await Promise.all(
      names.flatMap((name) => Array.from({ length: calls }, () => post(env, name, messages, ms, callMs))),
    );
    const tookMs = Date.now() - startMs;
    const after = await bills();
    const grown = (of: (bill: Bill) => number) =>
      after.reduce((sum, bill, i) => sum + of(bill) - of(before[i] as Bill), 0);
    const posted: Posted = {
      tookMs,
      calls: callMs.length,
      messages: callMs.length * messages,
      commits: grown((bill) => bill.syncs),
      rowsWritten: grown((bill) => bill.usage.rowsWritten),
      callMs,
    };
    return Response.json(posted);
  },
};

async function post(env: Env, name: string, messages: number, ms: number, callMs: number[]): Promise<void> {
  const object = env.SLUICE_QUEUES.getByName(name);
  const endMs = Date.now() + ms;
  for (let breathMs = Date.now(); Date.now() < endMs; ) {
    const sentMs = Date.now();
    const reply = await object.post(name, [{ packed: packed(messages) }], "bench", PROTOCOL_VERSION);
    if (typeof reply !== "string") throw new Error(`a send was refused: ${reply.cause}`);
    callMs.push(Date.now() - sentMs);
    if (Date.now() - breathMs < BREATH_MS) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    breathMs = Date.now();
  }
}

function packed(messages: number): Uint8Array {
  const writer = new PackedWriter();
  for (let i = 0; i < messages; i++) {
    const id = crypto.getRandomValues(new Uint8Array(16));
    writer.append({ id, contentType: "json", body: BODY, delaySeconds: undefined, extension: undefined });
  }
  return writer.slice(0, writer.byteLength);
}
