import type { Need } from "../../rights/rights.ts";
import type { SqsActionName } from "./model.ts";

const READ: Need = { scope: "read", queues: "one" };
const SEND: Need = { scope: "send", queues: "one" };
const CONSUME: Need = { scope: "consume", queues: "one" };
const changing = (audit: string): Need => ({ scope: "admin", queues: "one", audit });

/** What each action needs. */
export const SQS_NEEDS: Readonly<Record<SqsActionName, Need>> = {
  AddPermission: changing("queue.change"),
  CancelMessageMoveTask: changing("queue.redrive.cancel"),
  ChangeMessageVisibility: CONSUME,
  ChangeMessageVisibilityBatch: CONSUME,
  CreateQueue: changing("queue.create"),
  DeleteMessage: CONSUME,
  DeleteMessageBatch: CONSUME,
  DeleteQueue: changing("queue.delete"),
  GetQueueAttributes: READ,
  // Who sends or receives asks for it first.
  GetQueueUrl: { scope: "any", queues: "one" },
  ListDeadLetterSourceQueues: READ,
  ListMessageMoveTasks: READ,
  ListQueues: { scope: "read", queues: "listed" },
  ListQueueTags: READ,
  PurgeQueue: changing("queue.purge"),
  ReceiveMessage: CONSUME,
  RemovePermission: changing("queue.change"),
  SendMessage: SEND,
  SendMessageBatch: SEND,
  SetQueueAttributes: changing("queue.change"),
  StartMessageMoveTask: changing("queue.redrive"),
  TagQueue: changing("queue.change"),
  UntagQueue: changing("queue.change"),
};
