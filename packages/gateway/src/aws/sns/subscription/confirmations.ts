import { encodeAttributes } from "@sluice/aws";
import { hexOf, packMessages, type TopicRecord, type TopicSubscription } from "@sluice/protocol";
import { buildConfirmation } from "@sluice/sns";
import type { SnsContext } from "../context.ts";
import { signatureVersionOf } from "../signers.ts";

/**
 * Asks an endpoint to confirm its subscription, or notifies it that the subscription has ended (spec sns-delivery 8.5),
 * by a message through the queue of the subscription. Resolves when the message is durable.
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
  const reply = await ports.queue(target).work(target, { enqueue: { packed } });
  const stored = reply.ok ? reply.enqueued : reply;
  if (stored?.ok === true) return;
  // `outdated` cannot come: the request names no revision.
  const reason = stored?.ok === false ? `${stored.cause} (${stored.code})` : "it was not stored";
  throw new Error(`"${subscriptionArn}" cannot be asked: ${reason}`);
}

/** Bytes of a token that confirms a subscription: two digits each (spec sns-delivery 8.2). */
const TOKEN_BYTES = 144;

const TOKEN = new RegExp(`^[0-9a-f]{${2 * TOKEN_BYTES}}$`);

/** Makes a token that cannot be guessed. */
export function newToken(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}
