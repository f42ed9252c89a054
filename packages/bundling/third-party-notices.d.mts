import type { Metafile } from "esbuild";

/** Licences of all packages of which code is in a build. Throws `Error` for a package without one. */
export function noticesOf(metafiles: readonly Pick<Metafile, "outputs">[]): string;
