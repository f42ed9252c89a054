import { spawn } from "node:child_process";
import { removePath } from "../folders.ts";

/**
 * Shell script that reads lines from its standard input: `process PID`, `ended PID` and `file PATH`. When the input
 * ends, it kills the processes that have not ended and deletes the files.
 */
const SCRIPT = `
pids=
files=
while read -r what which; do
  case $what in
    process) pids="$pids $which" ;;
    ended)
      rest=
      for pid in $pids; do [ "$pid" = "$which" ] || rest="$rest $pid"; done
      pids=$rest ;;
    file) files="$files$which
" ;;
  esac
done
for pid in $pids; do kill -9 "$pid"; done
printf "%s" "$files" | while read -r file; do rm -rf "$file"; done
`;

/** Cleans up after this process when it has ended in any way, or when it is disposed of. */
export interface Guard extends Disposable {
  /** Adds a process to kill; a negative number is that of a process group. */
  add(pid: number): void;
  /** Removes a process that has ended: another one may get its id. */
  drop(pid: number): void;
  /** Adds a file or folder to delete, by its absolute path without line breaks. */
  addFile(path: string): void;
}

/**
 * Starts a shell that waits for the end of this process, since a process killed by SIGKILL cannot clean up. Windows has
 * no such shell. There the system ends what a process has started, and files stay behind if it is killed.
 */
export function startGuard(platform: NodeJS.Platform = process.platform): Guard {
  if (platform === "win32") return guardOfFiles();
  // In a process group of its own, so that signals to the group of this process do not reach it.
  const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // Without the shell everything works, except cleaning up after a kill.
  shell.on("error", () => {});
  shell.stdin.on("error", () => {});
  shell.unref();
  const tell = (what: string, which: string | number) => void shell.stdin.write(`${what} ${which}\n`);
  return {
    add: (pid) => tell("process", pid),
    drop: (pid) => tell("ended", pid),
    addFile: (path) => tell("file", path),
    [Symbol.dispose]: () => void shell.stdin.end(),
  };
}

/** Deletes files when this process ends by itself. */
function guardOfFiles(): Guard {
  const files = new Set<string>();
  const clean = () => {
    for (const file of files) {
      try {
        removePath(file);
      } catch {
        // A program that is still running has it open.
      }
    }
    files.clear();
  };
  process.once("exit", clean);
  return {
    add() {},
    drop() {},
    addFile: (path) => void files.add(path),
    [Symbol.dispose]: () => {
      process.off("exit", clean);
      clean();
    },
  };
}
