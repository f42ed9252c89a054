import { close, open, url } from "node:inspector";
import { CliError } from "@sluice/project/errors";

/**
 * Lets debuggers and profilers of 127.0.0.1 in; one that somebody else has opened in this process is closed for it.
 *
 * @throws CliError when the port is in use.
 */
export function openInspector(port: number): void {
  close();
  // Prints where it listens, or why it does not, and throws nothing.
  open(port, "127.0.0.1");
  if (url() !== undefined) return;
  throw new CliError(
    `127.0.0.1:${port} is in use by another process. Choose another port with --inspector-port.`,
  );
}

/** Sends those away who are still connected: the end of a process waits for them, deaf to signals. */
export { close as closeInspector };
