import { spawn } from "node:child_process";
import { removePath } from "../folders.ts";

/**
 * Reads what there is, `process PID` and `file PATH`, and what there is no more, `ended PID`. When nothing more can
 * come it ends and deletes all that.
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

/** Cleans up after this process when it has ended, however it did, or when it says so. */
export interface Guard extends Disposable {
  /** Ends a process that this one has started, or a whole group where the number is negative. */
  add(pid: number): void;
  /** One that has ended: its number may be another's soon. */
  drop(pid: number): void;
  /** Deletes a file or a folder of this process. Absolute, without a line break. */
  addFile(path: string): void;
}

/**
 * Starts a shell that waits for the end of this process: killed outright, that takes nothing along. On Windows, where
 * there is no such shell, the system ends what a process has started, and files stay where it is killed outright.
 */
export function startGuard(platform: NodeJS.Platform = process.platform): Guard {
  if (platform === "win32") return guardOfFiles();
  // In a group of its own: it outlives whatever signal the others get.
  const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // Without it this process can do all that it does, but for being killed.
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
        // A program that has not ended yet has it open.
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
