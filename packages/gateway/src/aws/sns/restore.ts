import { formatArn, parseArn, partitionOf } from "@sluice/aws";
import {
  isFifoName,
  type NewTopic,
  type NewTopicSubscription,
  type TopicRecord,
  type TopicSubscription,
} from "@sluice/protocol";
import type { Home } from "../queue-address.ts";
import { arnIn, type SnsContext } from "./context.ts";
import { invalid, topicNotFound } from "./errors.ts";
import { endpointIn } from "./subscription/endpoint.ts";
import { parseRedrivePolicy } from "./subscription/redrive-policy.ts";
import { subscribe } from "./subscription/subscription-actions.ts";
import { createTopic } from "./topic/topic-actions.ts";

/** A subscription in a backup. */
export type RestoredSubscription = Omit<NewTopicSubscription, "token">;

/** Region in the ARN of a topic or subscription that is restored. */
const REGION = /^[a-z0-9-]{1,40}$/;
const ACCOUNT = /^\d{12}$/;

/** Reads the region and the account of a topic out of its ARN. Throws `AwsError`. */
export function homeOfTopic(topicArn: string): Home {
  const { region, account } = arnIn(topicArn, "TopicArn");
  if (!REGION.test(region) || !ACCOUNT.test(account)) throw invalid("TopicArn");
  return { region, account };
}

/**
 * Creates a topic of a backup, with the checks of `CreateTopic`. An existing topic stays as it is.
 *
 * @param context its caller is of the topic's region and account.
 * @returns whether it was created.
 * @throws AwsError for a topic that cannot exist.
 */
export async function restoreTopic(context: SnsContext, given: NewTopic): Promise<boolean> {
  const { arn, isFifo, attributes, tags } = given;
  const { region, account } = context.caller;
  const name = parseArn(arn)?.resource ?? "";
  const partition = partitionOf(region);
  if (arn !== formatArn({ partition, service: "sns", region, account, resource: name }))
    throw invalid("TopicArn");
  if (isFifo !== isFifoName(name)) throw invalid("Topic Name");
  if ((await context.ports.topics.findTopic(arn)) !== null) return false;
  await createTopic(context, {
    Name: name,
    Attributes: { ...attributes, ...(isFifo ? { FifoTopic: "true" } : {}) },
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  });
  return true;
}

/**
 * Subscribes an endpoint of a backup, as `Subscribe` does: an HTTP endpoint is asked to confirm, even if the backup
 * says that it has. One that is subscribed already stays as it is, and is not asked.
 *
 * @param context its caller is of the topic's region and account.
 * @throws AwsError for a subscription that cannot exist.
 */
export async function restoreSubscription(
  context: SnsContext,
  given: RestoredSubscription,
): Promise<{ readonly isNew: boolean; readonly subscription: TopicSubscription }> {
  const { ports } = context;
  const found = await ports.topics.findTopic(given.topicArn);
  if (found === null) throw topicNotFound();
  refuseOtherQueues(context, found.topic, given);
  const { protocol, endpoint, topicArn, attributes } = given;
  const same = found.subscriptions.find(
    (one) => one.protocol === protocol && one.endpoint === endpoint && one.status.kind !== "ended",
  );
  if (same !== undefined) return { isNew: false, subscription: same };
  const { SubscriptionArn: arn = "" } = await subscribe(context, {
    TopicArn: topicArn,
    Protocol: protocol,
    Endpoint: endpoint,
    Attributes: attributes,
    ReturnSubscriptionArn: true,
  });
  const subscription = await ports.topics.findTopicSubscription(arn);
  if (subscription === null) throw topicNotFound();
  return { isNew: true, subscription };
}

/**
 * Refuses queues of another home: a subscription names them by ARN, or by name at home, and another home has other
 * names.
 */
function refuseOtherQueues({ home }: SnsContext, { isFifo }: TopicRecord, given: RestoredSubscription): void {
  const { protocol, endpoint, target, deadLetterQueue, attributes } = given;
  const { queue } = endpointIn(protocol, endpoint, isFifo, home);
  const policy = attributes.RedrivePolicy;
  const dead = policy === undefined ? null : parseRedrivePolicy(policy, home, false, "").deadLetterQueue;
  if ((queue === null || queue === target) && dead === deadLetterQueue) return;
  throw invalid(
    "the backup calls a queue of this subscription otherwise than this broker does. It is of a broker with another " +
      "SLUICE_AWS_REGION or SLUICE_AWS_ACCOUNT_ID",
  );
}
