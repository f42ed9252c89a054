import { createVerify, X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { type SignatureVersion, stringToSign } from "./envelope.ts";
import {
  buildConfirmation,
  buildNotification,
  certificateUrl,
  type NotificationInput,
  type Signing,
} from "./messages.ts";
import { openSigner, type Signer } from "./signer.ts";
import { createSigningIdentity, type SigningIdentity } from "./signing-identity.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 9, 30, 0, 7);
const ENDPOINT = "http://localhost:8787/__sluice/aws";
const TOPIC = "arn:aws:sns:us-east-1:000000000000:orders";
const SUBSCRIPTION = `${TOPIC}:8c2f7f4e-6f6b-4a5e-9d1c-000000000001`;
const MESSAGE: NotificationInput = {
  messageId: "5f1c3c1e-8f6e-4c3c-9a5d-1f3a5b7c9d0e",
  topicArn: TOPIC,
  subscriptionArn: SUBSCRIPTION,
  publishedMs: NOW_MS,
  message: 'line 1\n"line" 2 \u00e9',
  subject: null,
  attributes: {},
  sequenceNumber: null,
};

let identity: SigningIdentity;
let signer: Signer;
const signing = (version: SignatureVersion): Signing => ({ signer, version, endpoint: ENDPOINT });

beforeAll(async () => {
  identity = await createSigningIdentity(NOW_MS);
  signer = await openSigner(identity);
});

function verifies(body: string): boolean {
  const envelope = JSON.parse(body);
  return createVerify(envelope.SignatureVersion === "1" ? "RSA-SHA1" : "RSA-SHA256")
    .update(stringToSign(envelope))
    .verify(identity.certificatePem, envelope.Signature, "base64");
}

describe("the body of a notification (spec sns-delivery 8.2)", () => {
  it("has SNS's members in SNS's order and layout", async () => {
    const body = await buildNotification(
      {
        ...MESSAGE,
        subject: "hello",
        attributes: {
          color: { DataType: "String", StringValue: "blue" },
          picture: { DataType: "Binary.png", BinaryValue: Uint8Array.of(0, 255) },
        },
      },
      signing("1"),
    );
    const { Signature } = JSON.parse(body);
    expect(body).toBe(`{
  "Type" : "Notification",
  "MessageId" : "5f1c3c1e-8f6e-4c3c-9a5d-1f3a5b7c9d0e",
  "TopicArn" : "${TOPIC}",
  "Subject" : "hello",
  "Message" : "line 1\\n\\"line\\" 2 \u00e9",
  "Timestamp" : "2026-11-21T09:30:00.007Z",
  "SignatureVersion" : "1",
  "Signature" : "${Signature}",
  "SigningCertURL" : "${ENDPOINT}/${signer.certificateFileName}",
  "UnsubscribeURL" : "${ENDPOINT}/?Action=Unsubscribe&SubscriptionArn=${SUBSCRIPTION}",
  "MessageAttributes" : {
    "color" : {"Type":"String","Value":"blue"},
    "picture" : {"Type":"Binary.png","Value":"AP8="}
  }
}`);
    expect(verifies(body)).toBe(true);
  });

  it("leaves out a subject and attributes that were not published", async () => {
    expect(Object.keys(JSON.parse(await buildNotification(MESSAGE, signing("2"))))).toEqual([
      "Type",
      "MessageId",
      "TopicArn",
      "Message",
      "Timestamp",
      "SignatureVersion",
      "Signature",
      "SigningCertURL",
      "UnsubscribeURL",
    ]);
  });

  it("the body of a notification of a FIFO topic has a sequence number and no signature", async () => {
    const sequenceNumber = "10000000000000003000";
    const body = await buildNotification(
      { ...MESSAGE, sequenceNumber },
      { signer: null, endpoint: ENDPOINT },
    );
    expect(Object.keys(JSON.parse(body))).toEqual([
      "Type",
      "MessageId",
      "SequenceNumber",
      "TopicArn",
      "Message",
      "Timestamp",
      "UnsubscribeURL",
    ]);
  });
});

describe("confirmations (spec sns-delivery 8.2)", () => {
  it.each(["SubscriptionConfirmation", "UnsubscribeConfirmation"] as const)(
    "a %s has SNS's members and a signature",
    async (type) => {
      const input = {
        type,
        messageId: MESSAGE.messageId,
        topicArn: TOPIC,
        subscriptionArn: SUBSCRIPTION,
        token: "abc",
        nowMs: NOW_MS,
      };
      const body = await buildConfirmation(input, signing("2"));
      const envelope = JSON.parse(body);
      expect(Object.keys(envelope)).toEqual([
        "Type",
        "MessageId",
        "Token",
        "TopicArn",
        "Message",
        "SubscribeURL",
        "Timestamp",
        "SignatureVersion",
        "Signature",
        "SigningCertURL",
      ]);
      expect(envelope.SubscribeURL).toBe(
        `${ENDPOINT}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`,
      );
      expect(envelope.Message).toContain(type === "SubscriptionConfirmation" ? TOPIC : SUBSCRIPTION);
      expect(verifies(body)).toBe(true);
    },
  );
});

describe("signatures (spec sns-delivery 8.3)", () => {
  it("signatures are of names and values, line by line, in byte order of names", async () => {
    const envelope = JSON.parse(await buildNotification({ ...MESSAGE, subject: "s" }, signing("1")));
    expect(stringToSign(envelope)).toBe(
      `Message\n${MESSAGE.message}\nMessageId\n${MESSAGE.messageId}\nSubject\ns\n` +
        `Timestamp\n2026-11-21T09:30:00.007Z\nTopicArn\n${TOPIC}\nType\nNotification\n`,
    );
  });

  it("signatures do not verify when anything of it was changed", async () => {
    const body = await buildNotification({ ...MESSAGE, subject: "s" }, signing("2"));
    for (const member of ["Message", "MessageId", "Subject", "Timestamp", "TopicArn"]) {
      expect(verifies(JSON.stringify({ ...JSON.parse(body), [member]: "changed" }))).toBe(false);
    }
  });

  it("signatures come with a self-signed certificate that is valid for a hundred years", () => {
    const certificate = new X509Certificate(identity.certificatePem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.subject).toBe("CN=Sluice");
    expect(certificate.validFromDate.getTime()).toBe(Math.floor(NOW_MS / 1000) * 1000);
    expect(certificate.validToDate.getUTCFullYear()).toBe(2126);
    expect(signer.certificateFileName).toMatch(/^SimpleNotificationService-[0-9a-f]{32}\.pem$/);
    expect(certificateUrl(ENDPOINT, signer.certificateFileName)).toBe(
      `${ENDPOINT}/${signer.certificateFileName}`,
    );
  });

  it("signatures are made once for all subscriptions of a topic, as long as few messages come between them", async () => {
    const sign = vi.spyOn(crypto.subtle, "sign");
    const ofSubscription = (subscriptionArn: string, message: string, version: SignatureVersion = "2") =>
      buildNotification({ ...MESSAGE, subscriptionArn, message }, signing(version));
    const others = Array.from({ length: 19 }, (_, i) => `other ${i}`);
    const bodies = [await ofSubscription("a", "one"), await ofSubscription("b", "one")];
    for (const other of others) await ofSubscription("a", other);
    bodies.push(await ofSubscription("c", "one"), await ofSubscription("c", "one", "1"));
    expect(sign).toHaveBeenCalledTimes(21);
    for (const other of [...others, "last"]) await ofSubscription("a", `again ${other}`);
    bodies.push(await ofSubscription("d", "one"));
    expect(sign).toHaveBeenCalledTimes(42);
    sign.mockRestore();
    expect(bodies.map(verifies)).toEqual([true, true, true, true, true]);
  });

  it("signatures need a key that is one", async () => {
    await expect(openSigner({ ...identity, privateKeyPkcs8: "?" })).rejects.toThrow("no base64");
  });
});
