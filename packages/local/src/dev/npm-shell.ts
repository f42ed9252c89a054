import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** How often it is looked whether the shell is still there, in ms. */
export const LOOK_EVERY_MS = 1_000;

/** A shell with a command of its own, and in such a command what runs on when the shell has ended. */
const SHELL = /^\S*sh -c /;
const DETACHED = /(?<![&>])&(?!&)|\b(?:nohup|setsid|disown)\b/;

/** The parts of a process that this needs. Default: those of this one. */
export interface OwnProcess {
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  /** Number of its parent now. */
  readonly parent?: () => number;
  /** Command line of another process. */
  readonly argsOf?: (pid: number) => Promise<string>;
}

/**
 * Watches the shell that npm and npx run a command in, which waits for that command. A SIGTERM for npm ends this shell
 * and nothing in it, so the command would go on with nobody who could end it. A shell that was told not to wait may go.
 *
 * @param onEnd called once, when the shell has ended first.
 * @returns ends the watch.
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
      if (!isOver && waits(args)) timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    // There is no `ps`, or no parent any more.
    () => {},
  );
  return close;
}

function waits(args: string): boolean {
  return SHELL.test(args) && !DETACHED.test(args);
}

async function argsOfProcess(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "args=", "-p", `${pid}`]);
  return stdout;
}
