import { describeMetricsTool } from './describe-metrics.ts';
import { explainDeviceTool, listApplicationsTool, searchTool } from './lookups.ts';
import { compareTool, reportTool } from './report.ts';
import { sharedReportTool } from './shared-view.ts';
import type { Tool } from './tool.ts';

/** The tools of a team. */
export const TEAM_TOOLS: readonly Tool[] = [
  listApplicationsTool,
  describeMetricsTool,
  reportTool,
  compareTool,
  explainDeviceTool,
  searchTool,
];

/** The tools of a share link, which shows one page. */
export const sharedTools = (path: string): readonly Tool[] => [sharedReportTool(path), describeMetricsTool];
