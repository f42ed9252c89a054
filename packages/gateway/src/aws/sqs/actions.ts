import { effectsOf } from "../caller.ts";
import type { SqsContext } from "./context.ts";
import { receiveMessage } from "./message/receive-actions.ts";
import { sendMessage, sendMessageBatch } from "./message/send-actions.ts";
import {
  changeMessageVisibility,
  changeMessageVisibilityBatch,
  deleteMessage,
  deleteMessageBatch,
} from "./message/settle-actions.ts";
import type { SqsActionName, SqsInput, SqsOutput } from "./model.ts";
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

type Handler<Name extends SqsActionName> = (
  context: SqsContext,
  input: SqsInput<Name>,
) => Promise<SqsOutput<Name> extends undefined ? unknown : SqsOutput<Name>>;

/** What carries each action out. */
export const SQS_HANDLERS: { readonly [Name in SqsActionName]: Handler<Name> } = {
  AddPermission: addPermission,
  CancelMessageMoveTask: cancelMessageMoveTask,
  ChangeMessageVisibility: changeMessageVisibility,
  ChangeMessageVisibilityBatch: changeMessageVisibilityBatch,
  CreateQueue: createQueue,
  DeleteMessage: deleteMessage,
  DeleteMessageBatch: deleteMessageBatch,
  DeleteQueue: deleteQueue,
  GetQueueAttributes: getQueueAttributes,
  GetQueueUrl: getQueueUrl,
  ListDeadLetterSourceQueues: listDeadLetterSourceQueues,
  ListMessageMoveTasks: listMessageMoveTasks,
  ListQueues: listQueues,
  ListQueueTags: listQueueTags,
  PurgeQueue: purgeQueue,
  ReceiveMessage: receiveMessage,
  RemovePermission: removePermission,
  SendMessage: sendMessage,
  SendMessageBatch: sendMessageBatch,
  SetQueueAttributes: setQueueAttributes,
  StartMessageMoveTask: startMessageMoveTask,
  TagQueue: tagQueue,
  UntagQueue: untagQueue,
};

/** To receive hides messages and counts: it changes. */
export const SQS_EFFECTS = effectsOf(SQS_HANDLERS);

/** Actions that are about no queue, which a request to a queue's own URL cannot mean (spec sqs 1.3). */
export const QUEUELESS_ACTIONS: readonly string[] = ["CreateQueue", "ListQueues"];

/** Carries an action out. Resolves with `undefined` for one that answers nothing. */
export function handle(context: SqsContext, action: string, input: object): Promise<object | undefined> {
  const handler = SQS_HANDLERS[action as SqsActionName] as (
    context: SqsContext,
    input: object,
  ) => Promise<object | undefined>;
  return handler(context, input);
}
