import { fileURLToPath } from "node:url";

/**
 * Returns the path of a file in a stack trace, which may be a `file:` URL; `null` for a URL that is no file of this
 * system, as a message may contain anything.
 *
 * @param windows whether paths are those of Windows. Default: whether this process runs on Windows.
 */
export function fileOf(place: string, windows = process.platform === "win32"): string | null {
  if (!place.startsWith("file:")) return place;
  try {
    return fileURLToPath(place, { windows });
  } catch {
    return null;
  }
}
