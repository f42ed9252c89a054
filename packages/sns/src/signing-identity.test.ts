import { createPrivateKey, sign, X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { objectIdentifier, time } from "./der.ts";
import { createSigningIdentity } from "./signing-identity.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12, 34, 56, 789);

it("is a key and a certificate of it that OpenSSL reads and verifies", async () => {
  const { certificatePem, privateKeyPkcs8 } = await createSigningIdentity(NOW_MS);
  const certificate = new X509Certificate(certificatePem);
  expect(certificate.subject).toBe("CN=Sluice");
  expect(certificate.issuer).toBe("CN=Sluice");
  expect(certificate.validFromDate.toISOString()).toBe("2026-11-23T12:34:56.000Z");
  expect(certificate.validToDate.toISOString()).toBe("2126-11-23T12:34:56.000Z");
  expect(certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
  const key = createPrivateKey({ key: Buffer.from(privateKeyPkcs8, "base64"), format: "der", type: "pkcs8" });
  expect(certificate.checkPrivateKey(key)).toBe(true);
  expect(sign("sha256", Buffer.from("text"), key)).toHaveLength(256);
  // What is written is as short as it can be: read and written again it is the same.
  expect(new X509Certificate(certificate.raw).toString()).toBe(certificatePem);
});

it.each([
  ["1.2.840.113549.1.1.11", "06092a864886f70d01010b"],
  ["2.5.4.3", "0603550403"],
])("an object identifier %s is %s", (dotted, hex) => {
  expect(Buffer.from(objectIdentifier(dotted)).toString("hex")).toBe(hex);
});

it.each([
  ["2049-12-31T23:59:59Z", "\u0017\r491231235959Z"],
  ["2050-01-01T00:00:00Z", "\u0018\u000f20500101000000Z"],
])("a time of %s has the form that certificates have from 2050 on, or before", (at, text) => {
  expect(Buffer.from(time(new Date(at))).toString("latin1")).toBe(text);
});
