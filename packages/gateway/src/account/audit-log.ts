import type { AuditEntry, AuditRpc } from "@sluice/protocol";

/**
 * Notes a change in the audit log before the request is answered. A change whose entry cannot be stored stays made, and
 * the log of the process says so.
 */
export async function noteChange(audit: Pick<AuditRpc, "noteAudit">, entry: AuditEntry): Promise<void> {
  try {
    await audit.noteAudit(entry);
  } catch (error) {
    const { action, target, by } = entry;
    console.error(
      `Audit: ${action} of ${target ?? "the broker"} by ${by} could not be written down: ${error}`,
    );
  }
}
