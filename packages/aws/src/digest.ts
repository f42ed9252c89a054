import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { md5 } from "js-md5";

const encoder = new TextEncoder();

/** MD5 in lower-case hex; of a text's UTF-8 bytes. AWS checks contents with it, it protects nothing. For
 * the small bodies that most are, js-md5 takes a third of the time of @noble/hashes, and no more than node:crypto. */
export function md5Hex(data: string | Uint8Array): string {
  return md5(data);
}

/** SHA-256 in lower-case hex; of a text's UTF-8 bytes. */
export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(sha256(typeof data === "string" ? encoder.encode(data) : data));
}
