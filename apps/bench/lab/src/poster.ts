import { PackedWriter, type PostReply, PROTOCOL_VERSION } from "@sluice/protocol";
import { inParallel } from "../../src/workload/ways.ts";
import type { Bill } from "./bill.ts";
import type { Posted } from "./posted.ts";

// Sends packed messages to objects as producers do, but directly: it shares no calls and uses no shard map.

interface Env {
  SLUICE_QUEUES: {
    getByName(name: string): {
      post(queue: string, requests: object[], producer: string, protocol: number): Promise<PostReply>;
      bill(queue: string): Promise<Bill>;
    };
  };
}

const BODY = JSON.stringify({ text: "x".repeat(180) });
/** Calls of each sender between two looks at the clock. */
const CALLS_IN_A_ROW = 20;

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
    await Promise.all(names.map((name) => post(env, name, { calls, messages, ms }, callMs)));
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

async function post(
  env: Env,
  name: string,
  { calls, messages, ms }: { readonly calls: number; readonly messages: number; readonly ms: number },
  callMs: number[],
): Promise<void> {
  const object = env.SLUICE_QUEUES.getByName(name);
  const endMs = Date.now() + ms;
  const once = async () => {
    const sentMs = Date.now();
    const reply = await object.post(name, [{ packed: packed(messages) }], "bench", PROTOCOL_VERSION);
    if (typeof reply !== "string") throw new Error(`a send was refused: ${reply.cause}`);
    callMs.push(Date.now() - sentMs);
  };
  while (Date.now() < endMs) await inParallel(calls, CALLS_IN_A_ROW * calls, once);
}

function packed(messages: number): Uint8Array {
  const writer = new PackedWriter();
  for (let i = 0; i < messages; i++) {
    const id = crypto.getRandomValues(new Uint8Array(16));
    writer.append({ id, contentType: "json", body: BODY, delaySeconds: undefined, extension: undefined });
  }
  return writer.slice(0, writer.byteLength);
}
