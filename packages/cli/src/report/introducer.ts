import type { Project } from "../project/project.ts";
import type { Printer } from "./printer.ts";
import { topologyTable } from "./topology-table.ts";

/** Shows projects one after the other: all warnings of each, and the queues if they are not the same as before. */
export function introducer(printer: Printer): (project: Project) => void {
  let shown = "";
  return ({ warnings, topology, elsewhere }) => {
    for (const warning of warnings) printer.warn(warning);
    const table = topologyTable(topology, elsewhere);
    if (table !== shown) printer.print(`${table}\n`);
    shown = table;
  };
}
