import { encodeAttributes } from "@sluice/aws";
import { hexOf, packMessages, type TopicRecord, type TopicSubscription } from "@sluice/protocol";
import { buildConfirmation } from "@sluice/sns";
import type { SnsContext } from "../context.ts";
import { signatureVersionOf } from "../signers.ts";

/**
 * Sends an endpoint the question whether it wants to be subscribed, or the notice that it no longer is (spec
 * sns-delivery 8.5), as a message through the queue of the subscription. It is durable when this resolves.
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
  // It names no revision, so it is never outdated.
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
