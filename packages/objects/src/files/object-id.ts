import { createHash, createHmac } from "node:crypto";

/** Bytes of an id that name it; as many again prove that they were made with the namespace's key. */
const HALF_BYTES = 16;

/**
 * Id of the object that has a name, in hexadecimal digits: the same that workerd gives it, whose file is called by it.
 *
 * @param uniqueKey of the namespace.
 */
export function idOfName(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const hmac = (data: string | Buffer) =>
    createHmac("sha256", key).update(data).digest().subarray(0, HALF_BYTES);
  const base = hmac(name);
  return Buffer.concat([base, hmac(base)]).toString("hex");
}
