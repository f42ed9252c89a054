import {
  type PeekedBatch,
  type PulledBatch,
  type PullRequest,
  type PullRetry,
  type PullSettled,
  unpackMessages,
} from "@sluice/protocol";
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
    const reply = await this.#world.core(this.#queue).pull(request);
    if (!reply.ok) throw new Error(reply.reason);
    return messagesOf(reply.batch, reply.batch.leaseIds);
  }

  settle(acks: readonly string[], retries: readonly PullRetry[] = []): Promise<PullSettled> {
    return this.#world.core(this.#queue).settleLeases({ acks, retries });
  }

  async peek(max = 100): Promise<PulledMessage[]> {
    const batch = await this.#world.core(this.#queue).peek(max);
    return messagesOf(batch, batch.refs);
  }

  deleteByRefs(refs: readonly string[]) {
    return this.#world.core(this.#queue).deleteByRefs(refs);
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
