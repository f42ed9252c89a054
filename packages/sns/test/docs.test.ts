import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { buildConfirmation, buildNotification, createSigningIdentity, openSigner } from "../src/index.ts";

const guide = readFileSync(path.join(import.meta.dirname, "../../../docs/sns-delivery.md"), "utf8");

it("what the guide has receivers check signatures with takes genuine messages and no others", async () => {
  const source = /```js\n([\s\S]*?)```/.exec(guide)?.[1];
  if (source === undefined) throw new Error("the guide has no JavaScript");
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const identity = await createSigningIdentity(0);
  const signing = { signer: await openSigner(identity), version: "2", endpoint: "http://localhost" } as const;
  const ids = { messageId: "m", topicArn: "arn:topic", subscriptionArn: "arn:subscription" };
  const notification = {
    ...ids,
    publishedMs: 0,
    message: "hello",
    subject: "s",
    attributes: {},
    sequenceNumber: null,
  };
  const bodies = [
    await buildNotification(notification, { ...signing, version: "1" }),
    await buildNotification({ ...notification, subject: null }, signing),
    await buildConfirmation({ ...ids, type: "SubscriptionConfirmation", token: "t", nowMs: 0 }, signing),
    await buildConfirmation({ ...ids, type: "UnsubscribeConfirmation", token: "t", nowMs: 0 }, signing),
  ];
  for (const body of bodies) {
    const message = JSON.parse(body);
    expect(isGenuine(message, identity.certificatePem)).toBe(true);
    expect(isGenuine({ ...message, Message: "changed" }, identity.certificatePem)).toBe(false);
  }
});
