import { close, open, url } from "node:inspector";
import { CliError } from "@sluice/project/errors";

/**
 * Opens the inspector on 127.0.0.1 for debuggers and profilers. One that is open already, as by `--inspect`, is closed.
 *
 * @throws CliError when the port is in use.
 */
export function openInspector(port: number): void {
  close();
  // Prints its address, or why it cannot listen, and does not throw.
  open(port, "127.0.0.1");
  if (url() !== undefined) return;
  throw new CliError(
    `127.0.0.1:${port} is in use by another process. Choose another port with --inspector-port.`,
  );
}

/** Disconnects debuggers: the process would wait for them at its end, without handling signals. */
export { close as closeInspector };
