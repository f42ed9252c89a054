import { type FifoSettings, isFifoName, isSqsQueueName, type QueueRecord } from "@sluice/protocol";
import { purgeAndNote } from "../../../account/purge.ts";
import { mayUse } from "../../../rights/rights.ts";
import { type Page, pageOf } from "../../paging.ts";
import { addressOf, arnOf, directoryName, type QueueAddress } from "../../queue-address.ts";
import {
  changeQueue,
  findQueue,
  queueDoesNotExist,
  queueOf,
  refusedSettings,
  type SqsContext,
  urlOf,
} from "../context.ts";
import { invalidParameter, missingParameter, refuse, SQS_ERRORS } from "../errors.ts";
import type { SqsInput, SqsOutput } from "../model.ts";
import { isNumberAttribute, NUMBER_ATTRIBUTES } from "./attribute-names.ts";
import {
  type Attributes,
  checkEncryption,
  checkThroughput,
  type ReadAttributes,
  readAttributes,
  settingsOf,
} from "./attributes.ts";
import { DIALECT, type SqsQueue, sqsOf } from "./dialect.ts";
import { invalidPolicy, parseRedriveAllowPolicy } from "./redrive-policy.ts";
import { attributesOf, selectAttributes } from "./shown-attributes.ts";
import { checkTags } from "./tags.ts";

/** How long AWS makes a second purge of a queue wait, in ms. */
export const PURGE_AGAIN_MS = 60_000;
/** Most entries of a page (spec sqs 2.2). */
export const MAX_RESULTS_MAX = 1_000;

const NO_MESSAGES = { visible: 0, notVisible: 0, delayed: 0 };

/** Creates a queue, or answers with the existing one if the request asks for nothing else (spec sqs 2.2). */
export async function createQueue(
  context: SqsContext,
  { QueueName: name, Attributes: given = {}, tags = {} }: SqsInput<"CreateQueue">,
): Promise<SqsOutput<"CreateQueue">> {
  if (name === undefined || name === "") {
    throw invalidParameter("Value for parameter QueueName is invalid. Reason: Must specify a queue name.");
  }
  const isFifo = given.FifoQueue?.toLowerCase() === "true";
  checkName(name, isFifo);
  const { ports, settings } = context;
  const address = { region: context.caller.region, account: context.caller.account, name };
  const existing = await findQueue(context, address);
  if (existing !== null) {
    refuseDifference(given, attributesOf(existing, address, NO_MESSAGES, settings.home));
    context.change.markUnchanged();
    return { QueueUrl: urlOf(context, address) };
  }
  checkTags(name, tags);
  const read = readAttributes(given, isFifo);
  const texts = mergeTexts({}, read);
  checkThroughput(texts);
  checkEncryption(texts);
  const deadLetterQueue = await deadLetterQueueOf(context, address, isFifo, given.RedrivePolicy, read);
  const sqs: SqsQueue = { attributes: texts, tags: { ...tags } };
  const nameInDirectory = directoryName(address, settings.home);
  if (settings.isStrictAboutTime && (await ports.account.lastDeletion(nameInDirectory)) !== null) {
    throw refuse(
      SQS_ERRORS.queueDeletedRecently,
      "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
    );
  }
  const reply = await ports.account.createQueue({
    name: nameInDirectory,
    settings: {
      ...settingsOf(read, null, deadLetterQueue),
      ...(isFifo ? { fifo: fifoOf(read, texts) } : {}),
    },
    dialects: { [DIALECT]: sqs },
  });
  if (reply.ok) return { QueueUrl: urlOf(context, address) };
  switch (reply.refusal.kind) {
    case "queueNameTaken":
      // Another request has created it meanwhile.
      return createQueue(context, { QueueName: name, Attributes: given, tags });
    case "tooManyQueues":
      throw refuse(SQS_ERRORS.overLimit, "There are as many queues as there can be.");
    case "changedMeanwhile":
      throw refuse(
        SQS_ERRORS.queueDeletedRecently,
        "A deleted queue with the same name still has messages, which are being deleted. Try again.",
      );
    default:
      throw refusedSettings(reply.refusal) ?? new Error(`a queue is not created: ${reply.refusal.kind}`);
  }
}

export async function setQueueAttributes(
  context: SqsContext,
  { QueueUrl, Attributes: given = {} }: SqsInput<"SetQueueAttributes">,
): Promise<void> {
  await changeQueue(context, QueueUrl, async ({ record, address }) => {
    if (Object.keys(given).length === 0) throw missingParameter("Attribute.Name");
    const isFifo = record.definition.fifo !== undefined;
    const read = readAttributes(given, isFifo);
    const sqs = sqsOf(record);
    const attributes = mergeTexts(sqs.attributes, read);
    const { deduplicationScope: DeduplicationScope = "queue" } = record.definition.fifo ?? {};
    checkThroughput({ DeduplicationScope, ...attributes });
    checkEncryption(attributes);
    const deadLetterQueue = await deadLetterQueueOf(context, address, isFifo, given.RedrivePolicy, read);
    return {
      settings: settingsOf(read, record, deadLetterQueue),
      dialects: { [DIALECT]: { ...sqs, attributes } satisfies SqsQueue },
    };
  });
}

export async function getQueueAttributes(
  context: SqsContext,
  { QueueUrl, AttributeNames: names = [] }: SqsInput<"GetQueueAttributes">,
): Promise<SqsOutput<"GetQueueAttributes">> {
  const { record, address } = await queueOf(context, QueueUrl);
  const needsCounts = names.some((name) => name === "All" || name.startsWith("ApproximateNumber"));
  const counts = needsCounts
    ? await context.ports.queue(record.name).messageCounts(record.name)
    : NO_MESSAGES;
  return {
    Attributes: selectAttributes(attributesOf(record, address, counts, context.settings.home), names),
  };
}

export async function getQueueUrl(
  context: SqsContext,
  { QueueName: name, QueueOwnerAWSAccountId }: SqsInput<"GetQueueUrl">,
): Promise<SqsOutput<"GetQueueUrl">> {
  if (name === undefined || name === "") throw missingParameter("QueueName");
  const account = QueueOwnerAWSAccountId || context.caller.account;
  const address = { region: context.caller.region, account, name };
  if ((await findQueue(context, address)) === null) throw queueDoesNotExist(context);
  return { QueueUrl: urlOf(context, address) };
}

export async function listQueues(
  context: SqsContext,
  { QueueNamePrefix: prefix = "", MaxResults, NextToken }: SqsInput<"ListQueues">,
): Promise<SqsOutput<"ListQueues">> {
  const addresses = (await usableQueuesOf(context)).map(({ address }) => address);
  const urls = addresses
    .filter(({ name }) => name.startsWith(prefix))
    .map((address) => urlOf(context, address));
  const { page, next } = urlsOnPage(urls, MaxResults, NextToken);
  return { QueueUrls: page, ...next };
}

export async function listDeadLetterSourceQueues(
  context: SqsContext,
  { QueueUrl, MaxResults, NextToken }: SqsInput<"ListDeadLetterSourceQueues">,
): Promise<SqsOutput<"ListDeadLetterSourceQueues">> {
  const { record: target } = await queueOf(context, QueueUrl);
  const sources = (await usableQueuesOf(context)).filter(
    ({ record }) => record.definition.receive?.redrive?.deadLetterQueue === target.name,
  );
  const urls = sources.map(({ address }) => urlOf(context, address));
  const { page, next } = urlsOnPage(urls, MaxResults, NextToken);
  return { queueUrls: page, ...next };
}

/**
 * Makes a page of a list of queues. Only a request that names a number of entries gets a token. Throws `AwsError` for a
 * number out of range and for a token that this broker did not give.
 */
function urlsOnPage(
  urls: readonly string[],
  maxResults: number | undefined,
  token: string | undefined,
): Page<string> {
  if (maxResults !== undefined && !(maxResults >= 1 && maxResults <= MAX_RESULTS_MAX)) {
    throw invalidParameter(
      "Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and " +
        `${MAX_RESULTS_MAX}.`,
    );
  }
  const found = pageOf(urls, (url) => url, maxResults ?? MAX_RESULTS_MAX, token);
  if (found === null) throw invalidParameter("Invalid or expired next token.");
  return maxResults === undefined ? { ...found, next: undefined } : found;
}

export async function deleteQueue(context: SqsContext, { QueueUrl }: SqsInput<"DeleteQueue">): Promise<void> {
  const { record } = await queueOf(context, QueueUrl);
  const reply = await context.ports.account.deleteQueue(record.queueId);
  if (!reply.ok) throw queueDoesNotExist(context);
}

export async function purgeQueue(context: SqsContext, { QueueUrl }: SqsInput<"PurgeQueue">): Promise<void> {
  const { ports, settings } = context;
  const { record, address } = await queueOf(context, QueueUrl);
  const nowMs = ports.now();
  const last = await ports.account.lastPurge(record.queueId);
  if (settings.isStrictAboutTime && last !== null && nowMs < last.startedMs + PURGE_AGAIN_MS) {
    throw refuse(
      SQS_ERRORS.purgeQueueInProgress,
      `Only one PurgeQueue operation on ${address.name} is allowed every 60 seconds.`,
    );
  }
  await purgeAndNote(ports, record, () => ports.now());
}

/** Lists the queues of the caller's account and region. */
export async function queuesOf(
  context: SqsContext,
): Promise<{ readonly address: QueueAddress; readonly record: QueueRecord }[]> {
  const { caller, ports, settings } = context;
  const all = await ports.account.list();
  return all
    .map((record) => ({ record, address: addressOf(record.name, settings.home) }))
    .filter(({ address }) => address.region === caller.region && address.account === caller.account);
}

/** Lists the queues of the caller's account and region that the caller may use. */
async function usableQueuesOf(context: SqsContext): ReturnType<typeof queuesOf> {
  return (await queuesOf(context)).filter(({ record }) => mayUse(context.caller.rights, record.name));
}

function checkName(name: string, isFifo: boolean): void {
  const rule = "alphanumeric characters, hyphens, or underscores";
  if (isFifo && !(isSqsQueueName(name) && isFifoName(name))) {
    throw invalidParameter(
      `The name of a FIFO queue can only include ${rule}, must end with .fifo suffix and be 1 to 80 in length`,
    );
  }
  if (!isFifo && (!isSqsQueueName(name) || isFifoName(name))) {
    throw invalidParameter(`Can only include ${rule}. 1 to 80 in length`);
  }
}

/** Refuses attributes that differ from the stored ones. One that the request leaves out does not differ. */
function refuseDifference(given: Attributes, stored: Attributes): void {
  const read = readAttributes(given, stored.FifoQueue === "true");
  checkEncryption(read.texts);
  for (const attribute of Object.keys(given)) {
    const asked = String(
      read.numbers[attribute as keyof typeof NUMBER_ATTRIBUTES] ?? read.texts[attribute] ?? "",
    );
    const standard = isNumberAttribute(attribute) ? String(NUMBER_ATTRIBUTES[attribute].standard) : "";
    const isSame =
      attribute === "FifoQueue" ? stored.FifoQueue === "true" : asked === (stored[attribute] ?? standard);
    if (isSame) continue;
    throw refuse(
      SQS_ERRORS.queueNameExists,
      `A queue already exists with the same name and a different value for attribute ${attribute}`,
    );
  }
}

/** Merges a change into the attributes that are kept as text. */
function mergeTexts(before: Attributes, { texts, numbers }: ReadAttributes): Record<string, string> {
  const merged: Record<string, string> = { ...before };
  for (const [name, value] of Object.entries(texts)) {
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  if (numbers.MaximumMessageSize !== undefined)
    merged.MaximumMessageSize = String(numbers.MaximumMessageSize);
  const reuse = numbers.KmsDataKeyReusePeriodSeconds;
  if (reuse === NUMBER_ATTRIBUTES.KmsDataKeyReusePeriodSeconds.standard)
    delete merged.KmsDataKeyReusePeriodSeconds;
  else if (reuse !== undefined) merged.KmsDataKeyReusePeriodSeconds = String(reuse);
  // Settings of the queue itself are not kept twice.
  for (const name of ["FifoQueue", "ContentBasedDeduplication"]) delete merged[name];
  return merged;
}

/** Returns the settings of a FIFO queue that attributes name: the configuration may have others. */
function fifoOf(
  { texts: { ContentBasedDeduplication: byContent } }: ReadAttributes,
  { DeduplicationScope: scope }: Attributes,
): FifoSettings {
  return {
    ...(scope === undefined
      ? {}
      : { deduplicationScope: scope === "messageGroup" ? "messageGroup" : "queue" }),
    ...(byContent === undefined ? {} : { contentBasedDeduplication: byContent === "true" }),
  };
}

/** Checks the dead-letter queue that a policy names, and returns it. Throws `AwsError` (spec sqs 5.2, 6.3). */
async function deadLetterQueueOf(
  context: SqsContext,
  source: QueueAddress,
  isFifo: boolean,
  text: string | undefined,
  { redrive }: ReadAttributes,
): Promise<string | null> {
  if (redrive === null || redrive === undefined) return null;
  const policy = text ?? "";
  const target = redrive.deadLetterTarget;
  if (target.account !== source.account) {
    throw invalidPolicy(policy, "Dead-letter target owner should be same as the source.");
  }
  const record = target.region === source.region ? await findQueue(context, target) : null;
  if (record === null) throw invalidPolicy(policy, "Dead letter target does not exist.");
  if ((record.definition.fifo !== undefined) !== isFifo) {
    throw invalidPolicy(policy, "Dead-letter queue must be same type of queue as the source.");
  }
  const allow = parseRedriveAllowPolicy(sqsOf(record).attributes.RedriveAllowPolicy ?? "");
  const isAllowed =
    allow.kind === "allowAll" || (allow.kind === "byQueue" && allow.sourceQueueArns.includes(arnOf(source)));
  if (!isAllowed)
    throw invalidPolicy(policy, "Queue does not have permission to use the target as a dead-letter queue.");
  return record.name;
}
