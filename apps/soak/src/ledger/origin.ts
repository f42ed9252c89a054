import type { QueueDefinition } from "@sluice/protocol";
import type { Message } from "./message.ts";

/** Properties that a message brings along from the queue that it died in. */
export interface Origin {
  /** When it was sent, in ms; `null` if it counts as sent when it arrives. */
  readonly sentMs: number | null;
  /** Receives before this queue. */
  readonly earlierReceives: number;
  /** Whether it names the queue that it comes from as SQS's dead letters do: then its retention goes on. */
  readonly namesSource: boolean;
}

/** Name of the queue's dead-letter queue; `null` without one. */
export function deadLetterQueueOf({ receive, consumer }: QueueDefinition): string | null {
  return receive?.redrive?.deadLetterQueue ?? consumer?.settings.deadLetterQueue ?? null;
}

/** Whether messages of the queue are received, and so die at a receive instead of at a failure (spec sqs 6.1). */
export function isReceived({ consumer }: QueueDefinition): boolean {
  return consumer === null || (consumer.type === "http_push" && consumer.settings.daemon !== undefined);
}

/** Origin of a message that a producer sent to the queue. */
export const FROM_PRODUCER: Origin = { sentMs: null, earlierReceives: 0, namesSource: false };

/** Makes the origin of a message that died in another queue (spec sqs 5.5, 6.2, sns-delivery 6.3). */
export function originOf(dead: Message, definition: QueueDefinition): Origin {
  const { consumer, fifo } = definition;
  const { sentMs, earlierReceives, namesSource, attempts } = dead;
  const format = consumer?.type === "http_push" ? consumer.settings.format : null;
  if (format === "sns") return { ...FROM_PRODUCER, namesSource };
  if (!isReceived(definition)) return { sentMs, earlierReceives, namesSource: false };
  return {
    sentMs: fifo === undefined ? sentMs : null,
    earlierReceives: earlierReceives + attempts,
    namesSource: true,
  };
}
