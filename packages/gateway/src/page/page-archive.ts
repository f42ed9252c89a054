/** A file of the page at `/__sluice/`. */
export interface PageFile {
  readonly name: string;
  /** Its `Content-Type`. */
  readonly type: string;
  /** Its content, compressed by gzip. */
  readonly compressed: Uint8Array<ArrayBuffer>;
}

interface Header {
  readonly files: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
}

/**
 * Reads the files of an archive, by name. `buildPage` of `packages/dashboard/build.mjs` makes archives, and describes
 * the layout.
 */
export function readPageArchive(archive: Uint8Array | ArrayBuffer): ReadonlyMap<string, PageFile> {
  // A copy: the memory of a Worker's module may not be written to, and by its type it may be shared.
  const bytes = new Uint8Array(archive);
  const length = new DataView(bytes.buffer).getUint32(0);
  let at = 4 + length;
  const { files } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, at))) as Header;
  return new Map(
    files.map(({ name, type, bytes: size }) => {
      const compressed = bytes.subarray(at, at + size);
      at += size;
      return [name, { name, type, compressed }];
    }),
  );
}
