import { DevalueError, parse, stringify } from "devalue";
import { type Fixups, fillShells, shellReducers, shellRevivers } from "./shells.ts";

/**
 * Bodies of content type `v8`: anything that structured clone takes, with its identities and cycles.
 *
 * Production stores V8's own serialization. workerd gives Workers no access to it (`node:v8` throws
 * ERR_METHOD_NOT_IMPLEMENTED and RPC never shows its bytes), so ours is devalue's text after the character U+0001. The
 * first byte is a contract, stored messages begin with it: 01 names this format, FF is V8's own, which workerd's own
 * binding sends. The broker reads that with `readV8` and hands it to Workers in this format: with the reader in it each
 * Worker would grow by a sixth. Other formats may get other bytes.
 *
 * What structured clone accepts and this cannot keep is refused at the send: Blob, File, Request, Response and
 * SharedArrayBuffer. A resizable ArrayBuffer arrives as one of fixed length.
 */
const FORMAT_MARK = "\u0001";
const FORMAT_BYTE = 0x01;

/**
 * Writes the text of a `v8` body. `structuredClone` goes first: it throws the binding's own `DataCloneError`, runs
 * getters and turns class instances into the plain objects that a consumer would get.
 *
 * @throws DOMException `DataCloneError` for what cannot be cloned.
 */
export function serializeClone(value: unknown): string {
  const clone = structuredClone(value);
  const fixups: Fixups = new Set();
  try {
    return FORMAT_MARK + stringify([clone, fixups], shellReducers(fixups));
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const type = Object.prototype.toString.call(error.value).slice(8, -1);
    throw new DOMException(`#<${type}> could not be cloned.`, "DataCloneError");
  }
}

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Reads what `serializeClone` wrote. Throws a plain Error that says what is wrong with the bytes. */
export function reviveClone(bytes: Uint8Array): unknown {
  if (bytes[0] !== FORMAT_BYTE) throw new Error("its first byte is not that of a known format");
  const parsed: unknown = parse(decoder.decode(bytes).slice(FORMAT_MARK.length), shellRevivers);
  if (!Array.isArray(parsed) || !(parsed[1] instanceof Set)) throw new Error("its parts are missing");
  fillShells(parsed[1]);
  return parsed[0];
}
