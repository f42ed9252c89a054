/* The part of Miniflare's options that the broker is added to. All other options stay as they are. */

export interface MiniflareModule {
  readonly type: string;
  readonly path: string;
  readonly contents?: string | Uint8Array;
}

/** Options of a Worker for Miniflare 4, and for Miniflare 5 by its `convertV4MiniflareOptions`. */
export interface MiniflareWorker {
  readonly name?: string | undefined;
  readonly rootPath?: string | undefined;
  readonly modules?: boolean | readonly MiniflareModule[] | undefined;
  readonly modulesRoot?: string | undefined;
  readonly script?: string | undefined;
  readonly scriptPath?: string | undefined;
  readonly compatibilityDate?: string | undefined;
  readonly compatibilityFlags?: readonly string[] | undefined;
  readonly durableObjects?: Readonly<Record<string, unknown>> | undefined;
  readonly serviceBindings?: Readonly<Record<string, unknown>> | undefined;
  /** Queues by the names of their bindings. In a list each binding has the name of its queue. */
  readonly queueProducers?:
    | Readonly<Record<string, string | MiniflareProducer>>
    | readonly string[]
    | undefined;
  /** Settings by the names of the queues. Their defaults are production's, not Miniflare's. */
  readonly queueConsumers?: Readonly<Record<string, MiniflareConsumer>> | readonly string[] | undefined;
}

interface MiniflareProducer {
  readonly queueName: string;
  /** In seconds. */
  readonly deliveryDelay?: number | undefined;
}

interface MiniflareConsumer {
  readonly maxBatchSize?: number | undefined;
  /** In seconds. */
  readonly maxBatchTimeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly deadLetterQueue?: string | undefined;
  /** In seconds. */
  readonly retryDelay?: number | undefined;
}

/** Options of a Miniflare: for several Workers, or for one. */
export interface MiniflareOptions extends MiniflareWorker {
  readonly workers?: readonly MiniflareWorker[] | undefined;
}
