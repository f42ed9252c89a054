/** Change of a disk, as the kernel makes it for a process. Paths are below the disk's root, with `/` between names. */
export type Change =
  | { readonly kind: "create"; readonly path: string; readonly isFolder: boolean }
  | { readonly kind: "write"; readonly path: string; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "resize"; readonly path: string; readonly size: number }
  /** Both names are in one folder. A file that had the new name is gone. */
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "remove"; readonly path: string };

/** Write or resize of a file that was not synced. */
export type ContentChange = { readonly endedAt: number } & (
  | { readonly kind: "write"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "resize"; readonly size: number }
);

/** Names of a folder with their new nodes, `null` for a removed one. A rename is one change of two names. */
export interface EntryChange {
  readonly endedAt: number;
  readonly names: readonly (readonly [name: string, node: DiskNode | null])[];
}

interface DiskFile {
  readonly isFolder: false;
  /** Content that survives in any case. */
  readonly durable: Content;
  /** Changes since then, in order. */
  readonly pending: ContentChange[];
}

interface DiskFolder {
  readonly isFolder: true;
  durable: Map<string, DiskNode>;
  readonly pending: EntryChange[];
  /** Names as processes see them. */
  readonly entries: Map<string, DiskNode>;
}

export type DiskNode = DiskFile | DiskFolder;

/** Files of a disk by their paths. */
export type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Model of a disk on which only synced changes survive a power cut: of a file its content and size, of a folder its
 * names. As in POSIX, a sync of a file syncs no name.
 */
export class Disk {
  readonly root: DiskFolder = newFolder();

  /**
   * @param endedAt line of the trace at which the call ended: a sync that began before does not cover it.
   * @throws Error for a path that is not there.
   */
  apply(change: Change, endedAt: number): void {
    switch (change.kind) {
      case "create": {
        const node: DiskNode = change.isFolder ? newFolder() : newFile();
        this.#enter(change.path, endedAt, [[nameOf(change.path), node]]);
        break;
      }
      case "remove":
        this.#node(change.path);
        this.#enter(change.path, endedAt, [[nameOf(change.path), null]]);
        break;
      case "rename": {
        if (folderOf(change.path) !== folderOf(change.to)) throw new Error("a file changes its folder");
        const node = this.#node(change.path);
        this.#enter(change.path, endedAt, [
          [nameOf(change.path), null],
          [nameOf(change.to), node],
        ]);
        break;
      }
      case "write":
        this.#file(change.path).pending.push({ kind: "write", endedAt, at: change.at, bytes: change.bytes });
        break;
      case "resize":
        this.#file(change.path).pending.push({ kind: "resize", endedAt, size: change.size });
        break;
    }
  }

  /** Syncs a file or a folder: all changes that had ended before the sync began survive from now on. */
  sync(path: string, begunAt: number): void {
    const node = this.#node(path);
    // Only a prefix: changes apply in order, so those after one that had not ended stay pending with it.
    const end = node.pending.findIndex(({ endedAt }) => endedAt >= begunAt);
    const count = end === -1 ? node.pending.length : end;
    if (node.isFolder) node.durable = entriesAfter(node.durable, node.pending.splice(0, count));
    else for (const change of node.pending.splice(0, count)) node.durable.apply(change);
  }

  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** Files as processes see them. */
  files(): Files {
    const files = new Map<string, Uint8Array>();
    walk(
      this.root,
      "",
      (folder) => folder.entries,
      (path, file) => {
        files.set(path, contentAfter(file.durable, file.pending));
      },
    );
    return files;
  }

  #enter(path: string, endedAt: number, names: EntryChange["names"]): void {
    const folder = this.#find(folderOf(path));
    if (folder?.isFolder !== true) throw new Error(`there is no folder around ${path}`);
    folder.pending.push({ endedAt, names });
    for (const [name, node] of names) enter(folder.entries, name, node);
  }

  #find(path: string): DiskNode | undefined {
    let node: DiskNode | undefined = this.root;
    for (const name of path === "" ? [] : path.split("/")) {
      node = node?.isFolder === true ? node.entries.get(name) : undefined;
    }
    return node;
  }

  #node(path: string): DiskNode {
    const node = this.#find(path);
    if (node === undefined) throw new Error(`there is no ${path}`);
    return node;
  }

  #file(path: string): DiskFile {
    const node = this.#node(path);
    if (node.isFolder) throw new Error(`${path} is a folder`);
    return node;
  }
}

/** Calls `visit` for each file below a folder. @param entriesOf names and nodes of a folder. */
export function walk(
  folder: DiskFolder,
  above: string,
  entriesOf: (folder: DiskFolder) => ReadonlyMap<string, DiskNode>,
  visit: (path: string, file: DiskFile) => void,
): void {
  for (const [name, node] of entriesOf(folder)) {
    const path = above === "" ? name : `${above}/${name}`;
    if (node.isFolder) walk(node, path, entriesOf, visit);
    else visit(path, node);
  }
}

/** Names of a folder after changes. */
export function entriesAfter(
  durable: ReadonlyMap<string, DiskNode>,
  changes: readonly EntryChange[],
): Map<string, DiskNode> {
  const entries = new Map(durable);
  for (const { names } of changes) for (const [name, node] of names) enter(entries, name, node);
  return entries;
}

/** Content of a file after changes. A write that was lost before leaves a gap of zeros. */
export function contentAfter(durable: Content, changes: readonly ContentChange[]): Uint8Array {
  if (changes.length === 0) return durable.bytes();
  const content = durable.copy();
  for (const change of changes) content.apply(change);
  return content.bytes();
}

/** Bytes of a file that changes. Bytes that were put beyond its size appear when it is extended. */
export class Content {
  #buffer = new Uint8Array();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  copy(): Content {
    const copy = new Content();
    copy.#buffer = this.#buffer.slice(0, this.#size);
    copy.#size = this.#size;
    return copy;
  }

  apply(change: ContentChange): void {
    if (change.kind === "resize") this.resize(change.size);
    else {
      this.put(change.at, change.bytes);
      this.extend(change.at + change.bytes.length);
    }
  }

  /** Puts bytes at a position, without a change of the size. */
  put(at: number, bytes: Uint8Array): void {
    this.#reserve(at + bytes.length);
    this.#buffer.set(bytes, at);
  }

  extend(size: number): void {
    this.#reserve(size);
    this.#size = Math.max(this.#size, size);
  }

  /** Cuts bytes off, or adds zeros. */
  resize(size: number): void {
    this.#reserve(size);
    this.#buffer.fill(0, Math.min(size, this.#size));
    this.#size = size;
  }

  /** The bytes themselves, valid until the next change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.length) return;
    const buffer = new Uint8Array(Math.max(size, 2 * this.#buffer.length));
    buffer.set(this.#buffer);
    this.#buffer = buffer;
  }
}

function newFile(): DiskFile {
  return { isFolder: false, durable: new Content(), pending: [] };
}

function newFolder(): DiskFolder {
  return { isFolder: true, durable: new Map(), pending: [], entries: new Map() };
}

function enter(entries: Map<string, DiskNode>, name: string, node: DiskNode | null): void {
  if (node === null) entries.delete(name);
  else entries.set(name, node);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
