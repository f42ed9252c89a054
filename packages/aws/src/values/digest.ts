import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { md5 } from "js-md5";

const encoder = new TextEncoder();

/** MD5 in lower-case hex; of a text's UTF-8 bytes. AWS checks contents with it, it protects nothing. */
export const md5Hex: (data: string | Uint8Array) => string = md5;

/** SHA-256 in lower-case hex; of a text's UTF-8 bytes. */
export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(sha256(typeof data === "string" ? encoder.encode(data) : data));
}
