import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { md5 } from "js-md5";

const encoder = new TextEncoder();

/**
 * Computes the MD5 of bytes, or of a text in UTF-8, in lower-case hex. AWS checks contents with it; it protects
 * nothing.
 */
export const md5Hex: (data: string | Uint8Array) => string = md5;

/** Computes the SHA-256 of bytes, or of a text in UTF-8, in lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(sha256(typeof data === "string" ? encoder.encode(data) : data));
}
