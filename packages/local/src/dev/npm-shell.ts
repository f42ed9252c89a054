import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Time between two checks whether the shell still runs, in ms. */
export const LOOK_EVERY_MS = 1_000;

/** Command line of a shell that was given a command. */
const SHELL = /^\S*sh -c /;
/** Part of such a command by which something runs on after the shell: `&`, but neither `&&` nor `2>&1`, or `nohup`. */
const DETACHED = /(?<![&>])&(?!&)|\b(?:nohup|setsid|disown)\b/;

/** The watching process. Default: this one. */
export interface OwnProcess {
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  /** Process id of its parent now. */
  readonly parent?: () => number;
  /** Command line of another process. */
  readonly argsOf?: (pid: number) => Promise<string>;
}

/**
 * Watches the shell that npm and npx run a command in. A SIGTERM to npm ends this shell alone, and the command would
 * run on. A shell that put the command into the background is not watched: the command is meant to outlive it.
 *
 * @param onEnd called once, if the shell ends before this process.
 * @returns a function that ends the watch.
 */
export function watchNpmShell(
  onEnd: () => void,
  {
    env = process.env,
    platform = process.platform,
    parent = () => process.ppid,
    argsOf = argsOfProcess,
  }: OwnProcess = {},
): () => void {
  if (platform === "win32" || env.npm_command === undefined) return () => {};
  const shell = parent();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const close = () => {
    isOver = true;
    clearInterval(timer);
  };
  const look = () => {
    if (parent() === shell) return;
    close();
    onEnd();
  };
  argsOf(shell).then(
    (args) => {
      if (!isOver && isWaitingShell(args)) timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    // There is no `ps`, or the shell has ended already: without its command line it is not watched.
    () => {},
  );
  return close;
}

function isWaitingShell(args: string): boolean {
  return SHELL.test(args) && !DETACHED.test(args);
}

async function argsOfProcess(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "args=", "-p", `${pid}`]);
  return stdout;
}
