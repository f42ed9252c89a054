import { writeFile } from "node:fs/promises";
import { UsageError } from "@sluice/harness/command-line";
import { backlogTable } from "./backlog/backlog-table.ts";
import {
  BACKLOGS,
  type BacklogFigures,
  measureBacklog,
  QUICK_BACKLOGS,
  QUICK_SAMPLE_MESSAGES,
  SAMPLE_MESSAGES,
} from "./backlog/measure-backlog.ts";
import type { Command, Mode } from "./command-line.ts";
import { CASES, type Case } from "./compare/cases.ts";
import { type Comparison, compare } from "./compare/compare.ts";
import { compareTables, systemsTable } from "./compare/compare-tables.ts";
import { comparisonChart } from "./compare/comparison-chart.ts";
import { measurePrices } from "./price/measure-price.ts";
import { priceTables } from "./price/price-tables.ts";
import { SCENARIOS, type Scenario } from "./price/scenarios.ts";
import { conditionsList, readConditions } from "./report/conditions.ts";
import { writeChart, writeFigures } from "./report/documents.ts";
import { scale } from "./scale/scale.ts";
import { SQS_CASES } from "./sqs/sqs-cases.ts";
import { SQS_SYSTEMS } from "./sqs/sqs-systems.ts";
import { measureStarts } from "./start/measure-starts.ts";
import { startTable } from "./start/start-table.ts";
import { SYSTEMS } from "./systems/index.ts";
import type { System } from "./systems/system.ts";

/** Measurements of a mode, for people and for programs. */
interface Report {
  readonly markdown: string;
  readonly data: unknown;
  /** Chart for `docs/images/NAME.svg`. */
  readonly chart?: { readonly name: string; readonly svg: string };
}

/** Most warm-up runs: a Java virtual machine needs that many. */
const WARM_UPS_MAX = 20;

/** Prints progress to standard error, so that standard output has only the tables. */
const say = (line: string) => console.error(line);

/** Carries a command out: measures, prints the report, and writes it to the files that the command names. */
export async function runCommand(command: Command, commandText: string): Promise<void> {
  const completeConditions = await readConditions(commandText);
  const report = await MODES[command.mode](command);
  const conditions = completeConditions();
  const markdown = `${conditionsList(conditions)}\n\n${report.markdown}`;
  console.log(markdown);
  if (command.jsonFile !== null) {
    const text = JSON.stringify({ mode: command.mode, conditions, results: report.data }, null, 2);
    await writeFile(command.jsonFile, `${text}\n`);
  }
  if (command.writesDocs) await writeFigures(command.mode, markdown);
  if (command.writesDocs && report.chart !== undefined) {
    await writeChart(report.chart.name, report.chart.svg);
  }
}

const MODES: Readonly<Record<Mode, (command: Command) => Promise<Report>>> = {
  compare: (command) => reportOf(command, "performance", "Messages a second", SYSTEMS, CASES, "system"),

  sqs: (command) => reportOf(command, "sqs", "SQS: messages a second", SQS_SYSTEMS, SQS_CASES, "client"),

  async backlog(command) {
    const sampleMessages = command.isQuick ? QUICK_SAMPLE_MESSAGES : SAMPLE_MESSAGES;
    const figures: BacklogFigures[] = [];
    for (const backlog of command.isQuick ? QUICK_BACKLOGS : BACKLOGS) {
      figures.push(await measureBacklog(backlog, { runs: command.runs, sampleMessages, say }));
    }
    return { markdown: backlogTable(figures), data: figures };
  },

  async price(command) {
    const isWanted = ({ title }: Scenario, wanted: string) => title.startsWith(wanted);
    const scenarios = chosen("case", SCENARIOS, command.cases, isWanted);
    const priced = await measurePrices(scenarios, command.isQuick, say);
    return { markdown: priceTables(priced), data: priced };
  },

  scale: ({ isQuick }) => scale(isQuick, say),

  async start({ runs }) {
    const starts = await measureStarts(runs, say);
    return { markdown: startTable(starts), data: starts };
  },
};

async function reportOf<W extends string>(
  command: Command,
  name: string,
  title: string,
  allSystems: readonly System<W>[],
  allCases: readonly Case<W>[],
  producer: string,
): Promise<Report> {
  const systems = chosen("system", allSystems, command.systems, ({ id }, wanted) => id.startsWith(wanted));
  const cases = chosen("case", allCases, command.cases, ({ way }, wanted) => way === wanted);
  const comparisons = await compare({ systems, cases, ...howToCompare(command) });
  const subtitle =
    `one machine, one run; medians of ${command.runs}; bodies of 200 bytes; each panel has its ` +
    "own scale";
  return {
    markdown: `${systemsTable(systems, producer)}\n\n${compareTables(comparisons)}`,
    data: dataOf(comparisons),
    chart: { name, svg: comparisonChart(title, subtitle, comparisons) },
  };
}

function howToCompare({ runs, runSeconds, isQuick, mayInstall }: Command) {
  const warmUp = isQuick
    ? { warmUpsMax: 1, warmUpScale: 0.02 }
    : { warmUpsMax: WARM_UPS_MAX, warmUpScale: 1 };
  return { runs, runSeconds, mayInstall, say, ...warmUp };
}

function dataOf<W extends string>(comparisons: readonly Comparison<W>[]) {
  return comparisons.map(({ system, testCase, outcome }) => ({
    system: system.name,
    acknowledged: system.acknowledged,
    case: testCase.way,
    outcome,
  }));
}

function chosen<Item>(
  what: string,
  all: readonly Item[],
  wanted: readonly string[],
  matches: (item: Item, wanted: string) => boolean,
): readonly Item[] {
  if (wanted.length === 0) return all;
  const unknown = wanted.find((each) => !all.some((item) => matches(item, each)));
  if (unknown !== undefined) throw new UsageError(`There is no ${what} "${unknown}".`);
  return all.filter((item) => wanted.some((each) => matches(item, each)));
}
