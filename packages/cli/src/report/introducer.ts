import type { Project } from "../project/project.ts";
import type { Printer } from "./printer.ts";
import { topologyTable } from "./topology-table.ts";

/**
 * Shows projects one after the other: of each its warnings and its queues, if they are not the same as before. A project is
 * read again for reasons that have nothing to do with them, such as another `sluice dev` that starts or ends.
 */
export function introducer(printer: Printer): (project: Project) => void {
  let warned = "";
  let shown = "";
  return ({ warnings, topology, elsewhere }) => {
    const warning = warnings.join("\n");
    if (warning !== warned && warning !== "") printer.warn(warning);
    warned = warning;
    const table = topologyTable(topology, elsewhere);
    if (table !== shown) printer.print(`${table}\n`);
    shown = table;
  };
}
