import { deadLetterQueuesOf, MOVE_RATE_MAX, type MoveTask } from "@sluice/protocol";
import { mayUse } from "../../rights/rights.ts";
import { addressOf, addressOfArn, arnOf } from "../queue-address.ts";
import { type FoundQueue, findQueue, type SqsContext } from "./context.ts";
import { invalidParameter, missingParameter, refuse, SQS_ERRORS } from "./errors.ts";
import type { SqsInput, SqsOutput } from "./model.ts";
import { queuesOf } from "./queue/queue-actions.ts";

/** Tasks that are listed at a time (spec sqs 2.4). */
export const LISTED_TASKS_MAX = 10;
/** Tasks that run at a time in an account (spec sqs 6.4). */
export const ACTIVE_TASKS_MAX = 100;

type Listed = NonNullable<SqsOutput<"ListMessageMoveTasks">["Results"]>[number];

/** Codes of AWS for the reason why a task failed. */
const FAILURE_REASONS: Readonly<Record<NonNullable<MoveTask["failure"]>, string>> = {
  targetNotFound: "AWS.SimpleQueueService.NonExistentQueue",
  sourceUnknown: "CouldNotDetermineMessageSource",
  notAllowed: "AccessDenied",
  tookTooLong: "TaskTimeout",
};

/** Starts moving everything out of a dead-letter queue: to another queue, or each message back to its source. */
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
  const { name } = source.record;
  const all = await queuesOf(context);
  const deadLetterQueues = new Set(all.flatMap(({ record }) => deadLetterQueuesOf(record.definition)));
  if (!deadLetterQueues.delete(name)) {
    throw invalidParameter("Source queue must be configured as a Dead Letter Queue.");
  }
  await checkActiveTasks(context, [...deadLetterQueues]);
  const taskId = crypto.randomUUID();
  const { queues: mayReach } = context.caller.rights;
  const move = {
    taskId,
    target: target?.record.name ?? null,
    ratePerSecond: rate ?? null,
    ...(target === null && mayReach.length > 0 ? { mayReach } : {}),
  };
  const reply = await context.ports.queue(name).startMove(name, move);
  if (!reply.ok) {
    throw invalidParameter(
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
    );
  }
  return { TaskHandle: handleOf(taskId, arnOf(source.address)) };
}

/**
 * Throws `RequestThrottled` when as many tasks run as may. A queue has one at most, so an account with few queues is
 * not asked.
 */
async function checkActiveTasks({ ports }: SqsContext, others: readonly string[]): Promise<void> {
  if (others.length < ACTIVE_TASKS_MAX) return;
  const tasks = await Promise.all(others.map((name) => activeTasksOf(ports.queue(name), name)));
  if (tasks.reduce((sum, count) => sum + count, 0) < ACTIVE_TASKS_MAX) return;
  throw refuse(
    SQS_ERRORS.requestThrottled,
    `There are ${ACTIVE_TASKS_MAX} active message movement tasks in the account already.`,
  );
}

async function activeTasksOf(queue: ReturnType<SqsContext["ports"]["queue"]>, name: string): Promise<number> {
  try {
    const tasks = await queue.listMoves(name);
    return tasks.filter(({ status }) => status === "running").length;
  } catch {
    // A queue that does not exist (yet), or cannot be reached, moves nothing.
    return 0;
  }
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
      "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and " +
        `${LISTED_TASKS_MAX}.`,
    );
  }
  const { record, address } = await byArn(context, "SourceArn", SourceArn);
  const tasks = await context.ports.queue(record.name).listMoves(record.name);
  return { Results: tasks.slice(0, max).map((task) => listed(context, task, arnOf(address))) };
}

function listed({ settings, caller }: SqsContext, task: MoveTask, sourceArn: string): Listed {
  const isActive = task.status === "running";
  return {
    ...(isActive ? { TaskHandle: handleOf(task.taskId, sourceArn) } : {}),
    Status: task.status.toUpperCase(),
    SourceArn: sourceArn,
    ...(task.target === null || !mayUse(caller.rights, task.target)
      ? {}
      : { DestinationArn: arnOf(addressOf(task.target, settings.home)) }),
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
      `You must use this format to specify the ${parameter}: ` +
        "arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
    );
  }
  const record = await findQueue(context, address);
  if (record !== null) return { address, record };
  throw refuse(
    SQS_ERRORS.resourceNotFound,
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
  );
}

/** Makes a task handle. A contract with AWS's own test suites: base64 of this JSON (spec sqs 2.4). */
function handleOf(taskId: string, sourceArn: string): string {
  return btoa(JSON.stringify({ taskId, sourceArn }));
}

function readHandle(handle: string): { readonly taskId: string; readonly sourceArn: string } {
  try {
    const { taskId, sourceArn } = JSON.parse(atob(handle)) as Record<string, unknown>;
    if (typeof taskId === "string" && typeof sourceArn === "string") return { taskId, sourceArn };
  } catch {
    // A text that is no handle of this broker.
  }
  throw invalidParameter("Value for parameter TaskHandle is invalid.");
}
