import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, globalAgent, type Server } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { connect as tlsConnect } from "node:tls";
import PayloadValidator from "sns-payload-validator";
import MessageValidator from "sns-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildConfirmation,
  buildNotification,
  createSigningIdentity,
  openSigner,
  type SignatureVersion,
  type Signing,
  type SigningIdentity,
} from "../src/index.ts";

/*
 * The libraries that receivers use, against a real HTTPS server of the certificate. One of them takes a pattern of
 * hosts; the other wants AWS's host and is led to the server by its agent.
 */

const NOW_MS = Date.UTC(2026, 10, 21);
const TOPIC_ARN = "arn:aws:sns:us-east-1:000000000000:orders";
const AWS_HOST = "sns.us-east-1.amazonaws.com";

let identity: SigningIdentity;
let server: Server;
let port: number;
let rejectUnauthorized: boolean | undefined;

beforeAll(async () => {
  identity = await createSigningIdentity(NOW_MS);
  const key = createPrivateKey({
    key: Buffer.from(identity.privateKeyPkcs8, "base64"),
    format: "der",
    type: "pkcs8",
  }).export({ format: "pem", type: "pkcs8" });
  server = createServer({ key, cert: identity.certificatePem }, (_request, response) => {
    response.end(identity.certificatePem);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
  rejectUnauthorized = globalAgent.options.rejectUnauthorized;
  // The server's certificate is self-signed.
  globalAgent.options.rejectUnauthorized = false;
});

afterAll(async () => {
  globalAgent.options.rejectUnauthorized = rejectUnauthorized;
  globalAgent.destroy();
  server.close();
  server.closeAllConnections();
  await once(server, "close");
});

async function messages(version: SignatureVersion, endpoint: string): Promise<string[]> {
  const signing: Signing = { signer: await openSigner(identity), version, endpoint };
  const notification = {
    messageId: "5f1c3c1e-8f6e-4c3c-9a5d-1f3a5b7c9d0e",
    topicArn: TOPIC_ARN,
    subscriptionArn: `${TOPIC_ARN}:1`,
    publishedMs: NOW_MS,
    message: 'a\n"b" \u00e9 \u{1f600}',
    attributes: { color: { DataType: "String", StringValue: "blue" } },
    sequenceNumber: null,
  };
  const confirmation = {
    type: "SubscriptionConfirmation",
    messageId: notification.messageId,
    topicArn: TOPIC_ARN,
    subscriptionArn: notification.subscriptionArn,
    token: "ab12",
    nowMs: NOW_MS,
  } as const;
  return [
    await buildNotification({ ...notification, subject: null }, signing),
    await buildNotification({ ...notification, subject: "hello" }, signing),
    await buildConfirmation(confirmation, signing),
  ];
}

function validate(validator: MessageValidator, message: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    validator.validate(message, (error, validated) => (error === null ? resolve(validated) : reject(error)));
  });
}

describe.each(["1", "2"] as const)("signature version %s", (version) => {
  it("is verified by sns-validator, with our host in its pattern", async () => {
    const validator = new MessageValidator(/^127\.0\.0\.1:\d+$/);
    for (const message of await messages(version, `https://127.0.0.1:${port}`)) {
      expect(await validate(validator, message)).toMatchObject({ TopicArn: TOPIC_ARN });
      const changed = JSON.stringify({ ...JSON.parse(message), Message: "changed" });
      await expect(validate(validator, changed)).rejects.toThrow("The message signature is invalid.");
    }
  });

  it("is verified by sns-payload-validator, behind AWS's host name", async () => {
    const agent = new Agent();
    agent.createConnection = () =>
      tlsConnect({ socket: connect(port, "127.0.0.1"), rejectUnauthorized: false });
    const validator = new PayloadValidator({ requestAgent: agent });
    const unsubscribed = { type: "UnsubscribeConfirmation" } as const;
    for (const message of await messages(version, `https://${AWS_HOST}`)) {
      expect(await validator.validate(message)).toMatchObject({ TopicArn: TOPIC_ARN });
      const changed = { ...JSON.parse(message), Message: "changed" };
      await expect(validator.validate(changed)).rejects.toThrow("Invalid Signature");
    }
    const signing = { signer: await openSigner(identity), version, endpoint: `https://${AWS_HOST}` };
    const ids = { messageId: "m", topicArn: TOPIC_ARN, subscriptionArn: `${TOPIC_ARN}:1` };
    const body = await buildConfirmation({ ...unsubscribed, ...ids, token: "t", nowMs: NOW_MS }, signing);
    expect(await validator.validate(body)).toMatchObject({ Token: "t" });
    agent.destroy();
  });
});
