// Writes made.mts: every dashboard as a literal of Grafana's own types, for the compiler to judge.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const folder = new URL('../dashboards/', import.meta.url);
const kinds = { timeseries: 'timeseries', stat: 'stat', table: 'table', 'state-timeline': 'statetimeline' };
const out = [
  "import type { Dashboard, Panel } from '@grafana/schema';",
  "import type * as common from '@grafana/schema';",
  ...Object.values(kinds).map(
    (kind) =>
      `import type * as ${kind} from './node_modules/@grafana/schema/dist/types/raw/composable/${kind}/panelcfg/x/types.gen.js';`
  ),
  '// A file has texts and numbers where the types have enumerations.',
  'type Plain<T> = T extends string ? `${T}` : T extends number | boolean | null | undefined ? T',
  '  : T extends Array<infer U> ? Array<Plain<U>> : unknown extends T ? T',
  '  : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;',
  '// What the types leave open: the panels of a dashboard, and annotations of a data source.',
  'type Own = { expr?: string; step?: string; target: { expr: string; interval: string }; titleFormat?: string; textFormat?: string; tagKeys?: string; useValueForTime?: boolean };',
  "type Page = Omit<Plain<Dashboard>, 'panels' | 'annotations'> & {",
  "  panels: unknown[]; annotations: { list: Array<Plain<NonNullable<NonNullable<Dashboard['annotations']>['list']>[number]> & Own> } };",
];
let number = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith('.json')).sort()) {
  const { panels, ...page } = JSON.parse(readFileSync(new URL(file, folder)));
  out.push(`export const page${++number}: Page = ${JSON.stringify({ ...page, panels: [] })};`);
  for (const panel of panels) {
    if (panel.type === 'row') {
      out.push(`export const panel${++number}: Plain<common.RowPanel> = ${JSON.stringify(panel)};`);
      continue;
    }
    const kind = kinds[panel.type];
    if (!kind) throw new Error(`${file}: no types for a panel "${panel.type}"`);
    const { options, fieldConfig, ...rest } = panel;
    const { custom, ...defaults } = fieldConfig.defaults;
    out.push(`export const panel${++number}: Plain<Omit<Panel, 'targets'>> & { targets: object[] } = ${JSON.stringify({ ...rest, fieldConfig: { ...fieldConfig, defaults } })};`);
    out.push(`export const options${number}: Plain<Partial<${kind}.Options>> = ${JSON.stringify(options ?? {})};`);
    if (custom) out.push(`export const custom${number}: Plain<Partial<${kind}.FieldConfig>> = ${JSON.stringify(custom)};`);
  }
}
writeFileSync(new URL('made.mts', import.meta.url), out.join('\n') + '\n');
console.log(`${number} dashboards and panels to be judged`);
