import { changeExternalId, ExternalId } from '#creatives';
import { AppError, invalidRequest } from '#http';
import { parseForm } from '../../forms/form.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { ownCreative } from './creative-page.tsx';

/** Adds or removes the form's id of a creative, or of its ad set or campaign. */
async function saveId(c: DashboardContext, isWanted: boolean) {
  const { data, faults } = await parseForm(c, ExternalId);
  const creative = await ownCreative(c);
  if (!data) throw invalidRequest(faults);
  await changeExternalId(callerOf(c), creative, data, isWanted);
  const path = `/creatives/${creative.id}${new URL(c.req.url).search}`;
  return redirectDone(c, path, isWanted ? 'saved' : 'deleted');
}

/** Adds the id that was entered. */
export async function addExternalId(c: DashboardContext) {
  try {
    return await saveId(c, true);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw invalidRequest([{ path: 'id', message: 'is already that of another item' }]);
  }
}

export const removeExternalId = (c: DashboardContext) => saveId(c, false);
