import { needsOf } from "../../rights/rights.ts";
import { type AwsActions, effectsOf } from "../action.ts";
import type { SqsContext } from "./context.ts";
import { receiveMessage } from "./message/receive-actions.ts";
import { sendMessage, sendMessageBatch } from "./message/send-actions.ts";
import {
  changeMessageVisibility,
  changeMessageVisibilityBatch,
  deleteMessage,
  deleteMessageBatch,
} from "./message/settle-actions.ts";
import type { SQS_ACTIONS } from "./model.ts";
import { cancelMessageMoveTask, listMessageMoveTasks, startMessageMoveTask } from "./move-actions.ts";
import { addPermission, removePermission } from "./queue/permissions.ts";
import {
  createQueue,
  deleteQueue,
  getQueueAttributes,
  getQueueUrl,
  listDeadLetterSourceQueues,
  listQueues,
  purgeQueue,
  setQueueAttributes,
} from "./queue/queue-actions.ts";
import { listQueueTags, tagQueue, untagQueue } from "./queue/tags.ts";

const { ANY, READ, SEND, CONSUME, changing } = needsOf("one");

/** Every action. */
export const SQS_HANDLERS: AwsActions<SqsContext, typeof SQS_ACTIONS> = {
  AddPermission: { run: addPermission, need: changing("queue.change") },
  CancelMessageMoveTask: { run: cancelMessageMoveTask, need: changing("queue.redrive.cancel") },
  ChangeMessageVisibility: { run: changeMessageVisibility, need: CONSUME },
  ChangeMessageVisibilityBatch: { run: changeMessageVisibilityBatch, need: CONSUME },
  CreateQueue: { run: createQueue, need: changing("queue.create") },
  DeleteMessage: { run: deleteMessage, need: CONSUME },
  DeleteMessageBatch: { run: deleteMessageBatch, need: CONSUME },
  DeleteQueue: { run: deleteQueue, need: changing("queue.delete") },
  GetQueueAttributes: { run: getQueueAttributes, need: READ },
  // Clients that send or receive call it first.
  GetQueueUrl: { run: getQueueUrl, need: ANY },
  ListDeadLetterSourceQueues: { run: listDeadLetterSourceQueues, need: READ },
  ListMessageMoveTasks: { run: listMessageMoveTasks, need: READ },
  ListQueues: { run: listQueues, need: needsOf("listed").READ },
  ListQueueTags: { run: listQueueTags, need: READ },
  PurgeQueue: { run: purgeQueue, need: changing("queue.purge") },
  ReceiveMessage: { run: receiveMessage, need: CONSUME },
  RemovePermission: { run: removePermission, need: changing("queue.change") },
  SendMessage: { run: sendMessage, need: SEND },
  SendMessageBatch: { run: sendMessageBatch, need: SEND },
  SetQueueAttributes: { run: setQueueAttributes, need: changing("queue.change") },
  StartMessageMoveTask: { run: startMessageMoveTask, need: changing("queue.redrive") },
  TagQueue: { run: tagQueue, need: changing("queue.change") },
  UntagQueue: { run: untagQueue, need: changing("queue.change") },
};

/** Effects of each action. A receive hides messages and counts, so it changes them. */
export const SQS_EFFECTS = effectsOf(SQS_HANDLERS);

/** Actions that are about no queue, which a request to a queue's own URL cannot mean (spec sqs 1.3). */
export const QUEUELESS_ACTIONS: readonly string[] = ["CreateQueue", "ListQueues"];
