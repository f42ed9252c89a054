import type { SqsWay } from "./sqs-cases.ts";
import type { SqsClient } from "./sqs-client.ts";

/**
 * The queue that all runs of a case share, as queues are used: for long. With one for each run its first seconds would be
 * measured, in which the files of servers that write any still grow.
 */
export class CaseQueue {
  readonly #client: SqsClient;
  #queue: { readonly way: SqsWay; readonly url: string } | null = null;

  constructor(client: SqsClient) {
    this.#client = client;
  }

  /** The URL of the case's queue. The one of the case before is deleted. */
  async urlFor(way: SqsWay): Promise<string> {
    if (this.#queue?.way !== way) {
      await this.delete();
      this.#queue = { way, url: await this.#client.createQueue(`bench-${way}`) };
    }
    return this.#queue.url;
  }

  async delete(): Promise<void> {
    const queue = this.#queue;
    this.#queue = null;
    if (queue !== null) await this.#client.deleteQueue(queue.url);
  }
}
