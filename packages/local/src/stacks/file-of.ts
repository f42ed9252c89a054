import { fileURLToPath } from "node:url";

/**
 * Path of the file at a place of a stack trace, which may be a `file:` URL; `null` for an address that is no file of this
 * system: anything may be in a message.
 *
 * @param windows whether paths are those of Windows. Default: where this runs there.
 */
export function fileOf(place: string, windows = process.platform === "win32"): string | null {
  if (!place.startsWith("file:")) return place;
  try {
    return fileURLToPath(place, { windows });
  } catch {
    return null;
  }
}
