import { DurableObject } from "cloudflare:workers";
import type {
  BacklogMetrics,
  FiguresReply,
  FiguresRequest,
  HistoryReply,
  HistoryRequest,
  LookReply,
  LookRequest,
  MessageCounts,
  MoveTask,
  PeekedBatch,
  StoryReply,
  WatchReply,
  WatchRequest,
} from "@sluice/protocol";
import type { QueueCore } from "../queue/queue-core.ts";
import type { BrokerEnv } from "./broker-env.ts";

/**
 * Reads of a queue that exists, as its object answers them. For one that does not, each throws `QueueNotFoundError`.
 */
export abstract class QueueReads extends DurableObject<BrokerEnv> {
  /** Returns the core of a queue that exists. A property, since every method can be called over RPC. */
  protected abstract readonly existing: (queue: string) => Promise<QueueCore>;

  async metrics(queue: string): Promise<BacklogMetrics> {
    return (await this.#caughtUp(queue)).metrics();
  }

  async messageCounts(queue: string): Promise<MessageCounts> {
    return (await this.existing(queue)).messageCounts();
  }

  async listMoves(queue: string): Promise<readonly MoveTask[]> {
    return (await this.existing(queue)).moves.list();
  }

  async peek(queue: string, max: number): Promise<PeekedBatch> {
    return (await this.existing(queue)).peek(max);
  }

  async look(queue: string, request: LookRequest): Promise<LookReply> {
    const core = await this.#caughtUp(queue);
    return { ...core.messages.look(request), nowMs: core.nowMs };
  }

  async history(queue: string, request: HistoryRequest): Promise<HistoryReply> {
    return (await this.#caughtUp(queue)).history.list(request);
  }

  async story(queue: string, id: string): Promise<StoryReply> {
    return (await this.#caughtUp(queue)).history.story(id);
  }

  async idsNamed(queue: string, prefix: string): Promise<readonly string[]> {
    return (await this.existing(queue)).history.idsNamed(prefix);
  }

  async figures(queue: string, request: FiguresRequest): Promise<FiguresReply> {
    return (await this.#caughtUp(queue)).history.figures(request);
  }

  async watch(queue: string, request: WatchRequest): Promise<WatchReply> {
    return (await this.#caughtUp(queue)).watchers.watch(request);
  }

  /** The core of a queue that exists, with every delivery settled that has ended. */
  async #caughtUp(queue: string): Promise<QueueCore> {
    const core = await this.existing(queue);
    await core.caughtUp();
    return core;
  }
}
