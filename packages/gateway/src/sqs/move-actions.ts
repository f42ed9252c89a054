import type { MoveTask } from "@sluice/protocol";
import { addressOf, addressOfArn, arnOf } from "../queue-address.ts";
import { type FoundQueue, findQueue, type SqsContext } from "./context.ts";
import { invalidParameter, missingParameter, refuse, SQS_ERRORS } from "./errors.ts";
import type { SqsInput, SqsOutput } from "./model.ts";
import { queuesOf } from "./queue/queue-actions.ts";

/** Messages a second, and tasks that are listed at a time (spec sqs 2.4). */
export const MOVE_RATE_MAX = 500;
export const LISTED_TASKS_MAX = 10;

type Listed = NonNullable<SqsOutput<"ListMessageMoveTasks">["Results"]>[number];

/** What AWS calls the reason why a task failed. */
const FAILURE_REASONS: Readonly<Record<NonNullable<MoveTask["failure"]>, string>> = {
  targetNotFound: "AWS.SimpleQueueService.NonExistentQueue",
  sourceUnknown: "CouldNotDetermineMessageSource",
  tookTooLong: "TaskTimeout",
};

/** Starts moving everything out of a dead-letter queue: elsewhere, or each message back to where it came from. */
export async function startMessageMoveTask(
  context: SqsContext,
  input: SqsInput<"StartMessageMoveTask">,
): Promise<SqsOutput<"StartMessageMoveTask">> {
  const { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: rate } = input;
  if (rate !== undefined && !(rate >= 1 && rate <= MOVE_RATE_MAX)) {
    throw invalidParameter(
      "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 " +
        `and ${MOVE_RATE_MAX}.`,
    );
  }
  const source = await byArn(context, "SourceArn", SourceArn);
  const target = DestinationArn ? await byArn(context, "DestinationArn", DestinationArn) : null;
  if (target?.record.queueId === source.record.queueId) {
    throw invalidParameter("Source queue arn and destination queue arn cannot be the same.");
  }
  const isFifo = ({ record }: FoundQueue) => record.definition.fifo !== undefined;
  if (target !== null && isFifo(target) !== isFifo(source)) {
    throw invalidParameter("The source queue and destination queue must be of the same queue type.");
  }
  const all = await queuesOf(context);
  const isDeadLetterQueue = all.some(({ record: { definition } }) => {
    const ofConsumer = definition.consumer?.settings.deadLetterQueue;
    return (
      definition.receive?.redrive?.deadLetterQueue === source.record.name || ofConsumer === source.record.name
    );
  });
  if (!isDeadLetterQueue) throw invalidParameter("Source queue must be configured as a Dead Letter Queue.");
  const { name } = source.record;
  const taskId = crypto.randomUUID();
  const move = { taskId, target: target?.record.name ?? null, ratePerSecond: rate ?? null };
  const reply = await context.ports.queue(name).startMove(name, move);
  if (!reply.ok) {
    throw invalidParameter(
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
    );
  }
  return { TaskHandle: handleOf(taskId, arnOf(source.address)) };
}

export async function cancelMessageMoveTask(
  context: SqsContext,
  { TaskHandle }: SqsInput<"CancelMessageMoveTask">,
): Promise<SqsOutput<"CancelMessageMoveTask">> {
  if (!TaskHandle) throw missingParameter("TaskHandle");
  const { taskId, sourceArn } = readHandle(TaskHandle);
  const { record } = await byArn(context, "SourceArn", sourceArn);
  const reply = await context.ports.queue(record.name).cancelMove(record.name, taskId);
  if (reply.ok) return { ApproximateNumberOfMessagesMoved: reply.task.moved };
  if (reply.reason === "unknown") throw refuse(SQS_ERRORS.resourceNotFound, "Task does not exist.");
  throw invalidParameter("Only active tasks can be cancelled.");
}

export async function listMessageMoveTasks(
  context: SqsContext,
  { SourceArn, MaxResults: max = 1 }: SqsInput<"ListMessageMoveTasks">,
): Promise<SqsOutput<"ListMessageMoveTasks">> {
  if (!(max >= 1 && max <= LISTED_TASKS_MAX)) {
    throw invalidParameter(
      `Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and ${LISTED_TASKS_MAX}.`,
    );
  }
  const { record, address } = await byArn(context, "SourceArn", SourceArn);
  const tasks = await context.ports.queue(record.name).listMoves(record.name);
  return { Results: tasks.slice(0, max).map((task) => listed(context, task, arnOf(address))) };
}

function listed({ settings }: SqsContext, task: MoveTask, sourceArn: string): Listed {
  const isActive = task.status === "running";
  return {
    ...(isActive ? { TaskHandle: handleOf(task.taskId, sourceArn) } : {}),
    Status: task.status.toUpperCase(),
    SourceArn: sourceArn,
    ...(task.target === null ? {} : { DestinationArn: arnOf(addressOf(task.target, settings.home)) }),
    ...(task.ratePerSecond === null ? {} : { MaxNumberOfMessagesPerSecond: task.ratePerSecond }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    ...(task.failure === null ? {} : { FailureReason: FAILURE_REASONS[task.failure] }),
    StartedTimestamp: task.startedMs,
  };
}

async function byArn(context: SqsContext, parameter: string, arn: string | undefined): Promise<FoundQueue> {
  if (!arn) throw missingParameter(parameter);
  const address = addressOfArn(arn);
  if (address === null) {
    throw invalidParameter(
      `You must use this format to specify the ${parameter}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>`,
    );
  }
  const record = await findQueue(context, address);
  if (record !== null) return { address, record };
  throw refuse(
    SQS_ERRORS.resourceNotFound,
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
  );
}

/** A contract with AWS's own test suites: base64 of this JSON (spec sqs 2.4). */
function handleOf(taskId: string, sourceArn: string): string {
  return btoa(JSON.stringify({ taskId, sourceArn }));
}

function readHandle(handle: string): { readonly taskId: string; readonly sourceArn: string } {
  try {
    const { taskId, sourceArn } = JSON.parse(atob(handle)) as Record<string, unknown>;
    if (typeof taskId === "string" && typeof sourceArn === "string") return { taskId, sourceArn };
  } catch {
    // No handle of ours.
  }
  throw invalidParameter("Value for parameter TaskHandle is invalid.");
}
