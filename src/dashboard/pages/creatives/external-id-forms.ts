import { changeExternalId, ExternalId } from '#creatives';
import { AppError, invalidRequest } from '#http';
import { parseForm, redirectDone, requireForm } from '../../forms/form.ts';
import { callerOf } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { ownCreative } from './creative-page.tsx';

/** Adds or removes an id of a creative, or of its ad set or campaign. */
async function saveId(
  c: DashboardContext,
  creative: Awaited<ReturnType<typeof ownCreative>>,
  id: ExternalId,
  isWanted: boolean,
) {
  await changeExternalId(callerOf(c), creative, id, isWanted);
  const path = `/creatives/${creative.id}${new URL(c.req.url).search}`;
  return redirectDone(c, path, isWanted ? 'saved' : 'deleted');
}

/** Adds the id that was entered. */
export async function addExternalId(c: DashboardContext) {
  const data = await requireForm(c, ExternalId);
  try {
    return await saveId(c, await ownCreative(c), data, true);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw invalidRequest([{ path: 'id', message: 'is already that of another item' }]);
  }
}

export async function removeExternalId(c: DashboardContext) {
  const { data, faults } = await parseForm(c, ExternalId);
  const creative = await ownCreative(c);
  if (!data) throw invalidRequest(faults);
  return saveId(c, creative, data, false);
}
