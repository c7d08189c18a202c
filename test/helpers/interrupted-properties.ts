import type { Reporter, TestCase } from 'vitest/node';

/** Says in the end which properties ran out of time and how far they came: they passed. */
export class InterruptedProperties implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    for (const how of test.meta().interrupted ?? []) {
      this.#lines.push(`${test.module.relativeModuleId} > ${test.fullName}: ${how}`);
    }
  }

  onTestRunEnd(): void {
    if (this.#lines.length > 0) console.log(['\nOut of time before all cases:', ...this.#lines].join('\n'));
  }
}
