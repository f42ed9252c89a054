import { basename, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { isBelow } from "@sluice/project/folders";
import { MapsOnDisk } from "../../stacks/maps-on-disk.ts";
import { type FindSource, sourceFinder } from "../../stacks/stack-frames.ts";
import type { WranglerEvent, WranglerInterceptor } from "./wrangler-events.ts";

/** Event: a Worker has thrown while its module was loaded, so that no Worker of this process runs until a change. */
export interface FailedLoadEvent {
  readonly kind: "failed-load";
  readonly worker: string;
  /** Name and message of the error. */
  readonly error: string;
  /** Where the user's code threw it, as `src/index.ts:10:7`; `null` where no source map leads there. */
  readonly place: string | null;
}

interface FailedLoadOptions {
  /** Folder that paths of files are relative to. Absolute. */
  readonly root: string;
  /** Folders of our own sources. Absolute. */
  readonly ownSources: readonly string[];
  tell(event: FailedLoadEvent): void;
  /** Default: by the source maps that Wrangler writes. */
  readonly find?: FindSource;
}

const ENDS = "sluice dev ends, as nothing runs yet that it could go on with. Mend it and start again.";

/** Beginning of workerd's message about a Worker that throws. The service is named by Miniflare. */
const UNCAUGHT = /^service core:user:(.+?): Uncaught ([^\n]+)/;

/** Places of a stack trace. */
const PLACES = /\bat (?:[^\n]*\()?([^\s()]+):(\d+):(\d+)/g;

/**
 * Keeps Wrangler from ending when a changed Worker throws while it is loaded. The next change starts another workerd.
 *
 * If the first workerd of a Wrangler fails so, Wrangler cannot start another one: it ends, with one clear error.
 */
export function failedLoads({
  root,
  ownSources,
  tell,
  find = sourceFinder(new MapsOnDisk()),
}: FailedLoadOptions): WranglerInterceptor {
  /** Bundles by the names of their Workers. */
  const bundles = new Map<string, string>();
  let hasRun = false;
  const isOwn = (file: string) => ownSources.some((folder) => isBelow(file, folder));
  const placeOf = (worker: string, stack: string): string | null => {
    const bundle = bundles.get(worker);
    if (bundle === undefined) return null;
    const url = pathToFileURL(bundle).href;
    for (const [, file = "", row, column] of stack.matchAll(PLACES)) {
      const found = basename(file) === basename(bundle) ? find(url, Number(row), Number(column)) : null;
      // The map may be that of a newer build than the stack, and lead anywhere.
      if (found !== null && !isOwn(found.file))
        return `${relative(root, found.file)}:${found.row}:${found.column}`;
    }
    return null;
  };
  return ({ config }, event) => {
    const name = config.latestConfig?.name;
    if (event.type === "bundleComplete" && event.bundle?.path !== undefined && name !== undefined) {
      bundles.set(name, event.bundle.path);
    }
    if (event.type === "reloadComplete") hasRun = true;
    const failure = failureIn(event);
    if (failure === null) return "pass";
    const { worker, error, stack } = failure;
    const failedLoad = { kind: "failed-load", worker, error, place: placeOf(worker, stack) } as const;
    if (!hasRun) {
      Object.assign(event.cause ?? {}, {
        message: `${failedLoadText(failedLoad)}\n${ENDS}`,
        isUserError: () => true,
      });
      return "pass";
    }
    tell(failedLoad);
    return "take";
  };
}

/** Returns the text that says which Worker has thrown, and where. */
export function failedLoadText({ worker, error, place }: Omit<FailedLoadEvent, "kind">): string {
  return `${worker} throws while it is loaded${place === null ? "" : `, at ${place}`}: ${error}`;
}

/** Finds the Worker that has thrown while it was loaded in an error of Wrangler's; `null` for any other event. */
function failureIn({ type, source = "", cause }: WranglerEvent) {
  if (type !== "error" || !source.endsWith("RuntimeController")) return null;
  for (const text of (cause?.message ?? "").split("\n").map(messageIn)) {
    const [, worker, error] = UNCAUGHT.exec(text) ?? [];
    if (worker !== undefined && error !== undefined) return { worker, error, stack: text };
  }
  return null;
}

/** Reads the message of a line of workerd's log, which is JSON. */
function messageIn(line: string): string {
  try {
    const { message } = JSON.parse(line) as { message?: unknown };
    return String(message);
  } catch {
    return line.trim();
  }
}
