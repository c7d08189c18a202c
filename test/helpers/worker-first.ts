import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Begins with a file of the Worker. The main process transforms the modules of the Worker for it, which takes a core for ten seconds: meanwhile the other
 * runs the tests that need no Worker.
 */
export class WorkerFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const first = sorted.find(({ project }) => project.name === 'worker');
    return first ? [first, ...sorted.filter((one) => one !== first)] : sorted;
  }
}
