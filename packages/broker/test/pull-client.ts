import {
  type PeekedBatch,
  type PulledBatch,
  type PullRequest,
  type PullRetry,
  type PullSettled,
  unpackMessages,
} from "@sluice/protocol";
import { deleteByRefs, peek } from "../src/peek.ts";
import { pull } from "../src/pull.ts";
import { settlePulled } from "../src/settle-pulled.ts";
import type { World } from "./world.ts";

/** A message as a client sees it. */
export interface PulledMessage {
  readonly body: string;
  readonly attempts: number;
  /** Lease id of a pull, ref of a peek. */
  readonly token: string;
}

/** A client that pulls from a queue of a world. */
export class PullClient {
  readonly #world: World;
  readonly #queue: string;

  constructor(world: World, queue: string) {
    this.#world = world;
    this.#queue = queue;
  }

  async pull(request: PullRequest = {}): Promise<PulledMessage[]> {
    const core = this.#world.core(this.#queue);
    const reply = await core.submit(() => pull(core, request));
    if (!reply.ok) throw new Error(reply.reason);
    return messagesOf(reply.batch, reply.batch.leaseIds);
  }

  settle(acks: readonly string[], retries: readonly PullRetry[] = []): Promise<PullSettled> {
    const core = this.#world.core(this.#queue);
    return core.submit(() => settlePulled(core, { acks, retries }));
  }

  async peek(max = 100): Promise<PulledMessage[]> {
    const core = this.#world.core(this.#queue);
    const batch = await core.submit(() => peek(core, max));
    return messagesOf(batch, batch.refs);
  }

  deleteByRefs(refs: readonly string[]) {
    const core = this.#world.core(this.#queue);
    return core.submit(() => deleteByRefs(core, refs));
  }
}

function messagesOf(
  { packed, attempts }: Pick<PulledBatch | PeekedBatch, "packed" | "attempts">,
  tokens: readonly string[],
): PulledMessage[] {
  if (packed.byteLength > 0 && packed.byteLength !== packed.buffer.byteLength) {
    throw new Error("a view was given to a call");
  }
  const messages = unpackMessages(packed);
  if (messages.length !== attempts.length || messages.length !== tokens.length) {
    throw new Error(`${messages.length} records, ${attempts.length} attempts, ${tokens.length} tokens`);
  }
  return messages.map(({ body }, i) => ({
    body: new TextDecoder().decode(body),
    attempts: attempts[i] ?? 0,
    token: tokens[i] ?? "",
  }));
}
