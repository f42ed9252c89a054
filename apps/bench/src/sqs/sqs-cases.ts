import type { Case } from "../compare/cases.ts";

/** Way in which a queue is used. */
export type SqsWay = "sqs-single" | "sqs-senders50" | "sqs-batches16" | "sqs-drain16" | "sqs-through";

/** Cases of SQS. The slow one is last: by then each server has compiled its frequent code. */
export const SQS_CASES: readonly Case<SqsWay>[] = [
  {
    way: "sqs-senders50",
    title: "SQS: SendMessage, 50 at once",
    warmUpMessages: 3_000,
    step: 100,
    shown: "sent",
  },
  {
    way: "sqs-batches16",
    title: "SQS: SendMessageBatch of 10, 16 at once",
    warmUpMessages: 8_000,
    step: 160,
    shown: "sent",
  },
  {
    way: "sqs-drain16",
    title: "SQS: ReceiveMessage of 10 and DeleteMessageBatch, 16 at once",
    warmUpMessages: 8_000,
    step: 160,
    shown: "handled",
  },
  {
    way: "sqs-through",
    title: "SQS: 25 senders, 8 receivers of 10",
    warmUpMessages: 2_000,
    step: 100,
    shown: "handled",
  },
  { way: "sqs-single", title: "SQS: SendMessage, one by one", warmUpMessages: 500, step: 100, shown: "sent" },
];
