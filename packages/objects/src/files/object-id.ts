import { createHash, createHmac } from "node:crypto";

/** Bytes of an id that identify the object; as many again prove that they were made with the namespace's key. */
const HALF_BYTES = 16;

/**
 * Returns the id of the object with a name, in hexadecimal digits. It is workerd's id, after which the file is named.
 *
 * @param uniqueKey unique key of the namespace.
 */
export function idOfName(uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const hmac = (data: string | Buffer) =>
    createHmac("sha256", key).update(data).digest().subarray(0, HALF_BYTES);
  const base = hmac(name);
  return Buffer.concat([base, hmac(base)]).toString("hex");
}
