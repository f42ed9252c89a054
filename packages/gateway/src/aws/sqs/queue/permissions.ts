import { utf8Bytes } from "@sluice/aws";
import type { QueueChange } from "@sluice/protocol";
import { allowStatement, formatPolicy, type Policy, parsePolicy } from "../../policy.ts";
import { arnOf } from "../../queue-address.ts";
import { changeQueue, type FoundQueue, type SqsContext } from "../context.ts";
import { invalidParameter, invalidValue, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput } from "../model.ts";
import { invalidPolicyValue, POLICY_BYTES_MAX, STATEMENTS_MAX } from "./attributes.ts";
import { DIALECT, type SqsQueue, sqsOf } from "./dialect.ts";

/** Most actions and principals of a statement (spec sqs 2.2). */
export const ACTIONS_MAX = 7;
export const PRINCIPALS_MAX = 50;

const GRANTABLE = [
  "*",
  "ChangeMessageVisibility",
  "DeleteMessage",
  "GetQueueAttributes",
  "GetQueueUrl",
  "ListDeadLetterSourceQueues",
  "PurgeQueue",
  "ReceiveMessage",
  "SendMessage",
];
const OWNER_ONLY = [
  "AddPermission",
  "CancelMessageMoveTask",
  "CreateQueue",
  "DeleteQueue",
  "ListMessageMoveTasks",
  "ListQueues",
  "ListQueueTags",
  "RemovePermission",
  "SetQueueAttributes",
  "StartMessageMoveTask",
  "TagQueue",
  "UntagQueue",
];

/** Adds a statement to the queue's policy. The policy is kept and shown; access keys decide about rights. */
export async function addPermission(context: SqsContext, input: SqsInput<"AddPermission">): Promise<void> {
  await changeQueue(context, input.QueueUrl, (found) => changeOf(found, policyWith(found, input)));
}

function policyWith(found: FoundQueue, input: SqsInput<"AddPermission">): string {
  const { Label: label = "", AWSAccountIds: accounts = [], Actions: actions = [] } = input;
  checkLabel(label);
  checkActions(actions);
  checkAccounts(accounts);
  const resource = arnOf(found.address);
  const policy = policyOf(found) ?? {
    statements: [],
    rest: { Version: "2008-10-17", Id: `${resource}/SQSDefaultPolicy` },
  };
  const { statements } = policy;
  if (statements.some(({ Sid }) => Sid === label)) throw invalidValue(label, "Label", "Already exists.");
  if (statements.length >= STATEMENTS_MAX) {
    throw refuse(
      SQS_ERRORS.overLimit,
      `${statements.length + 1} Statements were found, maximum allowed is ${STATEMENTS_MAX}.`,
    );
  }
  const granted = actions.map((action) => `SQS:${action}`);
  const statement = allowStatement(label, accounts, granted, resource);
  const text = formatPolicy({ ...policy, statements: [...statements, statement] });
  if (utf8Bytes(text) > POLICY_BYTES_MAX) throw invalidPolicyValue();
  return text;
}

export async function removePermission(
  context: SqsContext,
  { QueueUrl, Label: label = "" }: SqsInput<"RemovePermission">,
): Promise<void> {
  await changeQueue(context, QueueUrl, (found) => changeOf(found, policyWithout(found, label)));
}

function policyWithout(found: FoundQueue, label: string): string | null {
  const policy = policyOf(found);
  const left = policy?.statements.filter(({ Sid }) => Sid !== label) ?? [];
  if (policy === null || left.length === policy.statements.length) {
    throw invalidValue(label, "Label", "can't find label.");
  }
  return left.length === 0 ? null : formatPolicy({ ...policy, statements: left });
}

function policyOf({ record }: FoundQueue): Policy | null {
  const text = sqsOf(record).attributes.Policy;
  return text === undefined ? null : parsePolicy(text);
}

function changeOf({ record }: FoundQueue, policy: string | null): QueueChange {
  const sqs = sqsOf(record);
  const { Policy: _before, ...attributes } = sqs.attributes;
  const changed: SqsQueue = {
    ...sqs,
    attributes: policy === null ? attributes : { ...attributes, Policy: policy },
  };
  return { dialects: { [DIALECT]: changed } };
}

function checkLabel(label: string): void {
  if (/^[A-Za-z0-9_-]{1,80}$/.test(label)) return;
  throw invalidValue(
    label,
    "Label",
    "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.",
  );
}

function checkAccounts(accounts: readonly string[]): void {
  if (accounts.length > PRINCIPALS_MAX) {
    throw refuse(
      SQS_ERRORS.overLimit,
      `${accounts.length} Principals were found, maximum allowed is ${PRINCIPALS_MAX}.`,
    );
  }
  if (accounts.length > 0 && accounts.every((account) => /^\d{12}$/.test(account))) return;
  throw invalidParameter(
    `Value [${accounts.join(", ")}] for parameter PrincipalId is invalid. Reason: Unable to verify.`,
  );
}

function checkActions(actions: readonly string[]): void {
  if (actions.length === 0) throw missingParameter("ActionName");
  if (actions.length > ACTIONS_MAX) {
    throw refuse(
      SQS_ERRORS.overLimit,
      `${actions.length} Actions were found, maximum allowed is ${ACTIONS_MAX}.`,
    );
  }
  for (const action of actions) {
    if (OWNER_ONLY.includes(action)) {
      throw invalidValue(
        `SQS:${action}`,
        "ActionName",
        "Only the queue owner is allowed to invoke this action.",
      );
    }
    if (!GRANTABLE.includes(action)) {
      throw invalidValue(
        `SQS:${action}`,
        "ActionName",
        "Please refer to the appropriate WSDL for a list of valid actions.",
      );
    }
  }
}
