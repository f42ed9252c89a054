import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { md5 } from "js-md5";

const encoder = new TextEncoder();

/** What of `node:crypto` is asked for where Node.js is what runs this: workerd need not have it. */
interface WithNode {
  readonly process?: {
    getBuiltinModule?(
      name: "node:crypto",
    ): { hash?: (algorithm: "md5", data: string | Uint8Array) => string } | undefined;
  };
}

const hash = (globalThis as WithNode).process?.getBuiltinModule?.("node:crypto")?.hash;

/**
 * MD5 in lower-case hex; of a text's UTF-8 bytes. AWS checks contents with it, it protects nothing. For the small bodies that most
 * are, js-md5 takes a third of the time of @noble/hashes, and `hash` of Node.js half of that.
 */
export const md5Hex: (data: string | Uint8Array) => string =
  hash === undefined ? (data) => md5(data) : (data) => hash("md5", data);

/** SHA-256 in lower-case hex; of a text's UTF-8 bytes. */
export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(sha256(typeof data === "string" ? encoder.encode(data) : data));
}
