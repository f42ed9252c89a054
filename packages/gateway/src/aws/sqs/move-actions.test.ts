import {
  type CancelMoveReply,
  MOVE_RATE_MAX,
  type MoveTask,
  type NewMove,
  type StartMoveReply,
} from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { arnOf, SqsClient } from "../../../test/sqs-client.ts";
import { ACTIVE_TASKS_MAX, LISTED_TASKS_MAX } from "./move-actions.ts";

let sqs: SqsClient;
let started: NewMove[];
let startReply: StartMoveReply | null;
let cancelReply: CancelMoveReply;
let tasks: MoveTask[];
let tasksOf: ((queue: string) => MoveTask[]) | null;

const TASK: MoveTask = {
  taskId: "t",
  target: null,
  ratePerSecond: null,
  status: "running",
  startedMs: 1_700_000_000_000,
  moved: 2,
  toMove: 8,
  failure: null,
};

beforeEach(async () => {
  started = [];
  startReply = null;
  tasks = [];
  tasksOf = null;
  cancelReply = { ok: true, task: TASK };
  sqs = new SqsClient({
    objects: {
      startMove: async (_queue, move) => {
        started.push(move);
        return startReply ?? { ok: true, task: { ...TASK, ...move } };
      },
      cancelMove: async () => cancelReply,
      listMoves: async (queue) => tasksOf?.(queue) ?? tasks,
    },
  });
  await sqs.create("dead");
  await sqs.create("other");
  await sqs.create("other.fifo", { FifoQueue: "true" });
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf("dead"), maxReceiveCount: 1 });
  await sqs.create("source", { RedrivePolicy });
});

const handleOf = (content: object) => btoa(JSON.stringify(content));
const HANDLE = handleOf({ taskId: "t", sourceArn: arnOf("dead") });
const invalid = (message: string) => ({ status: 400, code: "InvalidParameterValue", message });
const notFound = (message: string) => ({ status: 404, code: "ResourceNotFoundException", message });

describe("StartMessageMoveTask", () => {
  it("moves back to where each message came from, or to a queue that is named, at a rate or without", async () => {
    const SourceArn = arnOf("dead");
    const { TaskHandle } = await sqs.call("StartMessageMoveTask", { SourceArn });
    const DestinationArn = arnOf("other");
    await sqs.call("StartMessageMoveTask", { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: 1 });
    await sqs.call("StartMessageMoveTask", { SourceArn, MaxNumberOfMessagesPerSecond: MOVE_RATE_MAX });
    expect(started).toEqual([
      { taskId: expect.any(String), target: null, ratePerSecond: null },
      { taskId: expect.any(String), target: "other", ratePerSecond: 1 },
      { taskId: expect.any(String), target: null, ratePerSecond: 500 },
    ]);
    expect(JSON.parse(atob(String(TaskHandle)))).toEqual({
      taskId: started[0]?.taskId,
      sourceArn: SourceArn,
    });
  });

  it.each<[changes: object, refusal: object]>([
    [
      { SourceArn: arnOf("nowhere") },
      notFound("The resource that you specified for the SourceArn parameter doesn't exist."),
    ],
    [
      { DestinationArn: arnOf("nowhere") },
      notFound("The resource that you specified for the DestinationArn parameter doesn't exist."),
    ],
    [{ SourceArn: arnOf("other") }, invalid("Source queue must be configured as a Dead Letter Queue.")],
    [
      { DestinationArn: arnOf("dead") },
      invalid("Source queue arn and destination queue arn cannot be the same."),
    ],
    [
      { DestinationArn: arnOf("other.fifo") },
      invalid("The source queue and destination queue must be of the same queue type."),
    ],
    [
      { SourceArn: "dead" },
      invalid(
        "You must use this format to specify the SourceArn: " +
          "arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
      ),
    ],
    [
      { DestinationArn: "arn:aws:sns:us-east-1:000000000000:dead" },
      invalid(
        "You must use this format to specify the DestinationArn: " +
          "arn:<partition>:<service>:<region>:<account-id>:<resource-id>",
      ),
    ],
    ...[0, MOVE_RATE_MAX + 1, -1].map(
      (rate) =>
        [
          { MaxNumberOfMessagesPerSecond: rate },
          invalid(
            "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a " +
              "number that's between 1 and 500.",
          ),
        ] as [object, object],
    ),
  ])("refuses %j", async (changes, refusal) => {
    expect(await sqs.refusal("StartMessageMoveTask", { SourceArn: arnOf("dead"), ...changes })).toEqual(
      refusal,
    );
    expect(started).toEqual([]);
  });

  it("names its source", async () => {
    expect(await sqs.refusal("StartMessageMoveTask")).toEqual({
      status: 400,
      code: "MissingParameter",
      message: "The request must contain the parameter SourceArn.",
    });
  });

  it("is the only one of its queue", async () => {
    startReply = { ok: false, reason: "active" };
    expect(await sqs.refusal("StartMessageMoveTask", { SourceArn: arnOf("dead") })).toEqual(
      invalid(
        "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
      ),
    );
  });
});

it.each([
  [ACTIVE_TASKS_MAX - 1, 0, "starts"],
  [ACTIVE_TASKS_MAX, 1, "starts"],
  [ACTIVE_TASKS_MAX, 0, "is refused"],
  [ACTIVE_TASKS_MAX + 1, 0, "is refused"],
])(
  "active move tasks of an account with %i dead-letter queues that move, less %i, another one %s",
  async (queues, idle, outcome) => {
    for (let i = 0; i < queues; i++) {
      await sqs.create(`dead-${i}`);
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf(`dead-${i}`), maxReceiveCount: 1 });
      await sqs.create(`source-${i}`, { RedrivePolicy });
    }
    tasksOf = (queue) => {
      if (queue === "dead") throw new Error("the queue itself says so when it has one");
      return queue === "dead-0" && idle > 0
        ? [{ ...TASK, status: "completed" }]
        : [{ ...TASK, status: "running" }];
    };
    const start = { SourceArn: arnOf("dead") };
    if (outcome === "starts") {
      expect(await sqs.call("StartMessageMoveTask", start)).toHaveProperty("TaskHandle");
    } else {
      expect(await sqs.refusal("StartMessageMoveTask", start)).toEqual({
        status: 403,
        code: "RequestThrottled",
        message: "There are 100 active message movement tasks in the account already.",
      });
    }
    expect(started).toHaveLength(outcome === "starts" ? 1 : 0);
  },
);

describe("CancelMessageMoveTask", () => {
  it("says how many have been moved", async () => {
    expect(await sqs.call("CancelMessageMoveTask", { TaskHandle: HANDLE })).toEqual({
      ApproximateNumberOfMessagesMoved: 2,
    });
  });

  it("refuses what is no task, and one that has ended", async () => {
    const refusal = (TaskHandle: string) => sqs.refusal("CancelMessageMoveTask", { TaskHandle });
    for (const handle of ["nonsense", btoa("nonsense"), btoa("null"), handleOf({ taskId: "t" })]) {
      expect(await refusal(handle)).toEqual(invalid("Value for parameter TaskHandle is invalid."));
    }
    expect(await refusal(handleOf({ taskId: "t", sourceArn: arnOf("nowhere") }))).toEqual(
      notFound("The resource that you specified for the SourceArn parameter doesn't exist."),
    );
    cancelReply = { ok: false, reason: "unknown" };
    expect(await refusal(HANDLE)).toEqual(notFound("Task does not exist."));
    cancelReply = { ok: false, reason: "notActive" };
    expect(await refusal(HANDLE)).toEqual(invalid("Only active tasks can be cancelled."));
  });
});

describe("ListMessageMoveTasks", () => {
  it("shows tasks with what each state has, one unless more are asked for", async () => {
    const failed = { status: "failed", failure: "targetNotFound", target: "gone", ratePerSecond: 5 } as const;
    tasks = [TASK, { ...TASK, taskId: "f", ...failed }, { ...TASK, taskId: "c", status: "cancelled" }];
    const list = (input = {}) => sqs.call("ListMessageMoveTasks", { SourceArn: arnOf("dead"), ...input });
    const counts = {
      SourceArn: arnOf("dead"),
      ApproximateNumberOfMessagesMoved: 2,
      ApproximateNumberOfMessagesToMove: 8,
      StartedTimestamp: 1_700_000_000_000,
    };
    expect(await list()).toEqual({ Results: [{ ...counts, TaskHandle: HANDLE, Status: "RUNNING" }] });
    expect(await list({ MaxResults: LISTED_TASKS_MAX })).toEqual({
      Results: [
        { ...counts, TaskHandle: HANDLE, Status: "RUNNING" },
        {
          ...counts,
          Status: "FAILED",
          FailureReason: "AWS.SimpleQueueService.NonExistentQueue",
          DestinationArn: arnOf("gone"),
          MaxNumberOfMessagesPerSecond: 5,
        },
        { ...counts, Status: "CANCELLED" },
      ],
    });
  });

  it.each([0, LISTED_TASKS_MAX + 1])("refuses to show %i", async (MaxResults) => {
    expect(await sqs.refusal("ListMessageMoveTasks", { SourceArn: arnOf("dead"), MaxResults })).toEqual(
      invalid(
        "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and 10.",
      ),
    );
  });
});
