import { readlinkSync } from "node:fs";

/** Whether there is a process of that number here. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process is there, and another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Names the space in which process numbers count, as Linux does; `null` elsewhere. */
export function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}
