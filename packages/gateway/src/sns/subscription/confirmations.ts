import { encodeAttributes } from "@sluice/aws";
import { packMessages, type TopicRecord, type TopicSubscription } from "@sluice/protocol";
import { buildConfirmation } from "@sluice/sns";
import type { SnsContext } from "../context.ts";
import { signatureVersionOf } from "../publish/signature-version.ts";

/**
 * Asks an endpoint whether it wants to be subscribed, or tells it that it is no more (spec sns-delivery 8.5): a message like
 * any other, through the queue of the subscription. It is durable when this resolves.
 */
export async function sendConfirmation(
  context: SnsContext,
  type: "SubscriptionConfirmation" | "UnsubscribeConfirmation",
  topic: TopicRecord,
  subscription: TopicSubscription,
  token: string,
): Promise<void> {
  const { ports, endpoint, signers } = context;
  const { target, topicArn, arn: subscriptionArn } = subscription;
  const nowMs = ports.now();
  const messageId = crypto.randomUUID();
  const body = await buildConfirmation(
    { type, messageId, topicArn, subscriptionArn, token, nowMs },
    { signer: await signers.signer(ports.topics, nowMs), version: signatureVersionOf(topic), endpoint },
  );
  const notification = { type, topicArn, subscriptionArn, isRaw: false };
  const attributes = encodeAttributes({ attributes: {}, traceHeader: null, notification });
  const packed = packMessages([
    {
      id: messageId.replaceAll("-", ""),
      contentType: "text",
      body: new TextEncoder().encode(body),
      ...(attributes === undefined ? {} : { extension: { attributes } }),
    },
  ]);
  const reply = await ports.queue(target).enqueue(target, { packed });
  if (!reply.ok) throw new Error(`"${subscriptionArn}" cannot be asked: ${reply.cause} (${reply.code})`);
}
